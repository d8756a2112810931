// The row of a leaf: its name or element, a slider, a field for a typed number, and its gradient.

import { html } from "../shared/elements.js";

/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {{ name: string, shape: number[], first: number[], bounds: number[], id: string }} LeafData */

/**
 * The indices of an element: [1, 0].
 * @param {number} at
 * @param {number[]} shape
 */
function elementAt(at, shape) {
  const found = [];
  let left = at;
  for (const size of [...shape].reverse()) {
    found.unshift(left % size);
    left = Math.floor(left / size);
  }
  return `[${found.join(", ")}]`;
}

export class LeafRow {
  /**
   * @param {LeafData} leaf
   * @param {{ say: Say, moved: (row: LeafRow) => void, chosen: (row: LeafRow) => void, signal: AbortSignal }} context
   */
  constructor(leaf, { say, moved, chosen, signal }) {
    this.leaf = leaf;
    this.element = 0;
    this.values = [...leaf.first];
    this.bounds = [...leaf.bounds];
    this.root = html("div", "av-leaf");
    const name = html("span", "av-leaf-name", leaf.name);
    this.slider = html("input", "av-leaf-slider");
    this.slider.type = "range";
    this.field = html("input", "av-leaf-field");
    this.field.inputMode = "decimal";
    for (const input of [this.slider, this.field]) input.setAttribute("aria-label", say("explore_value", { leaf: leaf.name }));
    this.grad = html("span", "av-leaf-grad");
    this.root.append(name, this.slider, this.field, this.grad);
    if (leaf.first.length > 1) {
      const select = html("select", "av-leaf-element");
      select.setAttribute("aria-label", say("explore_element", { leaf: leaf.name }));
      select.append(...leaf.first.map((_, i) => new Option(elementAt(i, leaf.shape), String(i))));
      select.addEventListener("change", () => [(this.element = Number(select.value)), chosen(this)], { signal });
      name.append(select);
      this.select = select;
    }
    this.slider.addEventListener("input", () => this.to(Number(this.slider.value), moved), { signal });
    this.slider.addEventListener("focus", () => chosen(this), { signal });
    this.field.addEventListener("change", () => this.typed(moved), { signal });
    this.field.addEventListener("keydown", (event) => event.key === "Enter" && this.typed(moved), { signal });
    this.write();
  }

  get value() {
    return this.values[this.element];
  }

  /** @param {number} value @param {(row: LeafRow) => void} moved */
  to(value, moved) {
    this.values[this.element] = value;
    this.write();
    moved(this);
  }

  /** @param {(row: LeafRow) => void} moved what is no number is taken back */
  typed(moved) {
    const value = Number(this.field.value.replace("\u2212", "-").replace(",", ".").trim() || "x");
    if (!Number.isFinite(value)) this.write();
    else if (value !== this.value) {
      while (Math.abs(value) > this.bounds[this.element]) this.bounds[this.element] *= 2;
      this.to(value, moved);
    }
  }

  /** @param {number[]} values what Python has */
  show(values) {
    this.values = [...values];
    this.write();
  }

  /** @param {number[]} values */
  name(values) {
    this.field.value = String(Number(values[this.element].toPrecision(6)));
  }

  write() {
    const bound = this.bounds[this.element];
    Object.assign(this.slider, { min: String(-bound), max: String(bound), step: String(bound / 100) });
    this.slider.value = String(this.value);
    if (this.select) this.select.value = String(this.element);
    this.name(this.values);
  }
}
