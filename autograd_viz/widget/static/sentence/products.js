// What an element of a rule's result is the sum of: products of elements of its arrays.

import { countOf } from "../shared/statistics.js";

/** @typedef {{ shape: number[], numbers: number[] }} Numbers */
/** @typedef {number[][]} Parts for each part of a sum, the index of one element of each array */

const SUM_TOLERANCE = 1e-3; // PyTorch may add in another order, and hold fewer digits
/** @type {Record<string, (a: number, b: number) => number>} */
const SIGNS = {
  "·": (a, b) => a * b,
  "⊗": (a, b) => a * b,
  "×": (a, b) => a * b,
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "/": (a, b) => a / b,
};

/**
 * The parts of one element; null if the rule is of another form, or if the parts do not make up the element.
 * @param {string} sign between the arrays
 * @param {Numbers[]} arrays
 * @param {Numbers} result
 * @param {number} index
 * @returns {Parts | null}
 */
export function partsOfElement(sign, arrays, result, index) {
  if (sign === ",") return null;
  const find = { "·": matrixParts, "⊗": outerParts }[sign] ?? elementParts;
  const parts = find(arrays, result, index);
  if (!parts?.length) return null;
  if (sign === "∘") return parts.length === 1 ? parts : null;
  const values = parts.map((part) => valueOfPart(sign, arrays, part));
  const size = values.reduce((sum, x) => sum + Math.abs(x), Math.abs(result.numbers[index]));
  const gap = Math.abs(values.reduce((sum, x) => sum + x, 0) - result.numbers[index]);
  return gap <= SUM_TOLERANCE * size ? parts : null;
}

/**
 * @param {string} sign
 * @param {Numbers[]} arrays
 * @param {number[]} part
 */
function valueOfPart(sign, arrays, part) {
  return part.map((at, i) => arrays[i].numbers[at]).reduce(SIGNS[sign] ?? ((a) => a));
}

/**
 * Row times column; leading dimensions are those of both arrays.
 * @param {Numbers[]} arrays
 * @param {Numbers} result
 * @param {number} index
 * @returns {Parts | null}
 */
function matrixParts([a, b], result, index) {
  const [left, right] = [a.shape.length === 1 ? [1, ...a.shape] : a.shape, b.shape.length === 1 ? [...b.shape, 1] : b.shape];
  const [inner, columns] = right.slice(-2);
  const rows = left[left.length - 2];
  const lead = left.slice(0, -2);
  const fits = left[left.length - 1] === inner && String(lead) === String(right.slice(0, -2));
  if (!fits || countOf(lead) * rows * columns !== countOf(result.shape)) return null;
  const [matrix, row, column] = [Math.floor(index / (rows * columns)), Math.floor(index / columns) % rows, index % columns];
  return Array.from({ length: inner }, (_, k) => [(matrix * rows + row) * inner + k, (matrix * inner + k) * columns + column]);
}

/**
 * @param {Numbers[]} arrays
 * @param {Numbers} _
 * @param {number} index
 * @returns {Parts}
 */
function outerParts([, b], _, index) {
  const columns = b.numbers.length;
  return [[Math.floor(index / columns), index % columns]];
}

/**
 * Element by element; an array of fewer dimensions is broadcast, a result of fewer dimensions is a sum.
 * @param {Numbers[]} arrays
 * @param {Numbers} result
 * @param {number} index
 * @returns {Parts | null}
 */
function elementParts(arrays, result, index) {
  const shape = broadcast([...arrays, result].map((array) => array.shape));
  if (!shape) return null;
  const all = Array.from({ length: countOf(shape) }, (_, i) => i).filter((i) => indexWithin(i, shape, result.shape) === index);
  return all.map((i) => arrays.map((array) => indexWithin(i, shape, array.shape)));
}

/**
 * The shape that all broadcast to; null if there is none.
 * @param {number[][]} shapes
 */
function broadcast(shapes) {
  const most = Math.max(...shapes.map((shape) => shape.length));
  const whole = Array.from({ length: most }, (_, i) => Math.max(...shapes.map((shape) => shape[i - most + shape.length] ?? 1)));
  const fits = shapes.every((shape) => shape.every((length, i) => length === 1 || length === whole[i + most - shape.length]));
  return fits ? whole : null;
}

/**
 * The index of an element of a broadcast array in the array itself.
 * @param {number} index
 * @param {number[]} whole
 * @param {number[]} shape
 */
function indexWithin(index, whole, shape) {
  let [found, step, rest] = [0, 1, index];
  for (let i = whole.length - 1, j = shape.length - 1; j >= 0; i--, j--) {
    if (shape[j] > 1) found += (rest % whole[i]) * step;
    step *= shape[j];
    rest = Math.floor(rest / whole[i]);
  }
  return found;
}

/**
 * "0.5·1.0 + 2.0·0.0 + … = 1.25"
 * @param {string} sign
 * @param {Numbers[]} arrays
 * @param {Parts} parts
 * @param {number} result
 * @param {(x: number) => string} write
 * @param {number} most parts
 */
export function sumText(sign, arrays, parts, result, write, most) {
  const between = sign === "·" || sign === "⊗" ? "·" : ` ${sign} `;
  const written = parts
    .slice(0, most)
    .map((part) => part.map((at, i) => bracketed(write(arrays[i].numbers[at]), i)).join(between));
  const isNested = parts.length > 1 && (sign === "+" || sign === "-");
  if (parts.length === 1 && arrays.length === 1) return write(result);
  const sum = written.map((text) => (isNested ? `(${text})` : text)).join(" + ");
  return `${sum}${parts.length > most ? " + …" : ""} = ${write(result)}`;
}

/**
 * @param {string} text
 * @param {number} place
 */
function bracketed(text, place) {
  return place && text.startsWith("-") ? `(${text})` : text;
}
