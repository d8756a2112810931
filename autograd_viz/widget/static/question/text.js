// Sentences with code between backticks.

/**
 * The pieces of a sentence, code apart.
 * @param {string} sentence
 * @returns {{ text: string, code: boolean }[]}
 */
export function pieces(sentence) {
  const parts = sentence.split(/`([^`]*)`/);
  return parts.map((text, i) => ({ text, code: i % 2 === 1 })).filter((p) => p.text);
}

/**
 * The same as nodes of the page.
 * @param {string} sentence
 * @returns {Node[]}
 */
export function marked(sentence) {
  return pieces(sentence).map(({ text, code }) => {
    if (!code) return document.createTextNode(text);
    const made = document.createElement("code");
    made.textContent = text;
    return made;
  });
}
