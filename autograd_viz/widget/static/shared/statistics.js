// Numbers about an array, and numbers as text.

/**
 * @typedef {object} Summary
 * @property {number | string} least
 * @property {number | string} most
 * @property {number | string} mean
 * @property {number | string} norm
 * @property {number} zeros
 * @property {number} nans
 * @property {number} infs
 * @property {number} rows
 * @property {number} columns
 * @property {(number | string)[]} thumbnail
 */
/** @typedef {number | string | boolean} Element a string is "nan", "inf", "-inf", or a complex number */
/** @typedef {{ shape: number[], dtype: string, text: string, numbers?: Element[], summary?: Summary }} Value */
/**
 * @typedef {object} Statistics
 * @property {number} min of the finite elements, as the others; NaN if there are none
 * @property {number} max
 * @property {number} mean
 * @property {number} norm
 * @property {number} zeros
 * @property {number} nan
 * @property {number} inf
 * @property {number} elements
 */

/** @type {Record<string, number>} what JSON lacks */
const SPECIAL = { nan: NaN, inf: Infinity, "-inf": -Infinity };

const COMPLEX = /^\(?(.*?)([+-]?(?:[\d.]+(?:e[+-]?\d+)?|inf|nan))j\)?$/;

/**
 * An element as a number; a complex one counts by its absolute value, as in a summary.
 * @param {number | string | boolean} element
 * @returns {number}
 */
export function asNumber(element) {
  if (typeof element !== "string") return Number(element);
  if (element in SPECIAL) return SPECIAL[element];
  const [real, imaginary] = (COMPLEX.exec(element)?.slice(1) ?? ["nan", "nan"]).map((part) => part.replace(/^\+/, ""));
  return Math.hypot(...[real || "0", imaginary].map((part) => SPECIAL[part] ?? Number(part)));
}

/**
 * Is it "2j" or "(1+2j)"?
 * @param {number | string | boolean} element
 * @returns {element is string}
 */
export function isComplex(element) {
  return typeof element === "string" && !(element in SPECIAL);
}

/** @param {number[]} shape */
export function countOf(shape) {
  return shape.reduce((product, length) => product * length, 1);
}

/**
 * Of the array itself if it is small, else what Python has computed; null if neither is known.
 * @param {Value} value
 * @returns {Statistics | null}
 */
export function statisticsOf(value) {
  const s = value.summary;
  const elements = countOf(value.shape);
  if (s) {
    const [min, max, mean, norm] = [s.least, s.most, s.mean, s.norm].map(asNumber);
    const finite = elements - s.nans - s.infs;
    return { min, max, mean, norm: finite ? norm : NaN, zeros: s.zeros, nan: s.nans, inf: s.infs, elements };
  }
  return value.numbers?.length ? statisticsOfNumbers(value.numbers.map(asNumber)) : null;
}

/**
 * @param {number[]} numbers
 * @returns {Statistics}
 */
function statisticsOfNumbers(numbers) {
  const finite = numbers.filter(Number.isFinite);
  const none = finite.length === 0;
  return {
    min: none ? NaN : Math.min(...finite),
    max: none ? NaN : Math.max(...finite),
    mean: none ? NaN : finite.reduce((sum, x) => sum + x, 0) / finite.length,
    norm: none ? NaN : Math.hypot(...finite),
    zeros: numbers.filter((x) => x === 0).length,
    nan: numbers.filter(Number.isNaN).length,
    inf: numbers.filter((x) => Math.abs(x) === Infinity).length,
    elements: numbers.length,
  };
}

/**
 * Four significant digits: "0.3333", "-2", "1.5e-8", "nan".
 * @param {number} x
 */
export function shortNumber(x) {
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  return String(Number(x.toPrecision(4)));
}

/**
 * All that the element type holds, and not the digits that only float64 adds: 0.1 and not 0.10000000149011612.
 * @param {number} x
 * @param {string} dtype
 */
export function fullNumber(x, dtype) {
  if (!Number.isFinite(x)) return shortNumber(x);
  if (dtype === "float32" && Math.fround(x) === x) {
    for (let digits = 6; digits < 10; digits++) {
      const rounded = Number(x.toPrecision(digits));
      if (Math.fround(rounded) === x) return String(rounded);
    }
  }
  return String(x);
}

/**
 * 0 B, 512 B, 1.5 kB, 3.2 MB: thousands, not 1,024.
 * @param {number} bytes
 */
export function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [size, unit] = [bytes, 0];
  while (size >= 999.5 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit && size < 99.95 ? Number(size.toFixed(1)) : Math.round(size)} ${units[unit]}`;
}
