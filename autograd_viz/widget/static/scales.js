// From the map to the figure and back, and steps of a whole card: over it, out of it.

import { button, html } from "./elements.js";

/** @typedef {import("./map_layout.js").MapData} MapData */
/** @typedef {import("./words.js").Say} Say */
/** @typedef {{ kind: string, id?: string }} Command */

export class Scales {
  /**
   * @param {{ map: MapData | undefined, hasMap: boolean, say: Say, act: (command: Command) => void, next: () => string,
   *   signal: AbortSignal }} context `hasMap`: this is a figure of which there is a map; `next` is the card that runs next
   */
  constructor({ map, hasMap, say, act, next, signal }) {
    this.map = map;
    this.hasMap = hasMap;
    this.send = act;
    this.next = next;
    this.root = html("span", "av-scales");
    const names = map ? (map.still ? [] : ["over_card", "out_of_card"]) : hasMap ? ["map"] : [];
    for (const name of names) {
      const made = button(name, say(`${name}_tip`), () => this.act(name), signal);
      made.textContent = say(name);
      this.root.append(made);
    }
  }

  /** @param {string} action "over_card", "out_of_card", "map" */
  act(action) {
    if (action === "map" && this.hasMap) this.send({ kind: "map" });
    const card = this.next();
    if (!this.map || !card || action === "map") return;
    const id = action === "over_card" ? card : this.map.cards[card]?.above;
    if (id) this.send({ kind: "leave", id });
  }

  /** @param {string} id of the card whose figure is drawn */
  figure(id) {
    if (this.map && !this.map.fixed && this.map.cards[id]?.nodes) this.send({ kind: "figure", id });
  }
}
