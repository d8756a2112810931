// A run that is watched: its heat map, what is odd in it, and a step that is opened.

import { button, endOf, html } from "../shared/elements.js";
import { Canvas } from "./canvas.js";
import { hideStill } from "../shared/still.js";
import { followTheme, isDark } from "../shared/theme.js";
import { sayer } from "../shared/words.js";

/** @typedef {import("./scale.js").RunData} RunData */
/** @typedef {{ get(name: string): any, on(event: string, listener: () => void): void, off(event: string, listener: () => void): void, send?(message: unknown): void, widget_manager?: { kernel?: unknown } }} RunModel */

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], Home: [-1e6, 0], End: [1e6, 0] };

class RunView {
  /**
   * @param {RunModel} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.abort = new AbortController();
    const { signal } = this.abort;
    /** @type {RunData} */
    const data = model.get("data");
    this.say = sayer(data.words);
    this.root = html("div", "av-run");
    this.root.lang = data.language === "zh" ? "zh-Hans" : "en";
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", data.title);
    this.head = html("p", "av-run-head");
    this.canvas = new Canvas(
      (said) => this.tell(said),
      (step) => this.pick(step),
      signal,
    );
    this.canvas.root.setAttribute("aria-label", this.say("help"));
    this.said = html("p", "av-run-said");
    this.said.setAttribute("aria-live", "polite");
    this.odd = html("ul", "av-run-odd");
    this.buttons = html("div", "av-run-buttons");
    this.pass = html("div", "av-run-pass");
    this.root.append(this.head, this.odd, this.buttons, this.said, this.canvas.root, this.pass);
    el.append(this.root);
    this.isSeen = true;
    this.listen(signal);
    followTheme(this.root, data.palettes, signal, (palette) => this.canvas.paintWith(palette));
    if (data.mark) hideStill(data.mark, this.root, model.widget_manager?.kernel !== undefined, signal);
    this.show();
    this.showPass();
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    /** @type {[string, () => void][]} */
    const heard = [
      ["change:data", () => this.isSeen && this.show()],
      ["change:opened", () => this.showPass()],
    ];
    for (const [event, act] of heard) this.model.on(event, act);
    const seen = new IntersectionObserver(([entry]) => {
      this.isSeen = entry.isIntersecting;
      if (this.isSeen) this.show(); // what came while nobody looked
    });
    seen.observe(this.root);
    const resized = new ResizeObserver(() => this.canvas.resized(this.canvas.root.clientWidth));
    resized.observe(this.root);
    this.canvas.root.addEventListener("keydown", (event) => this.press(event), { signal });
    signal.addEventListener("abort", () => {
      for (const [event, act] of heard) this.model.off(event, act);
      seen.disconnect();
      resized.disconnect();
    });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.stopPropagation(); // JupyterLab's own keys
    if (event.key in MOVES) this.canvas.move(...MOVES[event.key]);
    else if (event.key === "Enter") this.canvas.toggleCurve();
    else if (event.key === "s") this.open(this.canvas.step);
    else return;
    event.preventDefault();
  }

  /** @param {number} step */
  pick(step) {
    /** @type {RunData} */
    const data = this.model.get("data");
    if (data.opened.includes(step)) this.open(step);
  }

  /** @param {number} step */
  open(step) {
    this.model.send?.({ kind: "open", step, theme: isDark(this.root) ? "dark" : "light" });
  }

  /** @param {string} said */
  tell(said) {
    this.said.textContent = said;
  }

  show() {
    /** @type {RunData} */
    const data = this.model.get("data");
    this.head.replaceChildren(html("strong", "", data.title), ` ${data.class_state}`);
    if (data.is_live) this.head.append(html("span", "av-run-live", this.say("live")));
    this.canvas.show(data, this.say);
    const sentences = [
      ...(data.stopped ? data.stopped.split("\n").map((sentence) => ({ row: -1, sentence })) : []),
      ...data.odd,
    ];
    this.root.classList.toggle("av-run-alarm", sentences.length > 0);
    this.odd.replaceChildren(
      ...(sentences.length ? sentences.map((o) => this.sentence(o)) : [html("li", "", this.say("nothing_odd"))]),
    );
    this.odd.hidden = !sentences.length && !data.is_judged;
    if (this.model.send) this.buttons.replaceChildren(...data.opened.map((step) => this.opener(step)));
  }

  /** @param {{ row: number, sentence: string }} odd */
  sentence({ row, sentence }) {
    const item = html("li", "", row < 0 ? sentence : "");
    if (row >= 0) {
      const link = html("button", "av-run-link", sentence);
      link.type = "button";
      link.addEventListener("click", () => this.canvas.showRow(row), { signal: this.abort.signal });
      item.append(link);
    }
    return item;
  }

  /** @param {number} step */
  opener(step) {
    const said = step < 0 ? this.say("open_last") : this.say("open", { step });
    const made = button("run_open", said, () => this.open(step), this.abort.signal);
    made.textContent = said;
    return made;
  }

  /** The map of the step that was opened, or why it cannot be. */
  showPass() {
    const { svg = "", said = "" } = this.model.get("opened") ?? {};
    this.pass.replaceChildren();
    if (said) this.pass.append(html("p", "av-run-said", said));
    if (!svg) return;
    const image = html("img", "av-run-map");
    image.alt = said;
    image.src = `data:image/svg+xml;base64,${svg}`;
    this.pass.append(image);
  }
}

/** @param {{ model: RunModel, el: HTMLElement }} context */
export function renderRun({ model, el }) {
  return endOf(new RunView(model, el), el);
}

export default { render: renderRun };
