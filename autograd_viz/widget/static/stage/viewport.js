// Where the picture stands in the stage: pan, zoom, fit, and keeping a box in sight.
//
// While it moves only a CSS transform of the sheet under it changes (one of the SVG itself would lay out all its text); the size
// of the SVG, at which its text is laid out anew, follows when it rests.

import { READINGS, around, fitted, held, labelled, readable, revealed, zoomedAt } from "./camera.js";

/** @typedef {import("./camera.js").Rect} Rect */
/** @typedef {import("./camera.js").Size} Size */
/** @typedef {import("./camera.js").View} View */

const REST_MS = 120; // without movement before the text is laid out at the new size
const EASED_MS = 300; // the same for a movement that is eased (stage.css)
const NEARLY = 1.15; // a picture is not shown anew for less than so much larger letters

export class Viewport {
  /**
   * @param {HTMLElement} stage
   * @param {HTMLElement} sheet what moves
   * @param {SVGElement[]} layers on it, drawn on top of each other in the same coordinates
   * @param {Size & { x: number, y: number }} picture
   * @param {() => void} moved called after every movement
   */
  constructor(stage, sheet, layers, picture, moved) {
    this.stage = stage;
    this.sheet = sheet;
    this.layers = layers;
    this.picture = picture;
    this.moved = moved;
    /** @type {View} */
    this.view = { x: 0, y: 0, scale: 1 };
    this.laidOut = 0; // the scale at which the text is laid out
    this.reading = READINGS.figure;
    this.own = false; // has the user chosen what is seen?
    this.away = false; // has the user looked elsewhere since the last step?
    /** @type {Rect | undefined} what is looked at first, in the coordinates of the drawing */
    this.first = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.resting = undefined;
    /** @type {Size} */
    this.room = { width: 0, height: 0 };
    for (const layer of layers) layer.style.display = "none"; // nothing is laid out before it is known how much is seen
  }

  /** The stage has another size. What is seen stays where it is, if it is read as well as in a new picture. */
  resized() {
    this.room = { width: this.stage.clientWidth, height: this.stage.clientHeight };
    if (!this.room.width) return;
    const opened = readable(this.picture, this.room, this.first, this.reading);
    const { x, scale } = this.view;
    const all = fitted(this.picture, this.room, this.reading.largest);
    const hides = all.scale >= this.reading.whole && !this.isWhole; // something, though all of it can be seen
    const isRead = scale >= Math.min(opened.scale, this.reading.whole); // another room may be a hall, with larger letters
    const stays = this.laidOut && isRead && scale <= opened.scale && opened.scale < NEARLY * scale && !hides;
    const [least, most] = [
      Math.min(0, this.room.width - this.picture.width * scale),
      Math.max(0, this.room.width - this.picture.width * scale),
    ];
    const kept = { ...this.view, x: Math.min(most, Math.max(least, x)) };
    this.place(this.own ? held(this.view, this.picture, this.room) : stays ? kept : opened);
  }

  /**
   * The stage begins so many px lower. What is whole stays whole, if it can be read then; nothing empty stands above what is hidden.
   * @param {number} px
   */
  lowered(px) {
    const wasWhole = this.isWhole;
    this.room.height -= px;
    const { view, picture, room } = this;
    const [all, spare] = [fitted(picture, room, view.scale), room.height - picture.height * view.scale];
    const least = Math.min(this.reading.whole, this.reading.easy);
    if (!this.own && wasWhole && all.scale < view.scale && all.scale >= least) return this.place({ ...all, y: 0 });
    const y = Math.min(Math.max(0, spare), Math.max(Math.min(0, spare), view.y - px));
    this.place({ ...view, y: this.own ? view.y - px : y });
  }

  /**
   * @param {View} view
   * @param {boolean} [eased] let it be seen how the picture moves there
   */
  place(view, eased = false) {
    const isNear = Math.abs(view.x - this.view.x) < this.room.width && Math.abs(view.y - this.view.y) < this.room.height;
    this.view = view;
    clearTimeout(this.resting);
    this.sheet.classList.toggle("av-eased", eased && isNear && this.laidOut > 0);
    if (!this.laidOut) this.layOut();
    else if (view.scale !== this.laidOut) this.resting = setTimeout(() => this.layOut(), eased && isNear ? EASED_MS : REST_MS);
    this.transform();
    this.stage.classList.toggle("av-whole", this.isWhole);
    this.moved();
  }

  /** Is all of the picture in the stage? */
  get isWhole() {
    const { view, picture, room } = this;
    const fits = (/** @type {number} */ offset, /** @type {number} */ size, /** @type {number} */ all) =>
      offset >= -1 && offset + size * view.scale <= all + 1;
    return fits(view.x, picture.width, room.width) && fits(view.y, picture.height, room.height);
  }

  /** Nothing moves any more. */
  still() {
    clearTimeout(this.resting);
  }

