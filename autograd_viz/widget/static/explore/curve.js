// The output along one leaf: a curve, the tangent at its value, and what a nudge does to both.

import { svgElement } from "../shared/draw.js";

/** @typedef {{ x: number[], y: (number | null)[] }} Along */
/** @typedef {{ value: number, output: number | null, grad: number | null, delta: number, nudged: number | null }} Point */

const [PLOT_WIDTH, PLOT_HEIGHT, PLOT_LEFT, PLOT_BELOW, PLOT_TOP] = [300, 150, 46, 16, 6]; // px
const PLOT_DIGITS = 3;

/**
 * The axisEnds of the axis: a pole of the function does not flatten all else.
 * @param {number[]} known
 * @returns {[number, number]}
 */
export function axisEnds(known) {
  const sorted = [...known].sort((a, b) => a - b);
  const at = (/** @type {number} */ part) => sorted[Math.round(part * (sorted.length - 1))];
  const [low, high, inner] = [at(0), at(1), at(0.9) - at(0.1)];
  if (inner > 0 && high - low > 8 * inner) return [at(0.1) - inner, at(0.9) + inner];
  const edge = (high - low) * 0.08 || Math.abs(high) * 0.5 || 1;
  return [low - edge, high + edge];
}

/**
 * @param {Along} along
 * @param {Point} point
 * @param {string} label
 */
export function alongLeaf(along, { value, output, grad, delta, nudged }, label) {
  const root = svgElement("svg", {
    viewBox: `0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`,
    class: "av-along",
    role: "img",
    "aria-label": label,
  });
  const known = along.y.filter((y) => y !== null);
  if (output !== null) known.push(output);
  if (!known.length || along.x.length < 2) return root; // a slow function has no curve
  const [low, high] = axisEnds(known);
  const [least, most] = [along.x[0], along.x[along.x.length - 1]];
  const x = (/** @type {number} */ v) => PLOT_LEFT + ((v - least) / (most - least)) * (PLOT_WIDTH - PLOT_LEFT - 4);
  const y = (/** @type {number} */ v) => PLOT_TOP + (1 - (v - low) / (high - low)) * (PLOT_HEIGHT - PLOT_TOP - PLOT_BELOW);
  const line = (/** @type {string} */ d, /** @type {string} */ name) => root.append(svgElement("path", { d, class: name }));
  const text = (/** @type {number} */ n, /** @type {number} */ px, /** @type {number} */ py, /** @type {string} */ anchor) => {
    const made = svgElement("text", { x: px, y: py, "text-anchor": anchor });
    made.textContent = String(Number(n.toPrecision(PLOT_DIGITS))).replace("-", "\u2212");
    root.append(made);
  };
  const clip = svgElement("svg", {
    x: PLOT_LEFT,
    y: PLOT_TOP,
    width: PLOT_WIDTH - PLOT_LEFT,
    height: PLOT_HEIGHT - PLOT_TOP - PLOT_BELOW,
    viewBox: `${PLOT_LEFT} ${PLOT_TOP} ${PLOT_WIDTH - PLOT_LEFT} ${PLOT_HEIGHT - PLOT_TOP - PLOT_BELOW}`,
  });
  line(`M${PLOT_LEFT} ${PLOT_TOP}V${PLOT_HEIGHT - PLOT_BELOW}H${PLOT_WIDTH}`, "av-axis");
  for (const v of [low, high]) text(v, PLOT_LEFT - 4, y(v) + (v === high ? 9 : 0), "end");
  for (const v of [least, most]) text(v, x(v), PLOT_HEIGHT - 3, v === least ? "start" : "end");
  let d = "";
  along.y.forEach((v, i) => {
    if (v !== null) d += `${i && along.y[i - 1] !== null ? "L" : "M"}${x(along.x[i]).toFixed(1)} ${y(v).toFixed(1)}`;
  });
  clip.append(svgElement("path", { d, class: "av-curve" }));
  if (output !== null && grad !== null) {
    const tangent = (/** @type {number} */ v) => `${x(v).toFixed(1)} ${y(output + grad * (v - value)).toFixed(1)}`;
    clip.append(svgElement("path", { d: `M${tangent(least)}L${tangent(most)}`, class: "av-tangent" }));
    if (nudged !== null) {
      const [to, reached] = [x(value + delta), y(output + grad * delta)];
      clip.append(svgElement("path", { d: `M${to} ${y(nudged)}V${reached}`, class: "av-miss" }));
      clip.append(svgElement("circle", { cx: to, cy: reached, r: 3, class: "av-predicted" }));
    }
  }
  if (output !== null && nudged !== null)
    clip.append(svgElement("circle", { cx: x(value + delta), cy: y(nudged), r: 3, class: "av-nudged" }));
  if (output !== null) clip.append(svgElement("circle", { cx: x(value), cy: y(output), r: 4.5, class: "av-here" }));
  root.append(clip);
  return root;
}
