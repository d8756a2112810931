// An array: its text if it is short, a heat map from two elements on, and statistics.

import { blockSize, gridOf, heatmap, indexText, legend } from "../shared/heatmap.js";
import { elementNumber, valueText } from "../shared/numbers.js";
import { countOf, fullNumber, isComplex, shortNumber, statisticsOf } from "../shared/statistics.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("../shared/statistics.js").Value} Value */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../shared/tree.js").Tree} Tree */

const LONGEST_TEXT = 120; // characters
const OPEN_FROM = 16; // elements from which on the statistics are open at once

/**
 * "[2, 3] float32"
 * @param {Value} value
 */
function shapeText(value) {
  return `[${value.shape.join(", ")}] ${value.dtype}`;
}

/**
 * The values on one line, else the shape.
 * @param {Value | null | undefined} value
 */
export function lineOf(value) {
  if (!value) return "None";
  const text = valueText(value);
  return text.length <= 40 && !text.includes("...") ? text : shapeText(value);
}

/**
 * @param {Look} look
 * @param {Value | null | undefined} value
 * @param {string} key different for each array of the panel
 * @param {string} name for a screen reader
 * @returns {Tree}
 */
export function arrayView(look, value, key, name) {
  if (!value) return tree("div", { class: "av-i-array" }, [tree("code", { class: "av-i-none" }, ["None"])], { key });
  const text = valueText(value);
  const isShort = text.length <= LONGEST_TEXT && !text.includes("...");
  const isPlain = value.shape.length === 0;
  const parts = [
    isShort && tree("code", { class: "av-i-value" }, [text.replaceAll("], [", "],\n [")]),
    !isPlain && tree("span", { class: "av-i-shape" }, [shapeText(value)]),
    ...heat(look, value, key, name),
    countOf(value.shape) > 1 && statisticsView(look, value),
  ];
  return tree("div", { class: "av-i-array" }, parts, { key });
}

/**
 * @param {Look} look
 * @param {Value} value
 * @param {string} key
 * @param {string} name
 * @returns {Tree[]}
 */
function heat(look, value, key, name) {
  const grid = gridOf(value);
  if (!grid) return [];
  const pointed = look.pointed?.key === key && look.pointed.index < grid.numbers.length ? look.pointed.index : null;
  const blocks = `${look.word("block_mean")}, ${blockSize(value, grid)}`;
  const at = pointed === null ? "" : elementText(look, value, pointed);
  return [
    heatmap(grid, look.word("heat_map", { name }), key, pointed),
    legend(grid),
    tree("div", { class: "av-h-element", "aria-live": "polite" }, [at || (grid.isBlocks && blocks) || "\u00a0"]),
  ];
}

/**
 * "[1, 2] = 0.5"
 * @param {Look} look
 * @param {Value} value
 * @param {number} index
 */
function elementText(look, value, index) {
  const grid = gridOf(value);
  if (!grid) return "";
  const element = grid.isBlocks ? 0 : (value.numbers?.[index] ?? 0);
  const isWhole = isComplex(element) || Number.isInteger(element);
  const whole = isWhole ? elementNumber(element, value.dtype) : fullNumber(grid.numbers[index], value.dtype);
  const number = grid.isBlocks ? shortNumber(grid.numbers[index]) : whole;
  return look.word("element", { index: indexText(value, grid, index), value: number });
}

/**
 * @param {Look} look
 * @param {Value} value
 * @returns {Tree | null}
 */
function statisticsView(look, value) {
  const found = statisticsOf(value);
  if (!found) return null;
  const rows = /** @type {(keyof typeof found)[]} */ (["min", "max", "mean", "norm", "zeros", "nan", "inf", "elements"]);
  const pairs = rows.map((name) =>
    tree("div", { class: (name === "nan" || name === "inf") && found[name] ? "av-i-alarm" : "" }, [
      tree("dt", {}, [look.word(name)]),
      tree("dd", {}, [shortNumber(found[name])]),
    ]),
  );
  const once = found.elements >= OPEN_FROM || found.nan + found.inf ? { open: "" } : undefined;
  const summary = tree("summary", {}, [look.word(found.nan + found.inf ? "statistics_finite" : "statistics")]);
  return tree("details", { class: "av-i-statistics" }, [summary, tree("dl", {}, pairs)], { once });
}
