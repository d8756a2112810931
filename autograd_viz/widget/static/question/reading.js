// What a reader writes into a row, as lessons/question.py reads it: None, a number, or nested lists of numbers.

/** @typedef {{ shape: number[], numbers: number[] | null }} Reading numbers are null for the word None */

const NUMBER = /[+-]?(?:\b(?:nan|inf)\b|(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:e[+-]?\d+)?)/gi;
const CLOSE = 2e-3; // relative; a reader may round as PyTorch prints
const LEAST_APART = 5e-5;

/**
 * The value that the text means, or null if it is unclear.
 * @param {string} text
 * @returns {Reading | null}
 */
export function read(text) {
  const inner = text.trim().replace(/^tensor\((.*)\)$/s, "$1");
  if (inner.toLowerCase() === "none") return { shape: [], numbers: null };
  const plain = inner
    .replace(NUMBER, (n) => `"${n.replaceAll("_", "")}"`)
    .replaceAll("(", "[")
    .replaceAll(")", "]");
  try {
    const found = nestedOf(plain);
    const numbers = [found].flat(Infinity).map(numberOf);
    const shape = shapeOf(found);
    return shape && !numbers.some((n) => n === null) ? { shape, numbers: /** @type {number[]} */ (numbers) } : null;
  } catch {
    return null;
  }
}

/**
 * JSON, or a tuple without brackets.
 * @param {string} plain
 */
function nestedOf(plain) {
  const withoutLast = (/** @type {string} */ text) => text.replace(/,\s*\]/g, "]");
  try {
    return JSON.parse(withoutLast(plain));
  } catch {
    return JSON.parse(withoutLast(`[${plain}]`));
  }
}

/**
 * @param {unknown} text
 * @returns {number | null} null if it is none
 */
function numberOf(text) {
  if (typeof text !== "string") return null;
  if (/^[+-]?nan$/i.test(text)) return NaN;
  return Number(text.replace(/inf/i, "Infinity"));
}

/**
 * The shape of nested lists; null if they are ragged.
 * @param {any} nested
 * @returns {number[] | null}
 */
function shapeOf(nested) {
  if (!Array.isArray(nested)) return [];
  const shapes = nested.map(shapeOf);
  const [first] = shapes;
  return first && shapes.every((shape) => String(shape) === String(first)) ? [nested.length, ...first] : null;
}

/**
 * One number is read for a tensor of one element, too.
 * @param {number[]} shape
 * @param {{ shape: number[], numbers: string[] }} value
 */
export function isShapedAs(shape, value) {
  return String(shape) === String(value.shape) || (!shape.length && value.numbers.length === 1);
}

/**
 * Rounded numbers agree, and nan agrees with nan.
 * @param {Reading} reading
 * @param {{ shape: number[], numbers: string[] } | null} value
 */
export function agrees({ shape, numbers }, value) {
  if (!value || !numbers) return !value && !numbers;
  return isShapedAs(shape, value) && numbers.every((n, i) => close(n, Number(value.numbers[i])));
}

/**
 * @param {number} a
 * @param {number} b
 */
function close(a, b) {
  if (Number.isNaN(a) || Number.isNaN(b) || a === b) return Object.is(a, b) || a === b;
  return Math.abs(a - b) <= Math.max(CLOSE * Math.max(Math.abs(a), Math.abs(b)), LEAST_APART) && Number.isFinite(a - b);
}
