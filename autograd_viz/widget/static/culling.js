// In a large picture only the boxes near what is seen are drawn, and words only where they can be read: a step then costs
// the same in a picture of ten boxes and of two thousand.

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./viewport.js").Viewport} Viewport */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Region */

const WHOLE = 150; // boxes; up to so many, everything is drawn
const AROUND = 1; // how many stages around the stage are drawn
const LEGIBLE = 0.16; // scale below which words are left out

/**
 * What is seen, with some space around, in the coordinates of the drawing.
 * @param {Viewport} viewport
 * @param {number} around in stages
 * @returns {Region}
 */
export function regionOf({ view, room, picture }, around) {
  const [w, h] = [room.width / view.scale, room.height / view.scale];
  const [left, top] = [picture.x - view.x / view.scale, picture.y - view.y / view.scale];
  return { left: left - around * w, top: top - around * h, right: left + (1 + around) * w, bottom: top + (1 + around) * h };
}

/**
 * Does a region hold another?
 * @param {Region} a
 * @param {Region} b
 */
export function holds(a, b) {
  return a.left <= b.left && a.top <= b.top && a.right >= b.right && a.bottom >= b.bottom;
}

export class Culling {
  /**
   * @param {Picture} picture
   * @param {Viewport} viewport
   */
  constructor(picture, viewport) {
    this.picture = picture;
    this.viewport = viewport;
    this.isNeeded = picture.boxes.size > WHOLE;
    /** @type {Region} what is drawn */
    this.region = { left: 0, top: 0, right: 0, bottom: 0 };
    this.scale = 0;
    /** @type {Set<string>} */
    this.left = new Set();
    this.far = false;
  }

  /** After every movement; does something only where the drawn region is left. */
  show() {
    const { viewport } = this;
    if (!this.isNeeded || !viewport.room.width) return;
    const far = viewport.view.scale < LEGIBLE;
    if (far !== this.far) this.picture.svg.classList.toggle("far", far);
    this.far = far;
    const same = viewport.view.scale >= this.scale / 2 && viewport.view.scale <= this.scale * 2;
    if (same && holds(this.region, regionOf(viewport, 0.1))) return;
    this.scale = viewport.view.scale;
    this.region = regionOf(viewport, AROUND);
    this.draw(this.region);
  }

  /** @param {Region} region */
  draw(region) {
    for (const [id, box] of this.picture.boxes) {
      const out = box.x > region.right || box.x + box.w < region.left || box.y > region.bottom || box.y + box.h < region.top;
      if (out === this.left.has(id)) continue;
      if (out) this.left.add(id);
      else this.left.delete(id);
      for (const element of this.picture.places.get(id) ?? []) element.classList.toggle("away", out);
    }
  }
}
