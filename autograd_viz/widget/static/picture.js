// The picture: laid out once by Python, stepped here by rewriting the few words that a step changes.

import { svgElement, textWidth, writeLines } from "./draw.js";

/** @typedef {import("./draw.js").Lines} Lines */
/**
 * @typedef {object} Frame
 * @property {string} node
 * @property {string} sentence
 * @property {[string, string][]} formulas
 * @property {[string, Lines, Lines][]} changes
 * @property {string[]} fresh
 * @property {[string, string][]} moves
 */

const RUNNER_SIZE = 14; // px
const RUN_MS = 450; // how long a number takes along its arrow

export class Picture {
  /** @param {string} source the SVG text */
  constructor(source) {
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
    /** @type {SVGSVGElement} */
    this.svg = /** @type {any} */ (document.importNode(parsed, true));
    /** @type {Map<string, Element[]>} */
    this.places = new Map();
    for (const element of this.svg.querySelectorAll("[data-at]")) {
      const at = /** @type {string} */ (element.getAttribute("data-at"));
      this.places.set(at, [...(this.places.get(at) ?? []), element]);
    }
    this.step = 0;
    const box = (this.svg.getAttribute("viewBox") ?? "0 0 1 1").split(" ").map(Number);
    this.width = box[2];
    this.height = box[3];
  }

  /**
   * Show the state after `step` steps.
   * @param {Frame[]} frames
   * @param {number} step
   * @param {boolean} moving let the numbers run
   */
  goto(frames, step, moving) {
    const forward = step === this.step + 1;
    while (this.step < step) this.write(frames[this.step++], 2);
    while (this.step > step) this.write(frames[--this.step], 1);
    this.light(step ? frames[step - 1] : null);
    if (forward && moving) this.run(frames[step - 1]);
  }

  /**
   * @param {Frame} frame
   * @param {1 | 2} which 1: as it was before, 2: as it is after
   */
  write(frame, which) {
    for (const change of frame.changes) {
      for (const element of this.places.get(change[0]) ?? []) {
        if (!element.classList.contains("arrow")) writeLines(element, change[which]);
      }
    }
  }

  /** @param {Frame | null} frame */
  light(frame) {
    for (const element of this.svg.querySelectorAll(".lit, .fresh")) element.classList.remove("lit", "fresh");
    for (const element of this.places.get(frame?.node ?? "") ?? []) element.classList.add("lit");
    for (const at of frame?.fresh ?? []) {
      for (const element of this.places.get(at) ?? []) {
        element.classList.add("fresh");
        if (element.classList.contains("arrow")) this.svg.insertBefore(element, this.svg.querySelector(":scope > .label"));
      }
    }
  }

  /**
   * Send the step's numbers along their arrows.
   * @param {Frame} frame
   */
  run(frame) {
    for (const [at, text] of frame.moves) {
      const way = this.places.get(at)?.map((e) => e.querySelector(".way")).find(Boolean);
      if (way) runAlong(this.svg, /** @type {SVGPathElement} */ (way), text);
    }
  }

  /** The element of the node that is lit, if any. */
  lit() {
    return this.svg.querySelector(".lit");
  }
}

/**
 * @param {SVGSVGElement} svg
 * @param {SVGPathElement} way
 * @param {string} text
 */
function runAlong(svg, way, text) {
  if (!way.getTotalLength) return; // a DOM without geometry
  const length = way.getTotalLength();
  const [left, , width] = (svg.getAttribute("viewBox") ?? "0 0 1 1").split(" ").map(Number);
  const half = textWidth(text, RUNNER_SIZE) / 2 + 4;
  const number = svgElement("text", { class: "f-grad runner", "font-size": RUNNER_SIZE, "text-anchor": "middle", dy: -4 });
  number.textContent = text;
  svg.append(number);
  const start = performance.now();
  /** @param {number} now */
  const frame = (now) => {
    const done = Math.min(1, (now - start) / RUN_MS);
    const point = way.getPointAtLength(done * length);
    number.setAttribute("x", String(Math.min(Math.max(point.x, left + half), left + width - half)));
    number.setAttribute("y", String(point.y));
    if (done < 1 && number.isConnected) requestAnimationFrame(frame);
    else number.remove();
  };
  frame(start);
}
