// Sliders on the leaves of a function. At each change Python runs it, and the figure gets the new numbers in place; a drag asks
// for its newest value alone.

import { textWidth } from "../shared/draw.js";
import { button, endOf, html } from "../shared/elements.js";
import { hideStill } from "../shared/still.js";
import { followTheme } from "../shared/theme.js";
import { sayer } from "../shared/words.js";
import { Details } from "../stage/details.js";
import { Stage } from "../stage/stage.js";
import { Present, seenHeight } from "../stepper/present.js";
import { Kernel } from "../pass/kernel.js";
import { listenToKeys, meaning } from "../toolbar/keys.js";
import { viewBar } from "../toolbar/view_bar.js";
import { alongLeaf } from "./curve.js";
import { LeafRow } from "./row.js";

/** @typedef {import("../pass/kernel.js").Model} Model */

const OVER_SLIDER = ["r", "d", "p", "b", ".", "+", "-", "0"];

const [UNDER_FIGURE, STAGE_EDGES, LEAVES_WIDE, LEAST_BESIDE] = [12, 4, 276, 760]; // px: below the stage, its borders, the sliders beside it, and the least width then

export class ExploreView {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.abort = new AbortController();
    const { signal } = this.abort;
    const data = model.get("data");
    this.say = sayer(data.words);
    this.root = html("div", "av-root av-unstepped av-explore");
    this.root.setAttribute("role", "group");
    this.root.setAttribute(
      "aria-label",
      this.say("explore_label", { names: data.leaves.map((/** @type {any} */ leaf) => leaf.name).join(", ") }),
    );
    const context = {
      say: this.say,
      moved: (/** @type {LeafRow} */ row) => this.ask(row),
      chosen: (/** @type {LeafRow} */ row) => row !== this.row && this.ask(row),
      signal,
    };
    this.rows = data.leaves.map((/** @type {any} */ leaf) => new LeafRow(leaf, context));
    /** @type {LeafRow} */
    this.row = this.rows.find((/** @type {LeafRow} */ row) => row.leaf.name === model.get("recorded").at.leaf) ?? this.rows[0];
    this.shape = -1;
    /** @type {any} the last question */
    this.asked = undefined;
    this.delta = html("input", "av-leaf-field av-delta");
    this.curve = html("div", "av-explore-curve");
    this.said = html("p", "av-explore-line");
    this.nudged = html("p", "av-explore-line");
    this.error = html("p", "av-error");
    this.place = html("div", "av-explore-place");
    /** @type {Record<string, string>} by address, what is written there */
    this.written = {};
    const bar = viewBar((action) => this.act(action), true, this.say, signal);
    this.present = new Present(this.root, bar.present, (on) => this.presented(on), signal);
    this.assemble(el, bar.root, signal);
    this.isFixed = data.runs?.length > 0;
    if (this.isFixed) this.fix();
    listenToKeys(this.root, (action) => this.act(action), signal);
    this.root.addEventListener("keydown", (event) => this.overSlider(event), { signal });
    this.kernel = new Kernel(model, { answered: () => {}, silent: () => this.tell({ error: this.say("explore_gone") }) });
    followTheme(this.root, data.palettes, signal, (palette) => {
      this.palette = palette;
      this.stage?.map.paint(palette);
    });
    if (data.mark) hideStill(data.mark, this.root, model.widget_manager?.kernel !== undefined, signal);
    const heard = () => [this.show(), this.kernel.heard()];
    model.on("change:recorded", heard);
    const resized = new ResizeObserver(() => this.resized());
    resized.observe(el);
    requestAnimationFrame(() => this.resized());
    signal.addEventListener("abort", () => {
      model.off("change:recorded", heard);
      resized.disconnect();
      this.drawn?.abort();
      this.kernel.rest();
    });
    this.show();
  }

  /**
   * @param {HTMLElement} el
   * @param {HTMLElement} bar
   * @param {AbortSignal} signal
   */
  assemble(el, bar, signal) {
    const reset = button("explore_reset", this.say("explore_reset_tip"), () => this.reset(), signal);
    reset.textContent = this.say("explore_reset");
    this.delta.inputMode = "decimal";
    this.delta.setAttribute("aria-label", this.say("explore_nudge"));
    this.delta.addEventListener("change", () => this.ask(this.row, Number(this.delta.value) || null), { signal });
    const nudge = html("label", "av-nudge", this.say("explore_nudge"));
    nudge.append(this.delta);
    const tools = html("div", "av-explore-tools");
    tools.append(reset, nudge, bar);
    const said = html("div", "av-explore-said");
    said.setAttribute("aria-live", "polite");
    said.append(this.said, this.nudged, this.error);
    const leaves = html("div", "av-leaves");
    leaves.append(...this.rows.map((/** @type {LeafRow} */ row) => row.root));
    const controls = html("div", "av-explore-controls");
    controls.append(tools, leaves, this.curve, said);
    this.root.append(controls, this.place);
    el.classList.add("av-host");
    el.append(this.root);
  }

  /** Only the chosen leaf has recorded runs. */
  fix() {
    const others = this.rows.filter((/** @type {LeafRow} */ row) => row !== this.row);
    for (const row of others) for (const input of [row.slider, row.field]) input.disabled = true;
    for (const select of this.root.querySelectorAll("select")) select.disabled = true;
    this.delta.disabled = true;
    this.error.after(html("p", "av-fixed", this.say("explore_recorded", { leaf: this.row.leaf.name })));
  }

  // -- what the user does -----------------------------------------------------------------------------------------------

  /** @param {string} action of a key or a button */
  act(action) {
    if (this.present.blanks(action === "blank")) return;
    if (action === "reset") this.reset();
    else if (action === "present") this.present.toggle();
    else if (action === "close") this.present.leave();
    else if (action === "detail") [this.details?.turn(), this.draw()];
    else this.stage?.act(action);
  }

  /** A slider has the arrows for itself, and no letters. @param {KeyboardEvent} event */
  overSlider(event) {
    const target = event.composedPath()[0];
    if (!(target instanceof HTMLInputElement) || target.type !== "range" || !OVER_SLIDER.includes(event.key)) return;
    event.preventDefault();
    this.act(meaning(event, this.present.isOn));
  }

  reset() {
    for (const row of this.rows) row.show(row.leaf.first);
    this.ask(this.row);
  }

  /**
   * @param {LeafRow} row
   * @param {number | null} [delta]
   */
  ask(row, delta) {
    const isSame = row === this.row && row.element === this.asked?.element;
    this.row = row;
    const values = Object.fromEntries(this.rows.map((/** @type {LeafRow} */ r) => [r.leaf.name, r.values]));
    this.asked = {
      kind: "move",
      leaf: row.leaf.name,
      element: row.element,
      delta: delta ?? (isSame ? this.asked?.delta : null),
      values: structuredClone(values),
    };
    this.kernel.ask([this.asked]);
  }

  // -- what is shown ----------------------------------------------------------------------------------------------------

  show() {
    const now = this.model.get("recorded");
    const { at, values, grads, curve, output, grad, nudged } = now;
    const isNewest = !this.kernel?.waiting.length; // else a drag has gone on
    for (const row of this.rows) {
      const isHeld = row.root.contains(document.activeElement) || row.root.matches(":active");
      if (row.leaf.name === at.leaf && row.element === at.element)
        row.bounds[at.element] = Math.max(at.bound, row.bounds[at.element]);
      if (isNewest && !isHeld) row.show(values[row.leaf.name]);
      else if (this.isFixed) row.name(values[row.leaf.name]); // the run that is shown, next to where the slider is
      row.grad.textContent = `grad ${grads[row.leaf.name] ?? "\u2013"}`;
      row.root.classList.toggle("av-leaf-chosen", row.leaf.name === at.leaf);
    }
    this.delta.value = String(Number(at.delta.toPrecision(4)));
    const value = values[at.leaf][at.element];
    const label = this.say("explore_curve", { leaf: at.leaf });
    this.curve.replaceChildren(alongLeaf(curve, { value, output, grad, delta: at.delta, nudged }, label));
    this.tell(now);
    if (now.shape !== this.shape) this.pictured(now.shape);
    this.write(now);
  }

  /** @param {{ said?: string, redrawn?: string, nudge?: string, error?: string }} now */
  tell({ said = "", redrawn = "", nudge = "", error = "" }) {
    this.said.textContent = [said, redrawn].filter(Boolean).join(" ");
    this.nudged.textContent = nudge;
    this.error.textContent = error;
  }

  /** @param {number} shape of the graph */
  pictured(shape) {
    const picture = this.model.get("data").pictures[shape];
    if (!picture) return;
    this.shape = shape;
    const before = this.details;
    this.picture = picture;
    this.details = new Details(picture);
    if (before) this.details.goOn(before);
    this.draw();
  }

  /** The figure, anew. */
  draw() {
    const { details, picture, say } = this;
    if (!details || !picture) return;
    this.drawn?.abort();
    this.drawn = new AbortController();
    this.stage = new Stage({
      ...{ svg: details.svg, full: details.isShort ? details.full : "", opensCalled: false, document: picture.document },
      ...{ forward: [], ready: "", say, open: () => {}, toggle: () => {}, signal: this.drawn.signal },
      select: (id) => this.rows.find((/** @type {LeafRow} */ row) => row.leaf.id === id)?.slider.focus(),
    });
    if (this.palette) this.stage.map.paint(this.palette);
    this.place.replaceChildren(this.stage.root, this.stage.map.root);
    this.written = {};
    this.stage.presents(this.present.isOn);
    this.write(this.model.get("recorded"));
    this.resized();
  }

  /**
   * Titles of boxes have values where there are no rows for them.
   * @param {Record<string, Record<string, string>>} titles by detail and tensor
   */
  title(titles) {
    if (!this.stage || !this.details) return;
    const { picture } = this.stage;
    for (const [id, text] of Object.entries(titles[this.details.now] ?? {})) {
      const line = picture.at([id])[0]?.querySelector(":scope > text");
      const box = picture.boxes.get(id);
      if (!line || !box || line.textContent === text) continue;
      line.setAttribute("font-size", String(Math.min(13, (box.w - 12) / textWidth(text, 1))));
      (line.querySelector("tspan") ?? line).textContent = text;
    }
  }

  /** @param {{ titles: Record<string, Record<string, string>>, lines: Record<string, import("../shared/draw.js").Lines>, shape: number }} now */
  write({ lines, titles, shape }) {
    if (!this.stage || shape !== this.shape) return;
    /** @type {any} */
    const frame = { node: "", changes: [], fresh: [], moves: [], came: [] };
    for (const [at, said] of Object.entries(lines)) {
      const text = JSON.stringify(said);
      if (this.written[at] !== text) frame.changes.push([at, said, said]);
      this.written[at] = text;
    }
    this.stage.picture.write(frame, 2);
    this.title(titles);
    const all = Object.entries(lines).map(([at, said]) => [at, said, said]);
    this.stage.picture.shown = [{ ...frame, changes: all }];
    this.stage.picture.light(this.row.leaf.id, []);
    this.stage.peekNow();
  }

  /** @param {boolean} on */
  presented(on) {
    this.stage?.presents(on);
    this.resized();
  }

  resized() {
    const { stage, details, root, place } = this;
    if (!stage || !details || !root.clientWidth || this.abort.signal.aborted) return;
    root.classList.remove("av-beside");
    const [seen, width] = [seenHeight(root), place.clientWidth - STAGE_EDGES];
    const under = { width, height: seen - place.offsetTop - UNDER_FIGURE };
    const beside = { width: width - LEAVES_WIDE, height: width < LEAST_BESIDE ? 0 : seen - 2 * UNDER_FIGURE };
    const page = `${width} ${seen} ${stage.presented} ${this.shape}`;
    const isOther = details.choose(page, (svg) => stage.readingOf(svg).whole, under, beside);
    const scale = (/** @type {{ width: number, height: number }} */ room) =>
      Math.min(stage.readingOf(details.svg).whole, room.width / stage.picture.width, room.height / stage.picture.height);
    root.classList.toggle("av-beside", scale(beside) > scale(under));
    if (isOther) return this.draw();
    stage.resized(place.clientWidth, seen, false);
    stage.follow();
  }
}

/** @param {{ model: Model, el: HTMLElement }} context */
export function renderExplore({ model, el }) {
  return endOf(new ExploreView(model, el), el);
}

export default { render: renderExplore };
