// The panel that shows what a person wants to look into: a node, a tensor or an op, and the engine below.

import { enginePanel } from "./engine_panel.js";
import { EditDraft, editsAt } from "./edit_form.js";
import { groupPanel, memberPanel, pathPanel } from "./group_panel.js";
import { closedGroup, wholeGroups } from "../pass/groups.js";
import { moved } from "../shared/heatmap.js";
import { PassHistory } from "../pass/history.js";
import { wordsOf } from "./look.js";
import { withinCards } from "../map/layout.js";
import { cardPanel, moduleTree } from "./map_panel.js";
import { nodePanel, nodeSubtitle } from "./node_panel.js";
import { pinSection } from "./pins.js";
import { Program } from "../pass/program.js";
import { same } from "../pass/stops.js";
import { opPanel, tensorPanel } from "./tensor_panel.js";
import { messageAt, patch, tree } from "../shared/tree.js";

/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../shared/tree.js").Tree} Tree */
/** @typedef {import("../shared/tree.js").Message} Message */
/**
 * @typedef {object} Given
 * @property {Record<string, string>} words the UI's texts by key
 * @property {import("../pass/program.js").Doc} document
 * @property {Partial<import("../pass/groups.js").Groups>} [groups]
 * @property {import("../map/picture.js").MapPicture} [cards] the map, if it is one
 * @property {(message: Message) => void} act
 * @property {AbortSignal} signal
 */
/**
 * @typedef {object} Shown
 * @property {number} step where the stepper stands; negative in the forward pass
 * @property {import("../pass/history.js").Recorded[]} frames
 * @property {string | null} [selection] id of a node, tensor or op; else the panel follows the pass
 * @property {import("../pass/history.js").Engine} [startEngine]
 * @property {Record<string, string>} [why] by tensor id
 * @property {boolean} [complete]
 * @property {number} [total]
 * @property {string[]} [stops] ids of nodes with a breakpoint
 * @property {import("./edit_form.js").Pending} [pending]
 * @property {import("./pins.js").Pin[]} [pins]
 * @property {import("./edit_form.js").Effect} [effect]
 * @property {string} [ran]
 * @property {[box: string, name: string][]} [ready]
 * @property {import("./meanwhile.js").Meanwhile} [meanwhile] what the notebook has changed
 */

const UNTOUCHED = { overlay: {}, spoiled: {}, rewritten: {} };

export class Inspector {
  /** @param {Given} given */
  constructor({ words, document: doc, groups, cards, act, signal }) {
    this.cards = cards;
    this.word = wordsOf(words);
    this.groups = wholeGroups(groups);
    this.program = new Program(doc);
    this.history = new PassHistory(undefined);
    this.act = act;
    this.draft = new EditDraft(
      (message) => act(message),
      () => this.draw(),
      signal,
    );
    /** @type {Shown} */
    this.shown = { step: 0, frames: [] };
    /** @type {import("./look.js").Pointed | null} */
    this.pointed = null;
    this.root = Object.assign(document.createElement("section"), { className: "av-inspector" });
    this.root.setAttribute("aria-label", this.word("panel"));
    this.root.tabIndex = -1;
    this.listen(signal);
  }

  /** @param {Shown} shown */
  show(shown) {
    this.shown = shown;
    this.history.start = shown.startEngine ?? {};
    this.history.goto(shown.frames, shown.step);
    this.draw();
  }

  draw() {
    const scope = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    const hadFocus = this.root.contains(scope.activeElement);
    patch(this.root, this.content());
    // what had the focus is gone: keep it in the panel, JupyterLab would take it otherwise
    if (hadFocus && !this.root.contains(scope.activeElement)) this.root.focus({ preventScroll: true });
  }

  /** @returns {Tree[]} */
  content() {
    const look = this.look();
    const id = this.target(look);
    const summary = tree("summary", {}, [this.word("engine")]);
    const once = { open: "" };
    const engine = tree("details", { class: "av-i-engine" }, [summary, ...enginePanel(look)], { key: "engine", once });
    const panel = id === null ? tree("p", { class: "av-i-note" }, [this.word("nothing_selected")]) : this.panelOf(look, id);
    const modules = this.cards ? [moduleTree(look, this.cards, id)] : [];
    return this.shown.step < 0 ? [panel, ...modules] : [panel, ...modules, engine]; // in the forward pass there is no engine yet
  }

  /**
   * @param {Look} look
   * @param {string} id
   * @returns {Tree}
   */
  panelOf(look, id) {
    const { program, groups } = this;
    if (this.cards && id in this.cards.map.cards) {
      const panel = cardPanel(look, this.cards, id);
      return { ...panel, children: [...panel.children, ...memberPanel(look, id, withinCards(this.cards.map))] };
    }
    if (closedGroup(groups, id)) return this.panelOfGroup(look, id);
    const [node, tensor, op] = [program.nodeById.get(id), program.tensorById.get(id), program.opById.get(id)];
    const kind = this.word(`${program.kind(id)}_panel`);
    const name = node ? node.name : program.label(id, this.word("unnamed"));
    const title = tree("h3", { class: "av-i-title", tabindex: -1 }, [tree("bdi", {}, [name])]);
    const more = node ? nodeSubtitle(look, node) : [tensor?.value.dtype];
    const subtitle = tree("p", { class: "av-i-subtitle" }, [kind, more[0] && " · ", ...more]);
    const body = node ? nodePanel(look, node) : tensor ? tensorPanel(look, tensor) : op ? opPanel(look, op) : [];
    const parts = [title, subtitle, ...body, ...pinSection(look, id), ...pathPanel(look, groups, id)];
    return tree("div", { class: "av-i-panel" }, parts, { key: `panel of a ${program.kind(id)}` });
  }

