// The legend of a run, above its picture: the scale, and of the marks those that are there.

import { paintDashes, paintDot } from "./line.js";
import { legendPlaces } from "./names.js";

/** @typedef {import("./canvas.js").Canvas} Canvas */
/** @typedef {Record<string, string>} Palette */

export const LEGEND_LINE = 18; // px
const [MARK_WIDE, SWATCH_WIDE, SWATCH_HIGH, SCALE_WIDE, SWATCH_SPACE] = [20, 14, 10, 180, 6]; // px

/**
 * In place of the cells of a row that no gradient has reached.
 * @param {CanvasRenderingContext2D} pen
 * @param {Palette} palette
 * @param {[number, number]} from
 * @param {number} width
 */
export function paintUnreached(pen, palette, [x, y], width) {
  pen.strokeStyle = palette.none;
  paintDashes(pen, [x, y], [x + width, y]);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} colour
 * @param {[number, number]} at its left end, in the middle
 * @param {boolean} [isEmpty]
 */
function swatch(pen, colour, [x, y], isEmpty = false) {
  pen.fillStyle = pen.strokeStyle = colour;
  pen.lineWidth = 1;
  if (isEmpty) pen.strokeRect(x + 0.5, y - SWATCH_HIGH / 2 + 0.5, SWATCH_WIDE - 1, SWATCH_HIGH - 1);
  else pen.fillRect(x, y - SWATCH_HIGH / 2, SWATCH_WIDE, SWATCH_HIGH);
}

/** @param {CanvasRenderingContext2D} pen @param {Palette} palette @param {[number, number]} at */
function probeMark(pen, palette, [x, y]) {
  pen.strokeStyle = palette["blue-stroke"];
  paintDot(pen, [x + SWATCH_WIDE / 2, y]);
}

/**
 * What the colours mean.
 * @param {Canvas} canvas
 * @param {CanvasRenderingContext2D} pen
 * @param {import("./scale.js").RunData} data
 * @returns {{ lines: number, paint: () => void }}
 */
export function legendOf(canvas, pen, data) {
  const { palette } = canvas;
  const ends = [`${canvas.say("gradient")}  1e${data.low}`, `1e${data.high}`];
  const [before, after] = ends.map((said) => canvas.measure(pen, said) + SWATCH_SPACE);
  const scale = Math.min(SCALE_WIDE, canvas.width / 4);
  /** @type {[boolean, string, (at: [number, number]) => void][]} */
  const marks = [
    [canvas.bad.some(Boolean), "not_finite", (at) => swatch(pen, palette.grad, at)],
    [canvas.norms.some((norm) => norm === 0), "all_zero", (at) => swatch(pen, palette["row-stroke"], at)],
    [data.rows.some((row) => !row.reached), "unreached", (at) => paintUnreached(pen, palette, at, SWATCH_WIDE)],
    [canvas.probe.some(Number.isFinite), "probe", (at) => probeMark(pen, palette, at)],
    [data.has_gaps, "not_measured", (at) => swatch(pen, palette["row-stroke"], at, true)],
  ];
  const met = marks.filter(([isThere]) => isThere);
  const widths = met.map(([, word]) => MARK_WIDE + canvas.measure(pen, canvas.say(word)));
  const [first, ...places] = legendPlaces([before + scale + SWATCH_SPACE + after, ...widths], canvas.width);
  const paint = () => {
    const [x, y] = [first.x + before, LEGEND_LINE / 2];
    canvas.write(pen, ends[0], first.x, y, "none", "left");
    data.scale.forEach((fill, i) => {
      pen.fillStyle = fill;
      pen.fillRect(x + (i * scale) / data.scale.length, y - SWATCH_HIGH / 2, Math.ceil(scale / data.scale.length), SWATCH_HIGH);
    });
    canvas.write(pen, ends[1], x + scale + SWATCH_SPACE, y, "none", "left");
    met.forEach(([, word, mark], i) => {
      const at = { x: places[i].x, y: y + places[i].line * LEGEND_LINE };
      mark([at.x, at.y]);
      canvas.write(pen, canvas.say(word), at.x + MARK_WIDE, at.y, "text", "left");
    });
  };
  return { lines: (places.at(-1)?.line ?? 0) + 1, paint };
}
