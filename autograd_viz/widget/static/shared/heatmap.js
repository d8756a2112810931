// A heat map on a diverging scale with zero in the middle: one colour's strength for negative, another's for positive.

import { asNumber, countOf, shortNumber } from "./statistics.js";
import { tree } from "./tree.js";

/** @typedef {import("./statistics.js").Value} Value */
/** @typedef {import("./tree.js").Tree} Tree */
/**
 * @typedef {object} Grid
 * @property {number} rows
 * @property {number} columns
 * @property {number[]} numbers row by row
 * @property {number} slab rows of one matrix, where several stand below each other
 * @property {boolean} isBlocks the numbers are means of blocks
 */

/** @typedef {{ widest: number, highest: number, least: number, most: number }} Sizes px: of the whole, of the smallest and the largest cell */

/** @type {Sizes} */
const PANEL = { widest: 224, highest: 224, least: 4, most: 18 };
const SLAB_GAP = 4; // px between the matrices of an array of more dimensions
const SIGN_ROOM = 8; // px that a cell needs for the sign of an infinity

/**
 * The array as a matrix, leading dimensions joined; null if there is nothing to compare (one element, none, not numbers).
 * @param {Value} value
 * @returns {Grid | null}
 */
export function gridOf(value) {
  if (value.summary) {
    const { rows, columns, thumbnail } = value.summary;
    return { rows, columns, numbers: thumbnail.map(asNumber), slab: rows, isBlocks: true };
  }
  const numbers = value.numbers ?? [];
  if (numbers.length < 2 || numbers.some((x) => typeof x === "object")) return null;
  const columns = value.shape[value.shape.length - 1];
  const slab = value.shape.length > 2 ? value.shape[value.shape.length - 2] : numbers.length / columns;
  return { rows: numbers.length / columns, columns, numbers: numbers.map(asNumber), slab, isBlocks: false };
}

/**
 * The largest finite magnitude: the scale goes from minus this to this.
 * @param {number[]} numbers
 */
export function limitOf(numbers) {
  return numbers.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
}

/**
 * Which colour, and how strong from 0 to 1. nan has no colour at all.
 * @param {number} x
 * @param {number} limit
 * @returns {{ tone: "negative" | "zero" | "positive" | "nan", strength: number }}
 */
export function shadeOf(x, limit) {
  if (Number.isNaN(x)) return { tone: "nan", strength: 0 };
  if (x === 0) return { tone: "zero", strength: 0 };
  const strength = Number.isFinite(x) ? Math.abs(x) / limit : 1;
  return { tone: x < 0 ? "negative" : "positive", strength: Math.round(strength * 1000) / 1000 };
}

/**
 * Where an element stands in the array: "1, 2", or "0:4, 8:12" for a block of a larger one.
 * @param {Value} value
 * @param {Grid} grid
 * @param {number} index
 */
export function indexText(value, grid, index) {
  const { shape } = value;
  if (grid.isBlocks) return blockText(shape, grid, index);
  /** @type {number[]} */
  const at = [];
  for (let i = shape.length - 1, rest = index; i >= 0; rest = Math.floor(rest / shape[i--])) at.unshift(rest % shape[i]);
  return at.join(", ");
}

/**
 * Blocks are cut from the matrix of joined leading dimensions.
 * @param {number[]} shape
 * @param {Grid} grid
 * @param {number} index
 */
function blockText(shape, grid, index) {
  const columns = shape[shape.length - 1] ?? 1;
  const rows = countOf(shape) / columns;
  const across = range(index % grid.columns, grid.columns, columns);
  return shape.length < 2 ? across : `${range(Math.floor(index / grid.columns), grid.rows, rows)}, ${across}`;
}

/**
 * @param {number} i
 * @param {number} parts
 * @param {number} length
 */
function range(i, parts, length) {
  const [start, end] = [Math.floor((i * length) / parts), Math.floor(((i + 1) * length) / parts)];
  return end - start === 1 ? String(start) : `${start}:${end}`;
}

/**
 * How large the blocks of a thumbnail are: "4 × 3–4".
 * @param {Value} value
 * @param {Grid} grid
 */
export function blockSize(value, grid) {
  const columns = value.shape[value.shape.length - 1] ?? 1;
  const sizes = [
    [countOf(value.shape) / columns, grid.rows],
    [columns, grid.columns],
  ].map(([length, parts]) => {
    const [least, most] = [Math.floor(length / parts), Math.ceil(length / parts)];
    return least === most ? String(least) : `${least}–${most}`;
  });
  return value.shape.length < 2 ? sizes[1] : sizes.join(" × ");
}

