// In a large picture only what is near to what is seen is drawn (and of that, from far, only blocks: detail.js): a step then costs
// the same in a picture of ten boxes and of two thousand. What is left out is taken out of the document: Chromium styles and
// lays out a <g> with `display: none` all the same.

import { cornersOf } from "./runner.js";

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./viewport.js").Viewport} Viewport */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Region */
/** @typedef {Region & { element: Element, place: Comment | null }} Piece a box, an arrow or a label; where it stood, if away */

const WHOLE = 150; // boxes; up to so many, everything is drawn
const AROUND = 1; // how many stages around the stage are drawn

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

/**
 * How far the lines of an arrow reach.
 * @param {Element} arrow
 * @returns {Region}
 */
export function reachOf(arrow) {
  const corners = [...arrow.children].flatMap((line) => cornersOf(line.getAttribute("d") ?? ""));
  const reach = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const [x, y] of corners) {
    reach.left = Math.min(reach.left, x);
    reach.right = Math.max(reach.right, x);
    reach.top = Math.min(reach.top, y);
    reach.bottom = Math.max(reach.bottom, y);
  }
  return reach;
}

/**
 * Everything that may be left out.
 * @param {Picture} picture
 * @returns {Piece[]}
 */
function piecesOf(picture) {
  return [...picture.svg.children].flatMap((element) => {
    const outline = element.querySelector(":scope > .outline");
    if (outline) return { element, place: null, ...regionAt(outline, ["x", "y", "width", "height"]) };
    if (element.classList.contains("arrow")) return { element, place: null, ...reachOf(element) };
    return element.classList.contains("label") ? { element, place: null, ...regionAt(element, ["data-x", "data-y"]) } : [];
  });
}

/**
 * @param {Element} element
 * @param {string[]} names of the attributes: left, top and perhaps width and height
 * @returns {Region}
 */
function regionAt(element, names) {
  const [left, top, width = 0, height = 0] = names.map((name) => Number(element.getAttribute(name)));
  return { left, top, right: left + width, bottom: top + height };
}

/**
 * @param {Piece} piece
 * @param {boolean} isAway
 */
function take(piece, isAway) {
  if (isAway) {
    piece.place = document.createComment("");
    piece.element.replaceWith(piece.place);
  } else {
    piece.place?.replaceWith(piece.element);
    piece.place = null;
  }
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
    /** @type {Piece[] | undefined} */
    this.pieces = undefined;
  }

  /** After every movement; does something only where the drawn region is left. */
  show() {
    const { viewport } = this;
    if (!this.isNeeded || !viewport.room.width) return;
    const same = viewport.view.scale >= this.scale / 2 && viewport.view.scale <= this.scale * 2;
    if (same && holds(this.region, regionOf(viewport, 0.1))) return;
    this.scale = viewport.view.scale;
    this.region = regionOf(viewport, AROUND);
    this.draw(this.region);
  }

  /** @param {Region} region */
  draw(region) {
    this.pieces ??= piecesOf(this.picture);
    for (const piece of this.pieces) {
      const { left, top, right, bottom } = region;
      const isAway = piece.left > right || piece.right < left || piece.top > bottom || piece.bottom < top;
      if (isAway !== (piece.place !== null)) take(piece, isAway);
    }
  }
}
