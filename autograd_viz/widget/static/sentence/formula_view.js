// The rules of the step that has just run, in the names of the program: as text, and their arrays as small heat maps.
// Pointing at an element of a result lights the elements that it is the sum of, and writes that sum.

import { gridOf, heatmap, indexText, moved } from "../shared/heatmap.js";
import { numberText } from "../shared/numbers.js";
import { partsOfElement, sumText } from "./products.js";
import { drawnOf, numbersOfValue } from "./rules.js";
import { asNumber, countOf, shortNumber } from "../shared/statistics.js";
import { patch, tree } from "../shared/tree.js";

/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {import("../shared/tree.js").Tree} Tree */
/** @typedef {import("../pass/history.js").Recorded} Recorded */
/** @typedef {import("./rules.js").Drawn} Drawn */
/** @typedef {import("../pass/history.js").NamedRule} NamedRule */
/** @typedef {{ rule: NamedRule, drawn: Drawn[] }} Shown */
/** @typedef {{ rule: number, array: number, index: number }} Pointed */

const SIZES = { widest: 112, highest: 60, least: 2, most: 14 }; // px
const [RULE_LETTER, WITH_NUMBERS] = [7.6, 5]; // px; how much longer a rule is in the names of a program and with its numbers
const MOST_RULE_LINES = 3; // of rules without arrays, for which room is kept
const LONG_LINE = 600; // px of a line, below which a sentence takes two
const [TEXT_ALONE, TEXT_AND_SUM] = [22, 64]; // px of a rule's text; of the text, a name under an array, and a sum
const IN_A_ROW = 3; // rules with arrays; their texts may take two lines then
const MOST_PARTS = 8; // of a sum
const LONGEST_NAME = 16; // letters under an array; the rule's text has the whole name

export class FormulaView {
  /**
   * @param {Say} say
   * @param {import("../pass/program.js").Doc} doc
   * @param {AbortSignal} signal
   */
  constructor(say, doc, signal) {
    this.say = say;
    this.nodes = new Map((doc.nodes ?? []).map((node) => [node.id, node]));
    this.root = Object.assign(document.createElement("div"), { className: "av-formulas" });
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", say("rules"));
    this.doc = doc;
    this.room = 0; // px that the rules of any step take
    this.isDrawing = false;
    /** @type {Shown[]} */
    this.shown = [];
    /** @type {Pointed | null} */
    this.pointed = null;
    this.listen(signal);
  }

  /** @param {Recorded[]} frames the steps so far */
  show(frames) {
    const step = frames.at(-1)?.step;
    const node = this.nodes.get(step?.node ?? "");
    this.shown = (step?.named ?? []).map((rule) => ({ rule, drawn: drawnOf(rule, node, frames) }));
    this.pointed = null;
    this.draw();
  }

  /** @param {number} width px of a line */
  measure(width) {
    this.room = roomFor(this.doc, width);
  }

  /** The elements of the rules. */
  get rules() {
    return this.root.children[0];
  }

  draw() {
    const isDrawn = this.shown.some(({ drawn }) => drawn.length);
    const isRow = isDrawn && this.shown.length <= IN_A_ROW;
    const rules = tree(
      "div",
      { class: isRow ? "av-rules av-in-a-row" : "av-rules" },
      this.shown.map((_, i) => this.ruleTree(i)),
    );
    const sum =
      isDrawn && tree("p", { class: this.pointed ? "av-sum" : "av-sum av-sum-hint", "aria-live": "polite" }, [this.told()]);
    this.isDrawing = true; // an element that goes may lose the focus
    patch(this.root, /** @type {Tree[]} */ ([rules, sum].filter(Boolean)));
    this.isDrawing = false;
  }

  /** @param {number} i */
  ruleTree(i) {
    const { rule, drawn } = this.shown[i];
    const text = tree("code", { class: "av-formula" }, [rule.text]);
    const arrays = drawn.map((array, k) => this.arrayTree(array, i, k));
    const sign = rule.sign === "∘" ? "," : (rule.sign ?? "");
    const row = arrays.flatMap((array, k) => {
      const before = k === 0 ? "" : k === arrays.length - 1 ? "→" : sign;
      return before ? [tree("span", { class: "av-sign" }, [before]), array] : [array];
    });
    return tree("div", { class: "av-rule" }, [text, row.length > 0 && tree("div", { class: "av-arrays" }, row)]);
  }

