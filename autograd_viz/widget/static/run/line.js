// A curve of a run, with a band behind it where ranks of a job differ.

/** @typedef {{ least: Float32Array, most: Float32Array }} Band by column, nan where nothing is known */

/**
 * Paints numbers as a curve in a box, logarithmic if they span much.
 * @param {CanvasRenderingContext2D} pen
 * @param {Float32Array} values by column
 * @param {{ left: number, top: number, width: number, height: number }} box px
 * @param {string} colour
 * @param {Band} [band]
 * @param {Float32Array} [dots] numbers on the same scale, as dots
 * @param {string} [edge] their colour
 * @returns {{ least: number, most: number, isLog: boolean } | undefined} its ends; undefined: nothing is known
 */
export function paintCurve(pen, values, box, colour, band, dots = new Float32Array(), edge = colour) {
  const known = [...values, ...dots, ...(band?.least ?? []), ...(band?.most ?? [])].filter(Number.isFinite);
  if (!known.length) return undefined;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const isLog = least > 0 && most > 20 * least;
  const scaled = (/** @type {number} */ v) => (isLog ? Math.log10(v) : v);
  const span = scaled(most) - scaled(least);
  const x = (/** @type {number} */ c) => box.left + ((c + 0.5) / values.length) * box.width;
  const y = (/** @type {number} */ v) => box.top + box.height * (span ? 1 - (scaled(v) - scaled(least)) / span : 0.5);
  [pen.strokeStyle, pen.fillStyle, pen.lineWidth] = [colour, colour, 1.8];
  if (band) paintBand(pen, band, x, y, box.width / values.length);
  pen.beginPath();
  let isDown = false;
  values.forEach((v, c) => {
    if (!Number.isFinite(v)) return void (isDown = false);
    if (isDown) pen.lineTo(x(c), y(v));
    else pen.moveTo(x(c), y(v));
    if (!isDown && !Number.isFinite(values[c + 1])) pen.rect(x(c) - 1, y(v) - 1, 2, 2); // one step alone is a dot
    isDown = true;
  });
  pen.stroke();
  pen.strokeStyle = edge;
  dots.forEach((v, c) => {
    if (Number.isFinite(v)) paintDot(pen, [x(c), y(v)]);
  });
  return { least, most, isLog };
}

/** @param {CanvasRenderingContext2D} pen @param {[number, number]} at */
export function paintDot(pen, at) {
  pen.lineWidth = 1.8;
  pen.beginPath();
  pen.arc(...at, 3, 0, 2 * Math.PI);
  pen.stroke();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Band} band
 * @param {(column: number) => number} x
 * @param {(value: number) => number} y
 * @param {number} width px of a column
 */
function paintBand(pen, band, x, y, width) {
  pen.globalAlpha = 0.25;
  band.least.forEach((low, c) => {
    if (Number.isFinite(low)) pen.fillRect(x(c) - width / 2, y(band.most[c]) - 0.5, width + 0.3, y(low) - y(band.most[c]) + 1);
  });
  pen.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} pen @param {[number, number]} from @param {[number, number]} to */
export function paintDashes(pen, from, to) {
  pen.lineWidth = 1;
  pen.setLineDash([3, 3]);
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
  pen.setLineDash([]);
}
