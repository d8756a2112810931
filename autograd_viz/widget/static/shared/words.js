// The texts of the page: Python sends them in the language that was chosen.

/** @typedef {(key: string, values?: Record<string, string | number>) => string} Say */
/** @typedef {(key: string, fill?: Record<string, string | number>, otherwise?: string) => string} Word */

/**
 * A function that says a text by its key, with its {places} filled; a missing text is its key.
 * @param {Record<string, string> | undefined} words
 * @returns {Say}
 */
export function sayer(words) {
  return (key, values = {}) =>
    (words?.[key] ?? key).replace(/\{(\w+)\}/g, (place, name) => (name in values ? String(values[name]) : place));
}