  /**
   * @param {Drawn} array
   * @param {number} rule
   * @param {number} place
   */
  arrayTree({ name, value }, rule, place) {
    const grid = gridOf(value);
    const { index, lit } = this.ringsOf(rule, place);
    const isResult = place === this.shown[rule].drawn.length - 1;
    const label = this.say("heat_map", { name: name || this.shown[rule].rule.text });
    const more = { sizes: SIZES, lit, tabindex: isResult ? 0 : -1 };
    const key = `${rule}.${place}`;
    const isLit = lit.length > 0 || index !== null;
    const picture = grid
      ? heatmap(grid, label, key, index, more)
      : aloneTree(
          value,
          isLit,
          isResult ? { tabindex: 0, role: "img", "aria-label": label, "data-heat": key, "data-index": 0 } : {},
        );
    const shape = value.shape.length ? `(${value.shape.join("×")})` : "";
    const caption = [name.length <= LONGEST_NAME ? name : "", shape].filter(Boolean).join(" ");
    return tree("span", { class: "av-array" }, [picture, tree("span", { class: "av-caption" }, [caption || "\u00a0"])]);
  }

  /**
   * The element under the pointer, and what it is the sum of.
   * @param {number} rule
   * @param {number} place
   * @returns {{ index: number | null, lit: number[] }}
   */
  ringsOf(rule, place) {
    const at = this.pointed;
    if (at?.rule !== rule) return { index: null, lit: [] };
    if (at.array === place) return { index: at.index, lit: [] };
    return { index: null, lit: [...new Set(this.parts()?.map((part) => part[place]) ?? [])] };
  }

  /** The parts of the element that is pointed at, if it is one of a result whose numbers are here. */
  parts() {
    const numbers = this.numbers();
    const { rule, array, index } = this.pointed ?? { rule: 0, array: 0, index: 0 };
    const result = numbers?.at(-1);
    if (!numbers || !result || array !== numbers.length - 1) return null;
    return partsOfElement(this.shown[rule].rule.sign ?? "", numbers.slice(0, -1), result, index);
  }

  /** @returns {import("./products.js").Numbers[] | null} all of the rule that is pointed at */
  numbers() {
    const all = this.shown[this.pointed?.rule ?? -1]?.drawn.map(({ value }) => numbersOfValue(value)) ?? [null];
    return all.every(Boolean) ? /** @type {import("./products.js").Numbers[]} */ (all) : null;
  }

  /** What is written below the arrays. */
  told() {
    const isSmall = this.shown.some(({ drawn }) => drawn.length && drawn.every(({ value }) => value.numbers?.length));
    if (!this.pointed) return this.say(isSmall ? "rule_hint" : "rule_large");
    const { rule, array, index } = this.pointed;
    const { value } = this.shown[rule].drawn[array];
    const grid = gridOf(value);
    const name = grid ? `[${indexText(value, grid, index)}] = ` : "";
    const [numbers, parts] = [this.numbers(), this.parts()];
    if (!numbers || !parts)
      return name + (grid?.isBlocks ? shortNumber(grid.numbers[index]) : numberText(value.numbers?.[index] ?? "…"));
    const { sign = "" } = this.shown[rule].rule;
    if (sign === "∘") return name + this.pointwiseText(numbers, parts[0], index);
    return name + sumText(sign, numbers, parts, numbers[array].numbers[index], fourDigits, MOST_PARTS);
  }

