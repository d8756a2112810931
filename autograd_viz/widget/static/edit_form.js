// The form that changes the gradient that is about to enter a node.

import { lineOf } from "./array_view.js";
import { asNumber, countOf, fullNumber, isComplex } from "./statistics.js";
import { tree } from "./tree.js";

/** @typedef {import("./program.js").Value} Value */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {{ node?: string, values?: Record<string, Value> }} Pending an edit that no node has run with yet */

/**
 * The array as Python would read it, with every digit; "" if it is too large to be known here.
 * @param {Value} value
 */
export function editText(value) {
  const numbers = value.numbers ?? [];
  if (numbers.length !== countOf(value.shape)) return "";
  return nestedText(numbers.map((x) => pythonText(x, value.dtype)), value.shape);
}

/**
 * @param {import("./program.js").Element} element
 * @param {string} dtype
 */
function pythonText(element, dtype) {
  if (typeof element === "boolean") return element ? "True" : "False";
  return isComplex(element) ? element : fullNumber(asNumber(element), dtype);
}

/**
 * @param {string[]} texts in row order
 * @param {number[]} shape
 * @returns {string}
 */
function nestedText(texts, shape) {
  if (!shape.length) return texts[0] ?? "";
  const size = countOf(shape.slice(1));
  const parts = Array.from({ length: shape[0] }, (_, i) => nestedText(texts.slice(i * size, (i + 1) * size), shape.slice(1)));
  return `[${parts.join(", ")}]`;
}

/**
 * What a person has put in for the node that runs next: when the step was recorded, or since at the frontier.
 * @param {import("./history.js").PassHistory} history
 * @param {Pending} pending
 * @returns {Record<string, Value | null>} by output
 */
export function editsAt(history, pending) {
  const recorded = history.known[history.position]?.step;
  if (!recorded) return pending.node === history.nextNode ? pending.values ?? {} : {};
  return Object.fromEntries((recorded.edited ?? []).map((index) => [index, recorded.grad_outputs?.[index] ?? null]));
}

/**
 * What is about to arrive, as far as the page knows it: recorded earlier, from one sender, or the sum of small ones.
 * @param {Look} look
 * @param {string} node
 * @param {number} index
 * @returns {Value | null}
 */
export function aboutToArrive(look, node, index) {
  const { history, program } = look;
  if (index in look.edits) return look.edits[index];
  const recorded = history.known[history.position];
  if (recorded?.step.node === node) return recorded.step.grad_outputs?.[index] ?? null;
  const senders = program.senders.get(`${node}.${index}`) ?? [];
  const parts = senders.map((s) => history.at(`next:${s.node}.${s.edge}`)).filter((v) => v !== null);
  if (program.starts.has(`${node}.${index}`)) return senders.length ? null : firstOf(look);
  return parts.length === 1 ? parts[0] : null;
}

/**
 * The first gradient of a single element is 1.
 * @param {Look} look
 * @returns {Value | null}
 */
function firstOf(look) {
  const root = look.program.tensorById.get(look.program.roots[0]);
  if (!root || countOf(root.value.shape) !== 1) return null;
  return { shape: root.value.shape, dtype: root.value.dtype, text: "1.", numbers: [1] };
}

/**
 * One form for an output of the node; its text is the person's until the stepper stands elsewhere.
 * @param {Look} look
 * @param {string} node
 * @param {number} index
 * @param {number} outputs
 * @returns {Tree}
 */
export function editForm(look, node, index, outputs) {
  const value = aboutToArrive(look, node, index);
  const label = outputs > 1 ? `grad_outputs[${index}]` : "grad_output";
  const title = look.word("edit_tip", { node: look.program.label(node, look.word("unnamed")) });
  const field = { class: "av-i-field", type: "text", name: "gradient", spellcheck: "false", autocomplete: "off", title };
  const once = { value: value ? editText(value) : "" };
  const input = tree("input", { ...field, placeholder: look.word("edit_example") }, [], { once });
  const apply = tree("button", { type: "submit", class: "av-i-button" }, [look.word("apply")]);
  const named = tree("label", {}, [tree("code", {}, [label]), input]);
  const waits = index in look.edits && look.word("edit_pending", { value: lineOf(look.edits[index]) });
  const done = waits && tree("p", { class: "av-i-pending" }, [waits]);
  const key = `edit ${node} ${index} ${look.history.position} ${look.history.edition}`;
  return tree("form", { class: "av-i-edit", "data-edit": index }, [named, apply, done], { key });
}
