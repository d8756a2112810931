// The data of a run: how they come, how they are written, and their colours.

/** @typedef {{ step: number, kind: string, text: string }} RunMark */
/** @typedef {{ heading: string, label: string, path: string, odd: boolean, reached: boolean }} RunRow */
/**
 * @typedef {object} RunData
 * @property {string} title
 * @property {string} class_name
 * @property {string} class_state class and number of steps, as a sentence
 * @property {number} steps
 * @property {RunRow[]} rows
 * @property {boolean} has_gaps something was not measured
 * @property {boolean} is_judged there are enough steps for something to be odd
 * @property {number[]} start the first step of each column
 * @property {string} norms float32, row by row
 * @property {string} bad
 * @property {string} loss float32
 * @property {string} probe the loss of the probe batch, float32; nan where it was not measured
 * @property {string[] | null} spread the least and the most loss of all ranks of a job, float32 by column
 * @property {string | null} ranks of each window of a job: its first step; by row least, mean, most over ranks, and whose it is
 * @property {number} low exponents of ten at the ends of the scale
 * @property {number} high
 * @property {string[]} scale
 * @property {{ row: number, sentence: string }[]} odd
 * @property {RunMark[]} marks
 * @property {string} stopped
 * @property {number[]} opened steps that can be opened; -1: the last pass
 * @property {boolean} is_live
 * @property {Record<string, string>} words
 * @property {Record<string, Record<string, string>>} palettes
 * @property {string} language
 * @property {string} [mark] the class of the picture that is hidden
 */

/** @param {string} packed @returns {ArrayBuffer} */
export function unpackedBytes(packed) {
  return Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)).buffer;
}

/**
 * The colour of a norm.
 * @param {number} norm
 * @param {number} low
 * @param {number} high
 * @param {string[]} scale
 */
export function colourOfNorm(norm, low, high, scale) {
  const share = norm > 0 ? (Math.log10(norm) - low) / (high - low) : 0;
  return scale[Math.round(Math.min(1, Math.max(0, share)) * (scale.length - 1))];
}

const WINDOW = 64; // steps, as in `runs/ranks.py`

/**
 * What all ranks told of a row around a step.
 * @param {Float32Array} numbers as `Ranks.numbers` packs them
 * @param {number} rows
 * @param {number} row
 * @param {number} step
 */
export function ranksAt(numbers, rows, row, step) {
  const width = 1 + 4 * rows;
  for (let at = 0; at < numbers.length; at += width) {
    const first = numbers[at];
    if (step < first || step >= first + WINDOW) continue;
    const [least, mean, most, rank] = [0, 1, 2, 3].map((k) => numbers[at + 1 + k * rows + row]);
    if (Number.isNaN(mean)) return undefined;
    return { first, last: first + WINDOW - 1, least: shortNorm(least), mean: shortNorm(mean), most: shortNorm(most), rank };
  }
  return undefined;
}

/** @param {number} value */
export const shortNorm = (value) =>
  Math.abs(value) < 1e-3 && value ? value.toExponential(2) : String(Number(value.toPrecision(3)));

/**
 * How many steps there are from tick to tick of an axis: a round number, and five ticks at most.
 * @param {number} steps
 */
export function tickDistance(steps) {
  const wanted = steps / 5;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  return [1, 2, 5, 10].map((f) => f * power).find((d) => d >= wanted) ?? 1;
}
