// The form that changes the gradient that is about to enter a node.

import { lineOf } from "./array_view.js";
import { asNumber, countOf, fullNumber, isComplex } from "../shared/statistics.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("../shared/statistics.js").Value} Value */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../shared/tree.js").Tree} Tree */
/** @typedef {{ node?: string, values?: Record<string, Value> }} Pending an edit that no node has run with yet */

/**
 * The array as Python would read it, with every digit; "" if it is too large to be known here.
 * @param {Value} value
 */
export function editText(value) {
  const numbers = value.numbers ?? [];
  if (numbers.length !== countOf(value.shape)) return "";
  return nestedText(
    numbers.map((x) => pythonText(x, value.dtype)),
    value.shape,
  );
}

/**
 * @param {import("../shared/statistics.js").Element} element
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
 * @param {import("../pass/history.js").PassHistory} history
 * @param {Pending} pending
 * @returns {Record<string, Value | null>} by output
 */
export function editsAt(history, pending) {
  const recorded = history.known[history.position]?.step;
  if (!recorded) return pending.node === history.nextNode ? (pending.values ?? {}) : {};
  return Object.fromEntries((recorded.edited ?? []).map((index) => [index, recorded.grad_outputs?.[index] ?? null]));
}

/**
 * What is about to arrive, as far as the page knows it: recorded earlier, from one sender, or the sum of small ones.
 * @param {Look} look
 * @param {string} node
 * @param {number} index
 * @returns {Value | null}
 */
function aboutToArrive(look, node, index) {
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

/** @typedef {{ index?: number, how?: string, text?: string, rows?: [leaf: string, without: string, edited: string][], more?: number, error?: string, waits?: boolean }} Effect what an edit would do, as the kernel says */
/** @typedef {{ hows: Record<number, string>, effect: Effect | null }} Draft how a person changes each gradient, and what that would do */

const HOWS = ["value", "scale", "zero", "clip", "element", "noise"];
const PAUSE_MS = 400; // after the last letter, until the effect is asked for

/** The edit that a person makes: what is asked of the kernel, and when. */
export class EditDraft {
  /**
   * @param {(message: import("../shared/tree.js").Message) => void} act
   * @param {() => void} redraw
   * @param {AbortSignal} signal
   */
  constructor(act, redraw, signal) {
    this.act = act;
    this.redraw = redraw;
    /** @type {Record<number, string>} by output */
    this.hows = {};
    /** @type {string} what the last effect was asked for */
    this.asked = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /**
   * @param {Effect} effect
   * @returns {Draft}
   */
  now(effect) {
    return { hows: this.hows, effect: this.asked && this.asked === keyOfEffect(effect) ? effect : null };
  }

  /**
   * A letter was typed, or another way chosen.
   * @param {HTMLElement} target
   */
  changed(target) {
    const form = /** @type {HTMLFormElement | null} */ (target.closest("form.av-i-edit"));
    if (!form) return;
    if (target.tagName === "SELECT") {
      this.hows[Number(form.dataset.edit)] = /** @type {HTMLSelectElement} */ (target).value;
      this.asked = "";
      this.redraw();
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => form.isConnected && this.ask(form, true), PAUSE_MS);
  }

  /**
   * Ask for the effect.
   * @param {HTMLFormElement} form
   * @param {boolean} soft only if no code of the user's would run
   */
  ask(form, soft) {
    const edit = this.editOf(form);
    if (!edit.text && edit.how !== "zero") return;
    this.asked = keyOfEffect(edit);
    this.act({ kind: "effect", ...edit, soft });
  }

  /** @param {SubmitEvent} event */
  submitted(event) {
    event.preventDefault();
    clearTimeout(this.timer);
    const form = /** @type {HTMLFormElement} */ (event.composedPath()[0]);
    if (event.submitter?.getAttribute("value") === "effect") return this.ask(form, false);
    this.asked = "";
    this.act({ kind: "edit", ...this.editOf(form) });
  }

  /** @param {HTMLFormElement} form */
  editOf(form) {
    const field = /** @type {HTMLInputElement | null} */ (form.elements.namedItem("gradient"));
    const index = Number(form.dataset.edit);
    return { index, how: this.hows[index] ?? "value", text: field?.value.trim() ?? "" };
  }
}

/** @param {Effect} effect */
function keyOfEffect({ index, how, text }) {
  return how ? `${index} ${how} ${text}` : "";
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
  const { word, draft } = look;
  const chosen = draft.hows[index] ?? "value";
  const value = aboutToArrive(look, node, index);
  const label = outputs > 1 ? `grad_outputs[${index}]` : "grad_output";
  const title = word("edit_tip", { node: look.program.label(node, word("unnamed")) });
  const place = `${node} ${index} ${look.history.position} ${look.history.edition}`;
  const options = HOWS.map((how) =>
    tree("option", { value: how }, [word(`edit_how_${how}`)], how === chosen ? { once: { selected: "" } } : {}),
  );
  const how = tree("select", { name: "how", class: "av-i-how", "aria-label": word("edit_how") }, options, {
    key: `how ${place}`,
  });
  const field = { class: "av-i-field", type: "text", name: "gradient", spellcheck: "false", autocomplete: "off", title };
  const once = { value: value && chosen === "value" ? editText(value) : "" };
  const example = word(chosen === "value" ? "edit_example" : `edit_example_${chosen}`);
  const input =
    chosen !== "zero" && tree("input", { ...field, "aria-label": label, placeholder: example }, [], { once, key: chosen });
  const apply = tree("button", { type: "submit", class: "av-i-button" }, [word("apply")]);
  const named = tree("div", { class: "av-i-edit-row" }, [tree("code", {}, [label]), how, input]);
  const waits = index in look.edits && word("edit_pending", { value: lineOf(look.edits[index]) });
  const done = waits && tree("p", { class: "av-i-pending" }, [waits]);
  const parts = [named, effectView(look, index), apply, done];
  return tree("form", { class: "av-i-edit", "data-edit": index }, parts, { key: `edit ${place}` });
}

/**
 * The grads at the end of the pass, without the edit and with it.
 * @param {Look} look
 * @param {number} index
 */
function effectView({ word, draft }, index) {
  const { effect } = draft;
  if (!effect || effect.index !== index) return null;
  if (effect.error) return tree("p", { class: "av-i-effect av-i-alarm", role: "status" }, [effect.error]);
  if (effect.waits) {
    const show = tree("button", { type: "submit", value: "effect", class: "av-i-button" }, [word("effect")]);
    return tree("div", { class: "av-i-effect" }, [tree("p", { class: "av-i-note" }, [word("effect_hooks")]), show]);
  }
  const { rows = [], more = 0 } = effect;
  if (!rows.length) return tree("p", { class: "av-i-effect", role: "status" }, [word("effect_none")]);
  const head = tree(
    "tr",
    {},
    ["effect_leaf", "effect_without", "effect_with"].map((key) => tree("th", { scope: "col" }, [word(key)])),
  );
  const lines = rows.map(([leaf, without, edited]) => {
    return tree("tr", {}, [
      tree("th", { scope: "row" }, [tree("bdi", {}, [leaf])]),
      tree("td", {}, [without]),
      tree("td", { class: "av-i-grad" }, [edited]),
    ]);
  });
  const caption = tree("caption", {}, [word("effect_title")]);
  const rest = more > 0 && tree("p", { class: "av-i-note" }, [word("effect_same", { count: more })]);
  return tree("div", { class: "av-i-effect", role: "status" }, [
    tree("table", { class: "av-i-table" }, [caption, head, ...lines]),
    rest,
  ]);
}
