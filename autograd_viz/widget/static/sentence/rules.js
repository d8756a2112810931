// The arrays of a rule that ran: where their values are in the step, and turned as the rule turns them.

import { asNumber } from "../shared/statistics.js";

/** @typedef {import("../shared/statistics.js").Value} Value */
/** @typedef {import("../pass/program.js").GraphNode} GraphNode */
/** @typedef {import("../pass/history.js").StepRecord} StepRecord */
/** @typedef {import("../pass/history.js").Recorded} Recorded */
/** @typedef {import("../pass/history.js").NamedRule} NamedRule */
/** @typedef {{ name: string, value: Value }} Drawn */

/**
 * The arrays of a rule, the result last; none if one of them is not in the page.
 * @param {NamedRule} rule
 * @param {GraphNode | undefined} node
 * @param {Recorded[]} frames the steps so far; the last one is the rule's
 * @returns {Drawn[]}
 */
export function drawnOf(rule, node, frames) {
  if (!rule.terms?.length) return [];
  const [target] = rule.text.split(/ = |: |：/, 1);
  const found = [...rule.terms, { name: target, at: rule.result ?? "" }].map((term) => {
    const value = valueAt(term.at, node, frames);
    return { name: term.name, value: value && (term.is_transposed ? turned(value) : value) };
  });
  return found.every(({ value }) => value) ? /** @type {Drawn[]} */ (found) : [];
}

/**
 * What a `Term` (graph/trace.py) calls "grad_outputs.0", "saved.other", "accumulation.old" or "next:n1.0".
 * @param {string} at
 * @param {GraphNode | undefined} node
 * @param {Recorded[]} frames
 * @returns {Value | null | undefined}
 */
function valueAt(at, node, frames) {
  const step = /** @type {any} */ (frames.at(-1)?.step ?? {});
  const [kind, name] = [at.slice(0, at.indexOf(".")), at.slice(at.indexOf(".") + 1)];
  if (kind !== "saved") return at.includes(":") ? lastAlong(at, frames) : step[kind]?.[name];
  const freed = step.changes?.find((/** @type {{ at: string }} */ change) => change.at === `${step.node}.${at}`)?.before;
  return freed ?? node?.saved?.find((saved) => saved.name === name)?.value;
}

/**
 * The last gradient along an arrow.
 * @param {string} at
 * @param {Recorded[]} frames
 */
function lastAlong(at, frames) {
  for (let i = frames.length - 1; i >= 0; i--) {
    const sent = frames[i].step.changes?.find((change) => change.at === at);
    if (sent) return sent.after;
  }
  return null;
}

/**
 * The array with its last two dimensions swapped. Means of blocks tell this of a matrix only.
 * @param {Value} value
 * @returns {Value}
 */
export function turned(value) {
  const { shape, numbers = [], summary } = value;
  const [rows, columns] = shape.slice(-2);
  const other = { ...value, shape: [...shape.slice(0, -2), columns, rows], text: "" };
  if (summary && shape.length > 2) return { ...other, summary: undefined };
  if (!summary) return { ...other, numbers: swapped(numbers, rows, columns) };
  const thumbnail = swapped(summary.thumbnail, summary.rows, summary.columns);
  return { ...other, summary: { ...summary, rows: summary.columns, columns: summary.rows, thumbnail } };
}

/**
 * @template T
 * @param {T[]} elements matrices, one after another
 * @param {number} rows of each
 * @param {number} columns
 */
function swapped(elements, rows, columns) {
  return elements.map((_, i) => {
    const [matrix, rest] = [Math.floor(i / (rows * columns)), i % (rows * columns)];
    return elements[matrix * rows * columns + (rest % rows) * columns + Math.floor(rest / rows)];
  });
}

/**
 * As numbers; null if not all are in the page, or if they are complex.
 * @param {Value} value
 * @returns {import("./products.js").Numbers | null}
 */
export function numbersOfValue(value) {
  const numbers = value.numbers ?? [];
  if (!numbers.length || value.dtype.startsWith("complex")) return null;
  return { shape: value.shape, numbers: numbers.map(asNumber) };
}
