// How much of a box is drawn: near, all its rows; far out, where nobody could read them, a coloured block with a name.

import { svgElement } from "../shared/draw.js";

/** @typedef {import("../figure/picture.js").Picture} Picture */
/** @typedef {import("./viewport.js").Viewport} Viewport */

const FAR = 0.34; // scale below which rows cannot be read
const WIDE = 0.62; // width of a letter, in its size
const TALLEST = 72; // px of the drawing

/**
 * The size at which a name fills its box.
 * @param {string} name
 * @param {{ w: number, h: number }} box
 */
export function nameSize(name, { w, h }) {
  return Math.min(TALLEST, 0.6 * h, (0.9 * w) / (WIDE * Math.max(1, name.length)));
}

export class Detail {
  /**
   * @param {Picture} picture
   * @param {Viewport} viewport
   * @param {(id: string) => string} title of a box
   */
  constructor(picture, viewport, title) {
    this.picture = picture;
    this.viewport = viewport;
    this.title = title;
    this.isFar = false;
    this.isNamed = false;
  }

  /** After every movement. */
  show() {
    const isFar = this.viewport.room.width > 0 && this.viewport.view.scale < FAR;
    if (isFar === this.isFar || this.picture.boxes.values().next().value?.id.startsWith("c")) return; // a card is read from far too
    this.isFar = isFar;
    if (isFar && !this.isNamed) this.name();
    this.picture.svg.classList.toggle("av-far", isFar);
  }

  /** Write the names, hidden until they are wanted; at the first time only. */
  name() {
    this.isNamed = true;
    this.picture.at(this.picture.boxes.keys()); // all in one go
    for (const [id, box] of this.picture.boxes) {
      const name = this.title(id);
      const size = nameSize(name, box);
      const place = { x: box.x + box.w / 2, y: box.y + box.h / 2 + 0.35 * size, "font-size": size, "text-anchor": "middle" };
      const text = svgElement("text", { ...place, class: "av-name f-text", "aria-hidden": "true" });
      text.textContent = name;
      this.picture.at([id])[0]?.append(text);
    }
  }
}
