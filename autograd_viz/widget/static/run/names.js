// The names beside the rows of a run, and its legend: where each stands.

/** @typedef {import("./scale.js").RunRow} RunRow */
/** @typedef {{ k: number, heading: string, end: number }} RunBlock its first row, its name, and where that ends */

const [NAME_EDGE, NAME_SPACE, LEAST_NAMES] = [4, 8, 76]; // px: of the page, between a name and what is beside it, of all names
const NAME_LETTERS = 24; // of a name, at most

/**
 * A name of some letters; the end of a path says more than its beginning.
 * @param {string} name
 */
export const cutName = (name) => (name.length > NAME_LETTERS ? `…${name.slice(1 - NAME_LETTERS)}` : name);

/**
 * Blocks of neighbouring rows, each with its name right beside its labels; and where the cells begin.
 * @param {RunRow[]} rows
 * @param {string} whole what the rows belong to that have no heading
 * @param {number} width of the canvas in px
 * @param {(said: string, bold: boolean) => number} measure px of a text
 * @returns {{ left: number, blocks: RunBlock[] }}
 */
export function namesOf(rows, whole, width, measure) {
  /** @type {(RunBlock & { widest: number })[]} */
  const blocks = [];
  rows.forEach(({ heading, label }, k) => {
    if (!k || heading !== rows[k - 1].heading) blocks.push({ k, heading: cutName(heading || whole), end: 0, widest: 0 });
    const block = blocks[blocks.length - 1];
    block.widest = Math.max(block.widest, measure(cutName(label), false));
  });
  const wanted = blocks.map(({ heading, widest }) => NAME_EDGE + measure(heading, true) + NAME_SPACE + widest + NAME_SPACE);
  const left = Math.min(Math.max(LEAST_NAMES, ...wanted), Math.max(LEAST_NAMES, 0.45 * width));
  return { left, blocks: blocks.map(({ k, heading, widest }) => ({ k, heading, end: left - 2 * NAME_SPACE - widest })) };
}

/**
 * Where the parts of a legend stand that is as wide as the canvas.
 * @param {number[]} widths px of each part
 * @param {number} width px
 * @returns {{ x: number, line: number }[]}
 */
export function legendPlaces(widths, width) {
  let [x, line] = [NAME_EDGE, 0];
  return widths.map((wide) => {
    if (x > NAME_EDGE && x + wide > width) [x, line] = [NAME_EDGE, line + 1];
    const at = { x, line };
    x += wide + 2 * NAME_SPACE;
    return at;
  });
}