/**
 * The element that an arrow key leads to; the same one at the edge, null for other keys.
 * @param {Grid} grid
 * @param {number} index
 * @param {string} key
 */
export function moved(grid, index, key) {
  const [row, column] = [Math.floor(index / grid.columns), index % grid.columns];
  if (key === "ArrowRight") return row * grid.columns + Math.min(column + 1, grid.columns - 1);
  if (key === "ArrowLeft") return row * grid.columns + Math.max(column - 1, 0);
  if (key === "ArrowDown") return Math.min(row + 1, grid.rows - 1) * grid.columns + column;
  if (key === "ArrowUp") return Math.max(row - 1, 0) * grid.columns + column;
  if (key === "Home") return 0;
  if (key === "End") return grid.numbers.length - 1;
  return null;
}

/**
 * The side of a cell so that all fit, in whole px.
 * @param {number} count
 * @param {number} room
 * @param {Sizes} sizes
 */
function cellSide(count, room, { least, most }) {
  return Math.max(least, Math.min(most, Math.floor(room / count)));
}

/**
 * The drawing; cells carry `data-index`.
 * @param {Grid} grid
 * @param {string} label what a screen reader says
 * @param {string} key
 * @param {number | null} pointed
 * @param {{ sizes?: Sizes, lit?: number[], tabindex?: number }} [more] `lit`: other elements with a ring
 * @returns {Tree}
 */
export function heatmap(grid, label, key, pointed, { sizes = PANEL, lit = [], tabindex = 0 } = {}) {
  const [wide, high] = [cellSide(grid.columns, sizes.widest, sizes), cellSide(grid.rows, sizes.highest, sizes)];
  const limit = limitOf(grid.numbers);
  /** @param {number} i @returns {[number, number]} */
  const corner = (i) => {
    const row = Math.floor(i / grid.columns);
    return [(i % grid.columns) * wide + 1, row * high + Math.floor(row / grid.slab) * SLAB_GAP + 1];
  };
  const width = grid.columns * wide + 2;
  const height = corner(grid.numbers.length - 1)[1] + high + 1;
  const cells = grid.numbers.flatMap((x, i) => cell(x, limit, i, corner(i), wide, high));
  const ringed = pointed === null ? lit : [...lit, pointed];
  const rings = ringed.map((i) =>
    tree("rect", { class: "av-h-ring", x: corner(i)[0], y: corner(i)[1], width: wide, height: high }),
  );
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  const spoken = { role: "img", "aria-label": label, tabindex, "data-heat": key };
  return tree("svg", { class: "av-heat", ...size, ...spoken }, [...cells, ...rings]);
}

/**
 * @param {number} x
 * @param {number} limit
 * @param {number} index
 * @param {[number, number]} corner
 * @param {number} wide
 * @param {number} high
 * @returns {Tree[]}
 */
function cell(x, limit, index, [left, top], wide, high) {
  const { tone, strength } = shadeOf(x, limit);
  const box = { x: left, y: top, width: wide, height: high, "data-index": index };
  const drawn = [tree("rect", { class: `av-h-cell av-h-${tone}`, "fill-opacity": tone === "nan" ? 1 : strength, ...box })];
  const [right, bottom] = [left + wide, top + high];
  const cross = `M${left} ${top}L${right} ${bottom}M${right} ${top}L${left} ${bottom}`;
  if (tone === "nan") drawn.push(tree("path", { class: "av-h-sign", d: cross }));
  if (Math.abs(x) === Infinity && Math.min(wide, high) >= SIGN_ROOM) {
    const [cx, cy, arm] = [left + wide / 2, top + high / 2, Math.min(wide, high) / 2 - 2];
    const upright = x > 0 ? `M${cx} ${cy - arm}V${cy + arm}` : "";
    drawn.push(tree("path", { class: "av-h-sign", d: `M${cx - arm} ${cy}H${cx + arm}${upright}` }));
  }
  return drawn;
}

/**
 * The scale below: its two ends and the zero.
 * @param {Grid} grid
 * @returns {Tree}
 */
export function legend(grid) {
  const limit = limitOf(grid.numbers);
  const [least, most] = limit ? [`-${shortNumber(limit)}`, shortNumber(limit)] : ["", ""];
  const bar = tree("span", { class: "av-h-bar" });
  return tree("div", { class: "av-h-legend" }, [tree("span", {}, [least]), bar, tree("span", {}, [most])]);
}
