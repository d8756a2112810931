// A number that runs along an arrow.

import { svgElement, textWidth } from "../shared/draw.js";

/** @typedef {[x: number, y: number]} Point */

const RUNNER_SIZE = 14; // px

/**
 * All numbers of path data.
 * @param {string} d
 */
export function numbersOf(d) {
  return (d.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
}

/**
 * The corners of an arrow: all points of its path data, also those that its bends are rounded at. Read from the text, because
 * asking the element would lay out the whole picture.
 * @param {string} d
 * @returns {Point[]}
 */
export function cornersOf(d) {
  const numbers = numbersOf(d);
  /** @type {Point[]} */
  const points = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) points.push([numbers[i], numbers[i + 1]]);
  return points;
}

/**
 * The point after a part of the way.
 * @param {Point[]} corners
 * @param {number} part 0 to 1
 * @returns {Point}
 */
export function pointAlong(corners, part) {
  const lengths = corners.slice(1).map(([x, y], i) => Math.hypot(x - corners[i][0], y - corners[i][1]));
  let left = part * lengths.reduce((sum, length) => sum + length, 0);
  for (const [i, length] of lengths.entries()) {
    const [[x0, y0], [x1, y1]] = [corners[i], corners[i + 1]];
    if (left <= length && length > 0) return [x0 + ((x1 - x0) * left) / length, y0 + ((y1 - y0) * left) / length];
    left -= length;
  }
  return corners[corners.length - 1];
}

/**
 * @param {{ svg: SVGSVGElement, x: number, width: number }} picture
 * @param {Element} way
 * @param {string} text
 * @param {number} delay ms
 * @param {number} time ms along the arrow
 * @returns {() => void} ends it
 */
export function runAlong({ svg, x: left, width }, way, text, delay, time) {
  const corners = cornersOf(way.getAttribute("d") ?? "");
  let isOver = corners.length < 2;
  const half = textWidth(text, RUNNER_SIZE) / 2 + 4;
  const number = svgElement("text", { class: "f-grad runner", "font-size": RUNNER_SIZE, "text-anchor": "middle", dy: -4 });
  number.textContent = text;
  /** @type {number | undefined} */
  let start;
  /** @param {number} now */
  const frame = (now) => {
    start ??= now + delay;
    if (isOver) return;
    if (now < start) return void requestAnimationFrame(frame);
    const done = Math.min(1, (now - start) / time);
    const [x, y] = pointAlong(corners, done);
    number.setAttribute("x", String(Math.min(Math.max(x, left + half), left + width - half)));
    number.setAttribute("y", String(y));
    if (!number.isConnected && done < 1) svg.append(number);
    if (done < 1) requestAnimationFrame(frame);
    else number.remove();
  };
  requestAnimationFrame(frame);
  return () => {
    isOver = true;
    number.remove();
  };
}
