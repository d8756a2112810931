// A number that runs along an arrow.

import { svgElement, textWidth } from "./draw.js";

const RUNNER_SIZE = 14; // px
const RUN_MS = 450; // how long a number takes along its arrow

/**
 * @param {SVGSVGElement} svg
 * @param {SVGPathElement} way
 * @param {string} text
 * @param {number} left where the picture begins
 * @param {number} width of the picture
 */
export function runAlong(svg, way, text, left, width) {
  if (!way.getTotalLength) return; // a DOM without geometry
  const length = way.getTotalLength();
  const half = textWidth(text, RUNNER_SIZE) / 2 + 4;
  const number = svgElement("text", { class: "f-grad runner", "font-size": RUNNER_SIZE, "text-anchor": "middle", dy: -4 });
  number.textContent = text;
  svg.append(number);
  const start = performance.now();
  /** @param {number} now */
  const frame = (now) => {
    const done = Math.min(1, Math.max(0, (now - start) / RUN_MS));
    const point = way.getPointAtLength(done * length);
    number.setAttribute("x", String(Math.min(Math.max(point.x, left + half), left + width - half)));
    number.setAttribute("y", String(point.y));
    if (done < 1 && number.isConnected) requestAnimationFrame(frame);
    else number.remove();
  };
  requestAnimationFrame(frame);
}
