// Two passes side by side: what is pointed at on one side, or walked to with the arrow keys, is lit on both.

import { html } from "../shared/elements.js";
import { hideStill } from "../shared/still.js";
import { followTheme } from "../shared/theme.js";

/** @typedef {Record<string, string | number | boolean | null>} DiffRow */
/**
 * @typedef {object} DiffData
 * @property {string} title
 * @property {string} language
 * @property {Record<string, string>} pictures SVG by theme
 * @property {Record<string, Record<string, string>>} palettes colours by theme
 * @property {Record<string, string>} partners by card of the first side, the card of the second
 * @property {string[]} sentences
 * @property {{ title: string, rows: DiffRow[] }[]} tables
 * @property {string} help
 * @property {string} [mark]
 */
/** @typedef {{ get(name: string): any, widget_manager?: { kernel?: unknown } }} DiffModel */

class DiffView {
  /** @param {DiffModel} model @param {HTMLElement} el */
  constructor(model, el) {
    this.abort = new AbortController();
    const { signal } = this.abort;
    /** @type {DiffData} */
    const data = model.get("data");
    this.partners = data.partners;
    this.back = new Map(Object.entries(data.partners).map(([a, b]) => [b, a]));
    this.root = html("div", "av-diff");
    this.root.lang = data.language === "zh" ? "zh-Hans" : "en";
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", data.title);
    this.said = html("p", "av-unseen");
    this.said.setAttribute("aria-live", "polite");
    this.held = html("div", "av-diff-picture");
    this.held.tabIndex = 0;
    this.held.setAttribute("role", "application");
    this.held.setAttribute("aria-label", data.help);
    this.root.append(...data.sentences.map((sentence) => html("p", "av-unseen", sentence)), this.said, this.held);
    for (const { title, rows } of data.tables) if (rows.length) this.root.append(diffTable(title, rows));
    el.append(this.root);
    this.listen(signal);
    followTheme(this.root, data.palettes, signal, (palette) => this.paint(data, palette));
    if (data.mark) hideStill(data.mark, this.root, model.widget_manager?.kernel !== undefined, signal);
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    this.held.addEventListener("pointerover", (event) => this.light(event.target), { signal });
    this.held.addEventListener("pointerleave", () => this.clear(), { signal });
    this.held.addEventListener("keydown", (event) => this.walk(event), { signal });
  }

  /** @param {DiffData} data @param {Record<string, string>} palette */
  paint(data, palette) {
    const theme = Object.keys(data.palettes).find((name) => data.palettes[name] === palette) ?? "";
    const source = data.pictures[theme] ?? Object.values(data.pictures)[0];
    this.held.replaceChildren(document.adoptNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement));
  }

  /** @param {EventTarget | null} target */
  light(target) {
    const card = target instanceof Element ? target.closest(".card") : null;
    this.clear();
    if (!card) return;
    const side = card.closest(".side-0") ? 0 : 1;
    const id = card.getAttribute("data-at") ?? "";
    const partner = side ? this.back.get(id) : this.partners[id];
    card.classList.add("av-diff-lit");
    this.said.textContent = card.querySelector("text")?.textContent ?? "";
    if (partner)
      this.held.querySelector(`.side-${1 - side} .card[data-at="${CSS.escape(partner)}"]`)?.classList.add("av-diff-lit");
  }

  clear() {
    for (const card of this.held.querySelectorAll(".av-diff-lit")) card.classList.remove("av-diff-lit");
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation(); // JupyterLab's own keys
    const cards = [...this.held.querySelectorAll(".side-0 .card")];
    const here = cards.findIndex((card) => card.classList.contains("av-diff-lit"));
    const next = cards[Math.min(cards.length - 1, Math.max(0, here + step))];
    this.light(next);
    next.scrollIntoView({ block: "nearest" });
  }
}

/** @param {string} title @param {DiffRow[]} rows */
function diffTable(title, rows) {
  const [folded, scroll, table] = [html("details", ""), html("div", "av-diff-scroll"), html("table", "")];
  folded.append(html("summary", "", title), scroll);
  const head = html("tr", "");
  head.append(...Object.keys(rows[0]).map((name) => html("th", "", name)));
  table.append(head);
  for (const row of rows) {
    const line = html("tr", row.beyond ? "av-diff-beyond" : "");
    line.append(...Object.values(row).map((value) => html("td", "", diffText(value))));
    table.append(line);
  }
  scroll.tabIndex = 0;
  scroll.append(table);
  return folded;
}

/** @param {string | number | boolean | null} value */
function diffText(value) {
  if (value === null) return "";
  return typeof value === "number" && !Number.isInteger(value) ? value.toPrecision(3) : String(value);
}

/** @param {{ model: DiffModel, el: HTMLElement }} given */
export function renderDiff({ model, el }) {
  const view = new DiffView(model, el);
  return () => view.abort.abort();
}

export default { render: renderDiff };