  transform() {
    const { x, y, scale } = this.view;
    const zoom = scale === this.laidOut ? "" : ` scale(${scale / this.laidOut})`;
    this.sheet.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)${zoom}`;
  }

  /** A size in px: a relative one would lay out all text at every change. */
  layOut() {
    if (this.laidOut !== this.view.scale) this.sheet.classList.remove("av-eased");
    this.laidOut = this.view.scale;
    for (const layer of this.layers) {
      layer.style.display = "";
      layer.setAttribute("width", String(Math.round(this.picture.width * this.laidOut)));
      layer.setAttribute("height", String(Math.round(this.picture.height * this.laidOut)));
    }
    this.transform();
  }

  /** The picture has another size. */
  renew() {
    if (!this.room.width) return;
    this.layOut();
    this.place(held(this.view, this.picture, this.room));
  }

  /**
   * @param {number} dx
   * @param {number} dy
   */
  pan(dx, dy) {
    this.own = this.away = true;
    this.place(held({ ...this.view, x: this.view.x + dx, y: this.view.y + dy }, this.picture, this.room));
  }

  /**
   * @param {number} factor
   * @param {number} [px] in the stage; its middle if left out
   * @param {number} [py]
   */
  zoom(factor, px = this.room.width / 2, py = this.room.height / 2) {
    this.own = true;
    const [zoomed, all] = [zoomedAt(this.view, factor, px, py), fitted(this.picture, this.room)];
    const isEnd = factor < 1 && zoomed.scale <= all.scale; // nothing is out of sight: there is no further out
    this.place(isEnd ? all : held(zoomed, this.picture, this.room));
  }

  /**
   * Stand as another picture stood.
   * @param {View} view
   */
  stand(view) {
    this.own = true;
    if (this.room.width) this.place(held(view, this.picture, this.room));
  }

  fit() {
    this.own = true;
    this.away = false;
    this.place(fitted(this.picture, this.room, Math.max(1, this.reading.largest)), true);
  }

  /** As large as drawn. */
  actual() {
    this.away = false;
    this.zoom(1 / this.view.scale);
  }

  /**
   * Bring a box into sight.
   * @param {Rect} box in the coordinates of the drawing
   */
  reveal(box) {
    if (!this.room.width) return;
    const view = this.showing(box);
    if (view.x !== this.view.x || view.y !== this.view.y) this.place(view, true);
  }

  /**
   * Come to a box that was looked for: where nobody could read it, also nearer.
   * @param {Rect} box in the coordinates of the drawing
   */
  come(box) {
    this.own = true; // what was looked for stays in sight when the room changes
    if (!this.room.width) return;
    const scale = Math.max(this.view.scale, this.reading.least);
    if (scale === this.view.scale) return this.reveal(box);
    const [left, top] = [(box.x - this.picture.x) * scale, (box.y - this.picture.y) * scale];
    const beside = (/** @type {number} */ at, /** @type {number} */ size, /** @type {number} */ all) =>
      Math.min(0, size * scale > all ? -at : (all - size * scale) / 2 - at);
    const [x, y] = [beside(left, box.w, this.room.width), beside(top, Math.min(box.h, this.room.height), this.room.height)];
    this.place(held({ x, y, scale }, this.picture, this.room), true);
  }

  /**
   * The view with a box in sight: the same if it is already.
   * @param {Rect} box in the coordinates of the drawing
   */
  showing(box) {
    return revealed(this.view, { ...box, x: box.x - this.picture.x, y: box.y - this.picture.y }, this.room, this.picture);
  }

  /**
   * Is a box in sight?
   * @param {Rect} box
   */
  sees(box) {
    const view = this.showing(box);
    return view.x === this.view.x && view.y === this.view.y;
  }

  /**
   * Keep the box of the step in sight, unless the user is looking elsewhere; and as many of the others as there is room for.
   * @param {Rect} box
   * @param {Rect[]} others the most important first
   */
  follow(box, others = []) {
    const wasAway = this.away;
    if (this.sees(box)) this.away = false; // they are together again
    if (wasAway) return;
    const { width, height } = this.room;
    const wished = [...others.slice(0, 1), labelled(box, this.picture), ...others.slice(1)];
    const sets = wished.map((_, i) => around([box, ...wished.slice(0, wished.length - i)]));
    this.reveal(sets.find((all) => all.w * this.view.scale <= width && all.h * this.view.scale <= height) ?? box);
  }

  /**
   * Let a point of the drawing stand in the middle.
   * @param {number} x
   * @param {number} y
   */
  centre(x, y) {
    const { scale } = this.view;
    const [left, top] = [(x - this.picture.x) * scale, (y - this.picture.y) * scale];
    this.pan(this.room.width / 2 - left - this.view.x, this.room.height / 2 - top - this.view.y);
  }
}
