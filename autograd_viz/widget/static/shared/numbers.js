// Numbers as text, written alike in sentences, rules, panels and figures: 4.0, -0.5, 1e-8 (number_text in graph/text.py).

/** @typedef {import("./statistics.js").Value} Value */
/** @typedef {import("./statistics.js").Element} Element */

const DIGITS = 6;

/**
 * @param {Element} element
 * @param {boolean} isWhole its type has whole numbers only
 */
export function numberText(element, isWhole = false) {
  if (typeof element === "boolean") return element ? "True" : "False";
  if (typeof element === "string") return element.replace(/^\((.*)\)$/, "$1"); // nan, inf, or a complex number
  if (isWhole) return String(element);
  if (Math.abs(element) < 1e6 && Number.isInteger(element)) return `${Object.is(element, -0) ? "-0" : element}.0`;
  const exponent = Math.floor(Math.log10(Math.abs(element)));
  const text = exponent < -4 || exponent >= DIGITS ? element.toExponential(DIGITS - 1) : element.toPrecision(DIGITS);
  return text
    .replace(/(\.\d*?)0+(?=e|$)/, "$1")
    .replace(/\.(?=e|$)/, "")
    .replace(/e([+-])(\d)$/, "e$10$2");
}

/**
 * An element of an array of this type.
 * @param {Element} element
 * @param {string} dtype
 */
export function elementNumber(element, dtype) {
  return numberText(element, /^u?int|^bool/.test(dtype));
}

/**
 * All elements in nested brackets; the text from Python if the elements are not here.
 * @param {Value} value
 */
export function valueText(value) {
  const numbers = value.numbers ?? [];
  if (!numbers.length) return value.text;
  let parts = numbers.map((x) => elementNumber(x, value.dtype));
  for (const length of [...value.shape].reverse()) {
    parts = Array.from(
      { length: parts.length / length },
      (_, i) => `[${parts.slice(i * length, (i + 1) * length).join(", ")}]`,
    );
  }
  return parts[0];
}
