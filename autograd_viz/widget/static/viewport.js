// Where the picture stands in the stage: pan, zoom at a point, fit, and keeping a box in sight.
//
// While it moves only a CSS transform of the sheet under it changes (one of the SVG itself would lay out all its text); the size
// of the SVG, at which its text is laid out anew, follows when it rests.

/** @typedef {{ x: number, y: number, scale: number }} View where the picture's corner stands in the stage, in px */
/** @typedef {{ width: number, height: number }} Size */
/** @typedef {{ x: number, y: number, w: number, h: number }} Rect */

const SMALLEST = 0.02;
const LARGEST = 4;
const READABLE = 0.75; // scale at which the rows can be read with ease, about 9 px
const LEGIBLE = 0.55; // and with good eyes: worth it where all of the picture, or what is looked at first, is seen at once
const REST_MS = 120; // without movement before the text is laid out at the new size
const MARGIN = 10; // px of the picture around what is looked at first
const HELD = 60; // px of the picture that always stay in the stage

/** @param {number} scale */
const within = (scale) => Math.min(LARGEST, Math.max(SMALLEST, scale));

/**
 * Zoomed so that the point of the picture at (px, py) stays there.
 * @param {View} view
 * @param {number} factor
 * @param {number} px
 * @param {number} py
 * @returns {View}
 */
export function zoomedAt(view, factor, px, py) {
  const scale = within(view.scale * factor);
  const by = scale / view.scale;
  return { x: px - (px - view.x) * by, y: py - (py - view.y) * by, scale };
}

/**
 * The whole picture, never larger than drawn, in the middle.
 * @param {Size} picture
 * @param {Size} room
 * @returns {View}
 */
export function fitted(picture, room) {
  const scale = within(Math.min(1, room.width / picture.width, room.height / picture.height));
  const [x, y] = [(room.width - picture.width * scale) / 2, (room.height - picture.height * scale) / 2];
  return { x: Math.max(0, x), y: Math.max(0, y), scale };
}

/**
 * Whole if it can be read then; else as wide as the stage, never larger than drawn and large enough to read with ease; smaller
 * only where that shows what is looked at first.
 * @param {Size} picture
 * @param {Size} room
 * @param {Rect} [first] what a person looks at first
 * @param {number} [legible] the least scale at which all of it may be shown at once
 * @param {number} [easy] the least scale at which its rows are read with ease
 * @returns {View}
 */
export function readable(picture, room, first, legible = LEGIBLE, easy = READABLE) {
  const all = fitted(picture, room);
  if (all.scale >= legible) return { ...all, y: 0 };
  const wide = Math.min(1, Math.max(easy, room.width / picture.width));
  const whole = first ? Math.min(room.width / (first.w + 2 * MARGIN), room.height / (first.h + 2 * MARGIN)) : 1;
  const scale = whole >= legible ? Math.min(wide, whole) : wide;
  return { x: Math.max(0, (room.width - picture.width * scale) / 2), y: 0, scale };
}

/**
 * The rectangle around some others.
 * @param {Rect[]} rects at least one
 * @returns {Rect}
 */
export function around(rects) {
  const [x, y] = [Math.min(...rects.map((r) => r.x)), Math.min(...rects.map((r) => r.y))];
  const [right, bottom] = [Math.max(...rects.map((r) => r.x + r.w)), Math.max(...rects.map((r) => r.y + r.h))];
  return { x, y, w: right - x, h: bottom - y };
}

/**
 * Moved so that a box is in sight; the same view if it is already.
 * @param {View} view
 * @param {Rect} box in the picture, from its corner
 * @param {Size} room
 * @param {Size} [picture] beyond whose edge nothing empty is shown
 * @returns {View}
 */
export function revealed(view, box, room, picture = { width: Infinity, height: Infinity }) {
  /** @param {number} start @param {number} size @param {number} all @param {number} offset @param {number} whole */
  const along = (start, size, all, offset, whole) => {
    const [low, high] = [offset + start * view.scale, offset + (start + size) * view.scale];
    if (low >= 0 && high <= all) return offset;
    if (high - low > all) return Math.min(0, -start * view.scale + MARGIN); // what does not fit is seen from its beginning
    return Math.min(0, Math.max(all - whole * view.scale, offset + (all - low - high) / 2));
  };
  const x = along(box.x, box.w, room.width, view.x, picture.width);
  return { ...view, x, y: along(box.y, box.h, room.height, view.y, picture.height) };
}

