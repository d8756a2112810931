// In a large picture only what is near to what is seen is drawn (and of that, from far, only blocks: detail.js): a step then costs
// the same in a picture of ten boxes and of two thousand. What is left out is taken out of the document: Chromium styles and
// lays out a <g> with `display: none` all the same.

/** @typedef {import("../figure/picture.js").Picture} Picture */
/** @typedef {import("./viewport.js").Viewport} Viewport */
/** @typedef {import("../figure/pieces.js").Region} Region */
/** @typedef {import("../figure/pieces.js").Piece} Piece */

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
 * Does a piece reach into a region?
 * @param {Piece} piece
 * @param {Region} region
 */
function isIn(piece, { left, top, right, bottom }) {
  return piece.left <= right && piece.right >= left && piece.top <= bottom && piece.bottom >= top;
}

/**
 * Take a piece away, or put it back where it stood.
 * @param {Piece} piece
 * @param {boolean} isAway
 */
function take(piece, isAway) {
  if (isAway) {
    piece.place = document.createComment("");
    piece.element?.replaceWith(piece.place);
  } else if (piece.element) {
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
    this.isNeeded = picture.pieces.length > 0;
    /** @type {Region} what is drawn */
    this.region = { left: 0, top: 0, right: 0, bottom: 0 };
    this.scale = 0;
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

  /** Everything is there, as paper wants it, until the picture moves far. */
  all() {
    this.region = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
    if (this.isNeeded) this.draw(this.region);
    this.scale = 0;
  }

  /** @param {Region} region */
  draw(region) {
    const { pieces } = this.picture;
    const near = new Set(pieces.filter((piece) => isIn(piece, region)));
    this.picture.make([...near]);
    for (const piece of pieces) if (near.has(piece) === (piece.place !== null)) take(piece, !near.has(piece));
  }
}