  /**
   * "-0.5, from gradient of y = 2.0, x = -0.25"
   * @param {import("./products.js").Numbers[]} numbers
   * @param {number[]} part
   * @param {number} index
   */
  pointwiseText(numbers, part, index) {
    const { drawn } = this.shown[this.pointed?.rule ?? 0];
    const given = part.map((at, i) => `${drawn[i].name} = ${fourDigits(numbers[i].numbers[at])}`).join(", ");
    return this.say("rule_of_element", { value: fourDigits(numbers[numbers.length - 1].numbers[index]), given });
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { root } = this;
    const over = (/** @type {Event} */ event) => this.hovered(/** @type {Element} */ (event.composedPath()[0]));
    root.addEventListener("pointermove", over, { signal });
    root.addEventListener("pointerdown", over, { signal });
    root.addEventListener("pointerleave", () => this.point(null), { signal });
    root.addEventListener("focusin", (event) => this.focused(/** @type {Element} */ (event.composedPath()[0])), { signal });
    root.addEventListener("focusout", () => this.point(null), { signal });
    root.addEventListener("keydown", (event) => this.pressed(event), { signal });
  }

  /** @param {Element} target */
  hovered(target) {
    const [index, key] = [target.getAttribute("data-index"), target.closest("[data-heat]")?.getAttribute("data-heat")];
    if (index !== null && key) this.point(placeInRule(key, Number(index)));
  }

  /** @param {Element} target */
  focused(target) {
    const key = target.getAttribute("data-heat");
    if (key) this.point(placeInRule(key, 0));
  }

  /**
   * Arrow keys go from element to element; the widget's own arrow keys are meant elsewhere.
   * @param {KeyboardEvent} event
   */
  pressed(event) {
    const key = /** @type {HTMLElement} */ (event.composedPath()[0]).dataset.heat;
    if (!key || !this.pointed || event.ctrlKey || event.metaKey || event.altKey) return;
    const grid = gridOf(this.shown[this.pointed.rule].drawn[this.pointed.array].value);
    const index = grid && moved(grid, this.pointed.index, event.key);
    if (index === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.point(placeInRule(key, index));
  }

  /** @param {Pointed | null} pointed */
  point(pointed) {
    if (this.isDrawing || JSON.stringify(pointed) === JSON.stringify(this.pointed)) return;
    this.pointed = pointed;
    this.draw();
  }
}

/**
 * px for the rules of any step: their text, and if there are arrays, the highest one, its name, and a sum.
 * @param {import("../pass/program.js").Doc} doc
 * @param {number} width
 */
function roomFor(doc, width) {
  const arrays = doc.tensors.filter((t) => t.requires_grad && countOf(t.value.shape) > 1);
  const rows = Math.max(...arrays.map(({ value: { shape } }) => (shape.length < 2 ? 1 : Math.max(...shape.slice(-2)))));
  const isCrowded = doc.nodes?.some((node) => (node.formulas ?? []).length >= IN_A_ROW);
  if (arrays.length) return TEXT_AND_SUM + (isCrowded ? TEXT_ALONE : 0) + Math.min(SIZES.highest, SIZES.most * rows);
  const lines = Math.max(1, ...(doc.nodes ?? []).map((node) => linesOf(node.formulas ?? [], width)));
  return TEXT_ALONE * Math.max(1, Math.min(MOST_RULE_LINES, lines) - (width < LONG_LINE ? 0 : 1)); // a short sentence leaves its second line to a rule
}

/**
 * Of how many lines are the rules of a node, with their numbers?
 * @param {{ text: string }[]} rules
 * @param {number} width px
 */
function linesOf(rules, width) {
  const wide = rules.map(({ text }) => text.length * WITH_NUMBERS * RULE_LETTER);
  return wide.reduce((lines, px) => lines + Math.ceil(px / Math.max(1, width)), 0);
}

/**
 * @param {string} key "rule.array"
 * @param {number} index
 * @returns {Pointed}
 */
function placeInRule(key, index) {
  const [rule, array] = key.split(".").map(Number);
  return { rule, array, index };
}

/** @param {number} x */
function fourDigits(x) {
  return numberText(Number(x.toPrecision(4)));
}

/**
 * What stands in place of a heat map: a number; dots for an array that cannot be drawn.
 * @param {import("../shared/statistics.js").Value} value
 * @param {boolean} isLit
 * @param {Record<string, string | number>} attributes
 */
function aloneTree(value, isLit, attributes) {
  const text = value.numbers?.length === 1 ? numberText(asNumber(value.numbers[0])) : "…";
  return tree("span", { class: isLit ? "av-alone av-alone-lit" : "av-alone", ...attributes }, [text]);
}
