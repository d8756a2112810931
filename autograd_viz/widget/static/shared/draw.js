// Words in the picture: lines of runs become <text> elements. Text is always set as text, never parsed.

import { briefLines } from "./brief.js";

/** @typedef {[text: string, role: string]} Run */
/** @typedef {Run[][]} Lines */

const SVG = "http://www.w3.org/2000/svg";
const ADVANCE = 0.602; // width of a character of the monospace font, in em
const ROW_SIZE = 11.4; // px, and from line to line: of rows that say nothing else (page.py)
const ROW_PITCH = 14;
const BASELINE = 0.35; // how far the baseline stands below the middle of a line, in em

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @returns {SVGElement}
 */
export function svgElement(tag, attributes = {}) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/**
 * The width of a monospace text in px.
 * @param {string} text
 * @param {number} size
 */
export function textWidth(text, size) {
  return text.length * ADVANCE * size;
}

/**
 * One line of coloured runs.
 * @param {Run[]} runs
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {string} anchor "middle", "end" or ""
 */
function textLine(runs, x, y, size, anchor) {
  const line = svgElement("text", { x, y, "font-size": size });
  if (anchor) line.setAttribute("text-anchor", anchor);
  for (const [text, role] of runs) {
    const span = svgElement("tspan", { class: `f-${role}` });
    span.textContent = text;
    line.append(span);
  }
  return line;
}

/**
 * Write lines into a row or onto an arrow (an element with `data-x`, `data-y`, `data-size`).
 * @param {Element} cell
 * @param {Lines} lines
 */
export function writeLines(cell, lines) {
  const { brief, short = "" } = /** @type {HTMLElement} */ (cell).dataset;
  writeAll(cell, brief ? briefLines(lines, Number(brief), short) : lines);
}

/**
 * @param {Element} cell
 * @param {Lines} lines
 */
function writeAll(cell, lines) {
  const { x, y, size = ROW_SIZE, pitch = ROW_PITCH, middle, end, room } = /** @type {HTMLElement} */ (cell).dataset;
  const isLabel = cell.classList.contains("label");
  const [left, top] = [Number(x), Number(y)];
  const longest = Math.max(1, ...lines.map((runs) => runs.reduce((sum, [text]) => sum + text.length, 0)));
  const em = Math.min(Number(size), room ? Number(room) / (longest * ADVANCE) : Infinity);
  for (const old of [...cell.children]) if (isLabel || old.tagName === "text") old.remove();
  if (isLabel && lines.length) cell.append(ground(lines[0], left, top, em, middle === "1"));
  lines.forEach((runs, i) => {
    const centre = isLabel ? top + 7 : top + (i - (lines.length - 1) / 2) * Number(pitch);
    cell.append(textLine(runs, left, centre + em * BASELINE, em, middle === "1" ? "middle" : end === "1" ? "end" : ""));
  });
}

/**
 * What interrupts the arrow's line under a number.
 * @param {Run[]} runs
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {boolean} middle
 */
function ground(runs, x, y, size, middle) {
  const width = textWidth(runs.map(([text]) => text).join(""), size) + 6;
  return svgElement("rect", { x: middle ? x - width / 2 : x - 3, y, width, height: 14, class: "f-canvas" });
}
