// From the map to the figure and back; steps over what is next, into it, and out of what is around it.

import { button, html } from "../shared/elements.js";
import { closedGroup, partsAround } from "../pass/groups.js";

/** @typedef {import("../pass/groups.js").Groups} Groups */
/** @typedef {import("../map/picture.js").MapPicture} MapPicture */
/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {{ kind: string, id?: string }} Command */
/**
 * @typedef {object} ScalesContext
 * @property {MapPicture} [cards] the map, if this is one
 * @property {Groups} groups those of a figure
 * @property {boolean} hasMap there is a map
 * @property {Say} say
 * @property {(command: Command) => void} act
 * @property {() => string} next the box that runs next, or ""
 * @property {AbortSignal} signal
 */

export class Scales {
  /** @param {ScalesContext} context */
  constructor({ cards, groups, hasMap, say, act, next, signal }) {
    this.cards = cards;
    this.groups = groups;
    this.hasMap = hasMap && !cards;
    this.send = act;
    this.next = next;
    this.root = html("span", "av-scales");
    const isStepped = cards ? !cards.map.still : Object.keys({ ...groups.opened, ...groups.closed }).length > 0;
    const names = isStepped ? ["step_over", ...(cards || !groups.fixed ? ["step_into"] : []), "step_out"] : [];
    for (const name of this.hasMap ? [...names, "map"] : names) {
      const made = button(name, say(`${name}_tip`), () => this.act(name), signal);
      made.textContent = say(name);
      this.root.append(made);
    }
  }

  /** @param {string} action "step_over", "step_into", "step_out", "map" */
  act(action) {
    if (action === "map") return this.hasMap && this.send({ kind: "map" });
    const next = this.next();
    if (!next) return;
    if (action === "step_into") return this.into(next);
    const part = action === "step_over" ? this.partOf(next) : this.around(next);
    this.send(part ? { kind: "leave", id: part } : { kind: "walk", id: action === "step_over" ? "next" : "finish" });
  }

  /**
   * The card or closed group that a box is, or "" for a single node.
   * @param {string} box
   */
  partOf(box) {
    return this.cards || closedGroup(this.groups, box) ? box : "";
  }

  /**
   * The innermost card or open group around a box; "" if there is none.
   * @param {string} box
   */
  around(box) {
    return this.cards ? this.cards.map.cards[box]?.above : (partsAround(this.groups, box)[0] ?? "");
  }

  /**
   * Open what is next; a card without cards is opened as a figure. A single node is called.
   * @param {string} box
   */
  into(box) {
    const { cards, groups } = this;
    if (cards?.canOpen(box) && !cards.opened.has(box)) {
      this.send({ kind: "card", id: box });
      this.send({ kind: "jump", id: this.next() });
    } else if (cards ? !cards.map.fixed : this.partOf(box)) {
      if (cards || !groups.fixed) this.send({ kind: "into" });
    } else this.send({ kind: "walk", id: "next" });
  }

  /** @param {string} id of the card whose figure is drawn */
  figure(id) {
    const { cards } = this;
    if (cards && !cards.map.fixed && cards.map.cards[id]?.nodes) this.send({ kind: "figure", id });
  }
}