  /**
   * @param {Look} look
   * @param {string} id of its op or node
   * @returns {Tree}
   */
  panelOfGroup(look, id) {
    const { program, groups } = this;
    const [op, node] = [program.opById.get(id), program.nodeById.get(id)];
    const name = groups.closed[closedGroup(groups, id)].title;
    const title = tree("h3", { class: "av-i-title", tabindex: -1 }, [tree("bdi", {}, [name])]);
    const count = op
      ? this.word("group_ops", { count: op.members ?? 0 })
      : this.word("group_nodes", { count: node?.members ?? 0 });
    const members = memberPanel(look, id, same);
    const parts = [
      title,
      tree("p", { class: "av-i-subtitle" }, [count]),
      ...members,
      ...groupPanel(look, groups, id),
      ...pathPanel(look, groups, id),
    ];
    return tree("div", { class: "av-i-panel" }, parts, { key: "panel of a group" });
  }

  /**
   * What was selected, else what ran last, else what runs next.
   * @param {Look} look
   */
  target(look) {
    const { selection, step } = this.shown;
    if (selection && (this.program.kind(selection) || selection in (this.cards?.map.cards ?? {}))) return selection;
    if (step < 0) return this.program.ops[Math.max(0, this.program.ops.length + step - 1)]?.id ?? null;
    return this.history.current?.node ?? look.next;
  }

  /** @returns {Look} */
  look() {
    const { step, total = 0, complete = false, why = {}, stops = [], pending = {}, meanwhile = UNTOUCHED } = this.shown;
    const { pins = [], ran = "", ready = [], effect = {} } = this.shown;
    const { word, program, history, pointed } = this;
    const first = history.position === 0 ? program.edgeOf(program.roots[0]).split(".")[0] : null;
    const next = history.nextNode ?? (first && program.nodeById.has(first) ? first : null);
    const edits = editsAt(history, pending);
    return {
      word,
      program,
      history,
      step,
      total,
      complete,
      why,
      stops,
      pointed,
      next,
      edits,
      pins,
      ran,
      ready,
      draft: this.draft.now(effect),
      ...meanwhile,
    };
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { root } = this;
    root.addEventListener("click", (event) => this.clicked(/** @type {Element} */ (event.composedPath()[0])), { signal });
    root.addEventListener("submit", (event) => this.draft.submitted(event), { signal });
    root.addEventListener("input", (event) => this.draft.changed(/** @type {HTMLElement} */ (event.composedPath()[0])), {
      signal,
    });
    root.addEventListener("keydown", (event) => this.pressed(event), { signal });
    root.addEventListener("pointermove", (event) => this.hovered(/** @type {Element} */ (event.composedPath()[0])), { signal });
    root.addEventListener("pointerleave", () => this.point(null), { signal });
    root.addEventListener("focusin", (event) => this.focused(/** @type {Element} */ (event.composedPath()[0])), { signal });
  }

  /** @param {Element} target */
  clicked(target) {
    const message = messageAt(target);
    if (!message) return;
    if (message.kind === "fold") {
      this.cards?.fold(message.id);
      return this.draw();
    }
    this.act(message);
    if (message.kind !== "select") return;
    // a screen reader goes on reading at the title of what was chosen
    const title = /** @type {HTMLElement | null} */ (this.root.querySelector(".av-i-title"));
    title?.focus({ preventScroll: true });
    this.root.scrollTop = 0;
  }

  /**
   * Arrow keys walk over a heat map; what is typed into a field is nobody else's.
   * @param {KeyboardEvent} event
   */
  pressed(event) {
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
    const isOwn =
      ["INPUT", "SELECT"].includes(target.tagName) || (target.tagName === "SUMMARY" && [" ", "Enter"].includes(event.key));
    if (isOwn && event.key !== "Tab" && event.key !== "Escape") event.stopPropagation();
    const key = target.dataset.heat;
    const grid = key === undefined || event.ctrlKey || event.metaKey || event.altKey ? null : this.gridAt(target);
    if (!grid || key === undefined) return;
    const here = this.pointed?.key === key ? this.pointed.index : -1;
    const index = here < 0 && event.key.startsWith("Arrow") ? 0 : moved(grid, here, event.key);
    if (index === null) return;
    event.preventDefault();
    event.stopPropagation();
    this.point({ key, index });
  }

  /**
   * How many rows and columns a drawn heat map has.
   * @param {Element} drawing
   */
  gridAt(drawing) {
    const cells = [...drawing.querySelectorAll("[data-index]")];
    const columns = new Set(cells.map((c) => c.getAttribute("x"))).size;
    return { rows: cells.length / columns, columns, numbers: cells.map(() => 0), slab: 1, isBlocks: false };
  }

  /** @param {Element} target */
  hovered(target) {
    const index = target.getAttribute("data-index");
    const key = target.closest("[data-heat]")?.getAttribute("data-heat");
    if (index !== null && key) this.point({ key, index: Number(index) });
  }

  /** @param {Element} target */
  focused(target) {
    const key = target.getAttribute("data-heat");
    if (key && this.pointed?.key !== key) this.point({ key, index: 0 });
  }

  /** @param {import("./look.js").Pointed | null} pointed */
  point(pointed) {
    if (pointed?.key === this.pointed?.key && pointed?.index === this.pointed?.index) return;
    this.pointed = pointed;
    this.draw();
  }
}
