// Find a box by name or type: a field, a list of what fits, Enter and Shift+Enter go round.

import { html } from "../shared/elements.js";

/** @typedef {import("../pass/graph.js").Graph} Graph */
/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {{ id: string, title: string, kind: string }} Found */

const SHOWN = 12; // rows of the list
const WITHIN = 4; // rank of what has the query in the midst of a word
const NO_FIT = 5;
const NO_WORD = /[^\p{L}\p{N}]+/gu;
const WORDS = /[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u; // between words: "AccumulateGrad (w1)" has three
const EDGE = 8; // px to the edge of the widget

/**
 * What a query fits, by name, type or id; names that begin with it first, what has it in the midst of a word only if all do.
 * @param {Graph} graph
 * @param {string} query
 * @param {Say} say
 * @param {[id: string, name: string, kind: string][]} [hidden] what is in closed groups
 * @returns {Found[]}
 */
export function matches(graph, query, say, hidden = []) {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  const everything = [
    ...[...graph.tensors.keys()].map((id) => ({ id, kind: say("tensor_panel") })),
    ...[...graph.ops.keys()].map((id) => ({ id, kind: say("op_panel") })),
    ...[...graph.nodes.keys()].map((id) => ({ id, kind: say("node_panel") })),
  ];
  const ranked = everything
    .filter(({ id }) => graph.isDrawn(id))
    .map((found) => ({ ...found, title: graph.label(found.id) }))
    .concat(hidden.map(([id, title, kind]) => ({ id, title, kind: `${say(`${kind}_panel`)} · ${say("in_a_group")}` })))
    .map((found) => ({ found, rank: rank(found, wanted) }))
    .filter(({ rank }) => rank < NO_FIT)
    .sort((a, b) => a.rank - b.rank);
  const isMeant = ranked.some(({ rank }) => rank < WITHIN);
  return ranked.filter(({ rank }) => rank !== WITHIN || !isMeant).map(({ found }) => found);
}

/**
 * @param {Found} found
 * @param {string} wanted in small letters
 */
function rank({ id, title, kind }, wanted) {
  const name = title.toLowerCase();
  if (name === wanted || id === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  const words = title.split(WORDS).map((word) => word.toLowerCase());
  if (words.some((_, i) => words.slice(i).join("").startsWith(wanted.replace(NO_WORD, "")))) return 2;
  if (kind.toLowerCase().startsWith(wanted)) return 3;
  return name.includes(wanted) ? WITHIN : NO_FIT;
}

export class Search {
  /**
   * @param {{ graph: Graph, say: Say, jump: (id: string) => void, leave: () => void, signal: AbortSignal, name: string,
   *   hidden?: [id: string, name: string, kind: string][] }} context `name` tells the lists of several widgets apart
   */
  constructor({ graph, say, jump, leave, signal, name, hidden = [] }) {
    this.context = { graph, say, jump, leave, hidden };
    /** @type {Found[]} */
    this.found = [];
    this.index = -1;
    this.root = html("div", "av-search");
    this.field = html("input", "av-search-field");
    this.field.type = "search";
    this.field.placeholder = say("search");
    this.field.title = say("search_tip");
    this.list = html("ul", "av-found");
    this.list.id = `${name}-found`;
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", say("search"));
    this.list.hidden = true;
    this.count = html("span", "av-found-count");
    this.count.setAttribute("role", "status");
    const says = { role: "combobox", "aria-label": say("search"), "aria-controls": this.list.id, "aria-expanded": "false" };
    for (const [key, value] of Object.entries({ ...says, "aria-autocomplete": "list" })) this.field.setAttribute(key, value);
    this.root.append(this.field, this.count, this.list);
    this.listen(signal);
  }

  /** Ready to be typed into; what was looked for before is overwritten. */
  enter() {
    this.field.focus({ preventScroll: true });
    this.field.select();
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    this.field.addEventListener("input", () => this.look(), { signal });
    this.field.addEventListener("keydown", (event) => this.key(event), { signal });
    this.list.addEventListener(
      "pointerdown",
      (event) => {
        event.preventDefault(); // the field keeps the focus
        const row = event.target instanceof Element ? event.target.closest("li") : null;
        if (row?.dataset.index) {
          this.go(Number(row.dataset.index));
          this.close();
        }
      },
      { signal },
    );
    this.root.addEventListener(
      "focusout",
      (event) => {
        if (!this.root.contains(/** @type {Node | null} */ (event.relatedTarget))) this.close();
      },
      { signal },
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape") {
      this.field.value = "";
      this.look();
      this.context.leave();
    } else if (event.key === "Enter" || event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!this.found.length) this.look();
      const back = event.key === "ArrowUp" || (event.key === "Enter" && event.shiftKey);
      if (this.found.length) this.go(back ? (this.index <= 0 ? this.found.length : this.index) - 1 : this.index + 1);
      if (event.key === "Enter") this.close(); // it would lie on what has been found; arrows open it again
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  look() {
    const { graph, say, hidden } = this.context;
    this.found = matches(graph, this.field.value, say, hidden);
    this.index = -1;
    this.draw();
  }

  /** @param {number} index */
  go(index) {
    this.index = index % this.found.length;
    this.draw();
    this.context.jump(this.found[this.index].id);
  }

  draw() {
    const { found, index } = this;
    const { say } = this.context;
    const first = Math.max(0, Math.min(index - SHOWN + 1, found.length - SHOWN));
    this.list.replaceChildren(...found.slice(first, first + SHOWN).map((f, i) => this.row(f, first + i)));
    this.list.hidden = found.length === 0;
    if (found.length) this.place();
    this.field.setAttribute("aria-expanded", String(found.length > 0));
    if (index >= 0) this.field.setAttribute("aria-activedescendant", `${this.list.id}-${index}`);
    else this.field.removeAttribute("aria-activedescendant");
    const none = this.field.value.trim() ? say("search_none") : "";
    this.count.textContent = found.length ? say("search_found", { index: index + 1, count: found.length }) : none;
  }

  /** The list begins at the field, and further left where it would hang out of the widget. */
  place() {
    this.list.style.left = "0";
    const edge = this.root.closest(".av-root")?.getBoundingClientRect().right ?? Infinity;
    const out = this.list.getBoundingClientRect().right - edge + EDGE;
    if (out > 0) this.list.style.left = `${-out}px`;
  }

  /**
   * @param {Found} found
   * @param {number} index
   */
  row(found, index) {
    const row = html("li", "av-found-row", found.title);
    row.id = `${this.list.id}-${index}`;
    row.dataset.index = String(index);
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(index === this.index));
    row.append(html("span", "av-found-kind", found.kind));
    return row;
  }

  close() {
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
  }
}
