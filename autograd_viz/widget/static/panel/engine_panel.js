// The engine: who is ready, who waits, what was freed, and how much saved tensors hold.

import { linkTo, noteOf, sectionOf, shortList, wordsAround } from "./look.js";
import { bytesText } from "../shared/statistics.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../pass/history.js").StepRecord} StepRecord */
/** @typedef {import("../shared/tree.js").Tree} Tree */

const SPARK = { width: 200, height: 32, margin: 3 }; // px

/**
 * @param {Look} look
 * @returns {Tree[]}
 */
export function enginePanel(look) {
  const { word, history } = look;
  const { queue = [], waiting = [], held = 0 } = history.engine;
  const ready = look.ready.length
    ? shortList(look.ready, ([box, name]) => memberLink(look, box, name), "ol")
    : shortList(queue, (id) => linkTo(look, id), "ol");
  const waits = shortList(waiting, ({ node, arrived, expected }) => {
    const count = tree("span", { class: "av-i-shape" }, [word("arrived_of", { arrived, expected })]);
    return tree("span", {}, [linkTo(look, node), " ", count]);
  });
  return [
    sectionOf("queue", word("queue"), queue.length ? ready : [noteOf(word("queue_empty"))]),
    sectionOf("waiting", word("waiting"), waiting.length ? waits : [noteOf(word("waiting_none"))]),
    sectionOf("held", word("held"), [tree("p", { class: "av-i-held" }, [bytesText(held)]), sparkline(look), freed(look)]),
  ];
}

/**
 * A node that could run; of one in a group or card its name, and a press selects the box.
 * @param {Look} look
 * @param {string} box
 * @param {string} name
 */
function memberLink(look, box, name) {
  if (!name) return linkTo(look, box);
  return tree("button", { type: "button", class: "av-i-link" }, [tree("bdi", {}, [name])], {
    message: { kind: "select", id: box },
  });
}

/**
 * Names of the saved tensors that a step freed.
 * @param {StepRecord | undefined} step
 */
function freedNames(step) {
  const start = `${step?.node}.saved.`;
  const freed = (step?.changes ?? []).filter((c) => c.at.startsWith(start) && c.before && !c.after);
  return freed.map((c) => c.at.slice(start.length));
}

/** @param {Look} look */
function freed(look) {
  const step = look.history.current;
  const names = freedNames(step);
  if (!step || (!names.length && !step.freed)) return null;
  const said = wordsAround(look, "freed_by", "node", step.node, { bytes: bytesText(step.freed ?? 0) });
  const code = tree("code", {}, [names.join(", ")]);
  return tree("p", { class: "av-i-freed" }, [...said, names.length > 0 && ": ", names.length > 0 && code]);
}

/** @type {WeakMap<object, { edition: number, d: string, most: number }>} the curve of each history, drawn anew when it grows */
const curves = new WeakMap();

/** @param {import("../pass/history.js").PassHistory} history */
function curveOf(history) {
  const before = curves.get(history);
  if (before?.edition === history.edition) return before;
  const held = history.held();
  const most = Math.max(...held);
  const points = held.map((bytes, i) => ({ x: sparkX(i, held.length), y: sparkY(bytes, most) }));
  const d = points.map(({ x, y }, i) => (i ? `H${x}V${y}` : `M${x} ${y}`)).join("");
  const made = { edition: history.edition, d, most };
  curves.set(history, made);
  return made;
}

/**
 * @param {number} i
 * @param {number} count
 */
function sparkX(i, count) {
  return round1(SPARK.margin + (i / Math.max(1, count - 1)) * (SPARK.width - 2 * SPARK.margin));
}

/**
 * @param {number} bytes
 * @param {number} most
 */
function sparkY(bytes, most) {
  return round1(SPARK.height - SPARK.margin - (most ? bytes / most : 0) * (SPARK.height - 2 * SPARK.margin));
}

/** @param {number} x */
function round1(x) {
  return Math.round(x * 10) / 10;
}

/**
 * Memory over the recorded steps, with the present one marked; nothing to draw before the first step.
 * @param {Look} look
 */
function sparkline(look) {
  const { history } = look;
  const count = history.known.length + 1;
  const { d, most } = curveOf(history);
  if (count < 2 || !most) return null;
  const dot = { cx: sparkX(history.position, count), cy: sparkY(history.engine.held ?? 0, most), r: 3, class: "av-i-here" };
  const size = { width: SPARK.width, height: SPARK.height, viewBox: `0 0 ${SPARK.width} ${SPARK.height}` };
  return tree("svg", { class: "av-i-spark", "aria-hidden": "true", ...size }, [tree("path", { d }), tree("circle", dot)]);
}