/**
 * Moved up so far that a box in sight is not under what covers the lower right corner.
 * @param {View} view
 * @param {Rect} box in the picture, from its corner
 * @param {Size} room
 * @param {Size} corner what is covered
 * @returns {View}
 */
export function cleared(view, box, room, corner) {
  const across = view.x + (box.x + box.w) * view.scale - (room.width - corner.width);
  const down = view.y + (box.y + box.h) * view.scale - (room.height - corner.height);
  const isUnder = across > 0 && down > 0 && view.x + box.x * view.scale < room.width;
  return isUnder ? { ...view, y: view.y - Math.min(down, Math.max(0, view.y + box.y * view.scale)) } : view;
}

/**
 * Moved back so far that some of the picture stays in the stage.
 * @param {View} view
 * @param {Size} picture
 * @param {Size} room
 * @returns {View}
 */
export function held(view, picture, room) {
  /** @param {number} offset @param {number} size @param {number} all */
  const along = (offset, size, all) => Math.min(Math.max(offset, HELD - size * view.scale), all - HELD);
  return { ...view, x: along(view.x, picture.width, room.width), y: along(view.y, picture.height, room.height) };
}

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
    this.legible = LEGIBLE; // see `readable`
    this.easy = READABLE;
    this.own = false; // has the user chosen what is seen?
    this.away = false; // has the user looked elsewhere since the last step?
    /** @type {Size} what the map covers */
    this.corner = { width: 0, height: 0 };
    /** @type {Rect | undefined} what is looked at first, in the coordinates of the drawing */
    this.first = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.resting = undefined;
    /** @type {Size} */
    this.room = { width: 0, height: 0 };
    for (const layer of layers) layer.style.display = "none"; // nothing is laid out before it is known how much is seen
  }

  /** How much of the picture is seen, 0 to 1. */
  get share() {
    const { scale } = this.view;
    const [w, h] = [this.picture.width * scale, this.picture.height * scale];
    return (Math.min(w, this.room.width) / w) * (Math.min(h, this.room.height) / h);
  }

  /** The stage has another size. */
  resized() {
    this.room = { width: this.stage.clientWidth, height: this.stage.clientHeight };
    if (!this.room.width) return;
    this.place(this.own ? held(this.view, this.picture, this.room) : readable(this.picture, this.room, this.first, this.legible, this.easy));
  }

  /** @param {View} view */
  place(view) {
    this.view = view;
    clearTimeout(this.resting);
    if (!this.laidOut) this.layOut();
    else if (view.scale !== this.laidOut) this.resting = setTimeout(() => this.layOut(), REST_MS);
    this.transform();
    this.moved();
  }

  transform() {
    const { x, y, scale } = this.view;
    const zoom = scale === this.laidOut ? "" : ` scale(${scale / this.laidOut})`;
    this.sheet.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)${zoom}`;
  }

  /** A size in px: a relative one would lay out all text at every change. */
  layOut() {
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
    this.place(held(zoomedAt(this.view, factor, px, py), this.picture, this.room));
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
    this.place(fitted(this.picture, this.room));
  }

  /** As large as drawn. */
  actual() {
    this.away = false;
    this.zoom(1 / this.view.scale);
  }

  /**
   * Bring a box into sight.
   * @param {Rect} box in the coordinates of the drawing
   * @param {Rect} [all] with what is around it
   */
  reveal(box, all = box) {
    if (!this.room.width) return;
    const view = this.showing(box, all);
    if (view.x !== this.view.x || view.y !== this.view.y) this.place(view);
  }

  /**
   * The view with a box in sight: the same if it is already.
   * @param {Rect} box
   * @param {Rect} all
   */
  showing(box, all = box) {
    const [inner, outer] = [box, all].map((rect) => ({ ...rect, x: rect.x - this.picture.x, y: rect.y - this.picture.y }));
    return cleared(revealed(this.view, outer, this.room, this.picture), inner, this.room, this.corner);
  }

  /**
   * Keep the box of the step in sight, unless the user is looking elsewhere; and what belongs to it, if there is room for both.
   * @param {Rect} box
   * @param {Rect[]} others
   */
  follow(box, others = []) {
    const here = this.showing(box);
    const wasAway = this.away;
    if (here.x === this.view.x && here.y === this.view.y) this.away = false; // they are together again
    if (wasAway) return;
    const all = around([box, ...others]);
    const fits = all.w * this.view.scale <= this.room.width && all.h * this.view.scale <= this.room.height;
    this.reveal(box, fits ? all : box);
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
