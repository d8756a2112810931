// Where a picture stands in a stage, as arithmetic: fit, zoom at a point, what is read with ease, a box brought into sight.

/** @typedef {{ x: number, y: number, scale: number }} View where the picture's corner stands in the stage, in px */
/** @typedef {{ width: number, height: number }} Size */
/** @typedef {{ x: number, y: number, w: number, h: number }} Rect */

const SMALLEST = 0.02;
const NEARLY_WHOLE = 0.85; // of the scale at which a picture is read whole
const LARGEST = 4;
const MARGIN = 10; // px of the picture around what is looked at first
const BRINK = 24; // px of the stage between its edge and what has come into sight
const [LABEL_WIDE, LABEL_HIGH] = [70, 20]; // px of the picture that numbers take beside and above a box
const HELD = 60; // px of the picture that always stay in the stage

const ROW = 11.4; // px of a row's letters as drawn
/**
 * At which scales a picture is read: all of it at once down to `whole`; else as wide as the stage, between
 * `easy` and `wide`, and down to `least` if that shows what a person looks at first; never beyond `largest`.
 * @typedef {{ whole: number, easy: number, wide: number, least: number, largest: number }} Reading
 */
/** @type {Record<"figure" | "map" | "figure_presented" | "figure_tight" | "map_presented", Reading>} */
export const READINGS = {
  figure: { whole: 1, easy: 11.05 / ROW, wide: 11.05 / ROW, least: 8.5 / ROW, largest: 1.25 },
  map: { whole: 1, easy: 1, wide: 1, least: 1, largest: 1 }, // its small letters have 11 px; the legend stands at the far right
  figure_presented: { whole: 16.6 / ROW, easy: 18.05 / ROW, wide: 18.05 / ROW, least: 14 / ROW, largest: 3 },
  figure_tight: { whole: 11.4 / ROW, easy: 18.05 / ROW, wide: 18.05 / ROW, least: 14 / ROW, largest: 3 }, // presented, whole only with smaller letters
  map_presented: { whole: 1.4, easy: 1.2, wide: 1.8, least: 1, largest: 2.5 },
};

const [LETTERS, LETTERS_PRESENTED] = [11, 16]; // px of the smallest, where all of a figure is shown at once

/**
 * A figure with small letters is whole only where it is larger. (A box that opens in place has rows.)
 * @param {Reading} reading
 * @param {string} svg
 * @returns {Reading}
 */
export function readingOf(reading, svg) {
  const isPresented = reading === READINGS.figure_presented;
  const hasRows = !isPresented || /<text(?![^>]*font-size)/.test(svg); // their size is the picture's own
  let smallest = hasRows ? ROW : Infinity;
  for (const [, size] of svg.matchAll(/<text[^>]*font-size=["']([\d.]+)/g)) smallest = Math.min(smallest, Number(size));
  return { ...reading, whole: (isPresented ? LETTERS_PRESENTED : LETTERS) / Math.min(smallest, NAME) };
}

const NAME = 12; // px of a name as drawn
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
 * The whole picture in the middle.
 * @param {Size} picture
 * @param {Size} room
 * @param {number} [largest] scale
 * @returns {View}
 */
export function fitted(picture, room, largest = 1) {
  const scale = within(Math.min(largest, room.width / picture.width, room.height / picture.height));
  const [x, y] = [(room.width - picture.width * scale) / 2, (room.height - picture.height * scale) / 2];
  return { x: Math.max(0, x), y: Math.max(0, y), scale };
}

/**
 * The scale for a picture of which only a part is seen: as wide as the stage, if that is neither too small nor too large.
 * @param {number} pictureWidth
 * @param {number} roomWidth
 * @param {Reading} reading
 */
function scaleOfPart(pictureWidth, roomWidth, { easy, wide }) {
  return Math.max(easy, Math.min(wide, roomWidth / pictureWidth));
}

/**
 * Whole if it can be read then; else large enough to read with ease, and smaller only where that shows what is looked at first.
 * @param {Size} picture
 * @param {Size} room
 * @param {Rect} [first] what a person looks at first
 * @param {Reading} [reading]
 * @returns {View}
 */
export function readable(picture, room, first, reading = READINGS.figure) {
  const all = fitted(picture, room, reading.largest);
  if (all.scale >= reading.whole) return { ...all, y: 0 };
  const wide = scaleOfPart(picture.width, room.width, reading);
  const seen = first ? Math.min(room.width / (first.w + 2 * MARGIN), room.height / (first.h + 2 * MARGIN)) : Infinity;
  const scale = seen >= reading.least ? Math.min(wide, seen) : wide;
  return { x: Math.max(0, (room.width - picture.width * scale) / 2), y: 0, scale };
}

/**
 * The height that a stage needs: that of the whole picture, if it can be read then; else all that there is.
 * @param {Size} picture
 * @param {number} width of the stage
 * @param {number} most px
 * @param {Reading} reading
 */
export function heightFor(picture, width, most, reading) {
  const { scale } = fitted(picture, { width, height: most }, reading.largest);
  return Math.min(most, picture.height * (scale >= reading.whole ? scale : scaleOfPart(picture.width, width, reading)));
}

const OF_THE_PAGE = 0.47; // of the page that a person sees at once, for a picture that stands below its code

/**
 * No larger than leaves room for the code above it, where the letters allow that; else as large as ever.
 * @param {Reading} reading
 * @param {Size} picture
 * @param {number} seen px of the page that a person sees at once
 * @returns {Reading}
 */
export function belowCode(reading, picture, seen) {
  const scale = (OF_THE_PAGE * seen) / picture.height;
  const isSmall = scale < NEARLY_WHOLE * reading.whole;
  return isSmall ? reading : { ...reading, largest: Math.min(reading.largest, Math.max(reading.whole, scale)) };
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
 * A box with the numbers on the arrows around it.
 * @param {Rect} box
 * @param {Size & { x: number, y: number }} picture which nothing reaches beyond
 * @returns {Rect}
 */
export function labelled(box, picture) {
  const [x, y] = [Math.max(picture.x, box.x - LABEL_HIGH), Math.max(picture.y, box.y - LABEL_HIGH)];
  const right = Math.min(picture.x + picture.width, box.x + box.w + LABEL_WIDE);
  return { x, y, w: right - x, h: Math.min(picture.y + picture.height, box.y + box.h + LABEL_HIGH) - y };
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
    const edge = Math.min(BRINK, (all - high + low) / 2);
    const moved = low < 0 ? offset - low + edge : offset - (high - all) - edge; // no further than needed
    return Math.min(Math.max(0, offset), Math.max(Math.min(offset, all - whole * view.scale), moved));
  };
  const x = along(box.x, box.w, room.width, view.x, picture.width);
  return { ...view, x, y: along(box.y, box.h, room.height, view.y, picture.height) };
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
