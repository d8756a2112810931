// Two passes side by side as a page: what is pointed at on one side, or walked to with the arrow keys, is lit on both.

import { html } from "./elements.js";
import { followSystem } from "./file_theme.js";

/** @typedef {Record<string, string | number | boolean | null>} DiffRow */
/**
 * @typedef {object} DiffData
 * @property {Record<string, string>} pictures SVG by theme
 * @property {Record<string, string>} partners by card of the first side, the card of the second
 * @property {string[]} sentences
 * @property {{ title: string, rows: DiffRow[] }[]} tables
 * @property {string} help
 */

class DiffPage {
  /** @param {DiffData} data @param {HTMLElement} place */
  constructor(data, place) {
    this.back = new Map(Object.entries(data.partners).map(([a, b]) => [b, a]));
    this.partners = data.partners;
    const said = html("div", "av-unseen");
    said.setAttribute("aria-live", "polite");
    this.said = said;
    place.append(...data.sentences.map((sentence) => html("p", "av-unseen", sentence)), said);
    for (const [theme, source] of Object.entries(data.pictures)) place.append(this.picture(theme, source, data.help));
    for (const { title, rows } of data.tables) if (rows.length) place.append(html("h2", "", title), diffTable(rows));
  }

  /** @param {string} theme @param {string} source @param {string} help */
  picture(theme, source, help) {
    const held = html("div", `av-diff-picture av-diff-${theme}`);
    held.tabIndex = 0;
    held.setAttribute("role", "application");
    held.setAttribute("aria-label", help);
    held.append(document.adoptNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement));
    held.addEventListener("pointerover", (event) => this.light(held, event.target));
    held.addEventListener("pointerleave", () => this.clear());
    held.addEventListener("keydown", (event) => this.walk(held, event));
    return held;
  }

  /** @param {HTMLElement} held @param {EventTarget | null} target */
  light(held, target) {
    const card = target instanceof Element ? target.closest(".card") : null;
    this.clear();
    if (!card) return;
    const side = card.closest(".side-0") ? 0 : 1;
    const id = card.getAttribute("data-at") ?? "";
    const partner = side ? this.back.get(id) : this.partners[id];
    card.classList.add("av-diff-lit");
    this.said.textContent = card.querySelector("text")?.textContent ?? "";
    if (partner) held.querySelector(`.side-${1 - side} .card[data-at="${CSS.escape(partner)}"]`)?.classList.add("av-diff-lit");
  }

  clear() {
    for (const card of document.querySelectorAll(".av-diff-lit")) card.classList.remove("av-diff-lit");
  }

  /** @param {HTMLElement} held @param {KeyboardEvent} event */
  walk(held, event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const cards = [...held.querySelectorAll(".side-0 .card")];
    const here = cards.findIndex((card) => card.classList.contains("av-diff-lit"));
    const next = cards[Math.min(cards.length - 1, Math.max(0, here + step))];
    this.light(held, next);
    next.scrollIntoView({ block: "nearest" });
  }
}

/** @param {DiffRow[]} rows */
function diffTable(rows) {
  const [scroll, table] = [html("div", "av-diff-scroll"), html("table", "")];
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
  return scroll;
}

/** @param {string | number | boolean | null} value */
function diffText(value) {
  if (value === null) return "";
  return typeof value === "number" && !Number.isInteger(value) ? value.toPrecision(3) : String(value);
}

const diffPlace = document.getElementById("av-stepper");
const diffData = JSON.parse(document.getElementById("av-recording")?.textContent ?? "{}");
followSystem(diffData.pictures ?? {});
if (diffPlace) new DiffPage(diffData, diffPlace);
