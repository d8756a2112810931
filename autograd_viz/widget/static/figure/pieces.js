// The parts of a large picture as text. A picture of a thousand boxes takes most of a second to parse; what nobody has come near
// to stays text: where it stands, what it is called and what a step writes into it are known without parsing it.

import { numbersOf } from "./runner.js";

/** @typedef {import("../shared/draw.js").Lines} Lines */
/** @typedef {import("./picture.js").Box} Box */
/** @typedef {{ left: number, top: number, right: number, bottom: number }} Region */
/** @typedef {{ element: Element | null, place: ChildNode | null }} Standing the element, once made; what stands for it, if it is away */
/**
 * @typedef {Region & Standing & {
 *   text: string, kind: string, addresses: string[], box: Box | undefined, writes: Map<string, Lines>
 * }} Piece a box, an arrow or a label, and what it is to say when it is made
 */

const MANY = 400; // pieces; up to so many, everything is parsed
const NEXT = "\n<g "; // between pieces; inside them "<" never follows a line's end of the user's
const END = "</g></svg>";
const KINDS = { tensor: "box", op: "box", node: "box", ctx: "box", arrow: "arrow", label: "label" }; // what may be left out
const OUTLINE = /<rect x='([^']*)' y='([^']*)' width='([^']*)' height='([^']*)'[^>]* class='outline/;
const PLACE = / data-x='([^']*)' data-y='([^']*)'/;
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };

/**
 * The attribute's value as it was before it was escaped.
 * @param {string} value
 */
function unescaped(value) {
  return value.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[/** @type {keyof ENTITIES} */ (entity)]);
}

/**
 * A picture's text in two: what is to be parsed at once, and the pieces that may wait.
 * @param {string} source
 * @returns {{ head: string, pieces: Piece[] }}
 */
export function partsOf(source) {
  const [head, ...texts] = source.split(NEXT);
  if (texts.length <= MANY || !source.endsWith(END)) return { head: source, pieces: [] };
  texts.push(/** @type {string} */ (texts.pop()).slice(0, -"</svg>".length));
  const whole = texts.map((text) => pieceOf(`<g ${text}`));
  const kept = whole.filter((piece) => !piece.kind).map((piece) => piece.text); // lines of code
  return { head: [head, ...kept].join("\n") + "</svg>", pieces: whole.filter((piece) => piece.kind) };
}

/**
 * @param {string} text
 * @returns {Piece}
 */
function pieceOf(text) {
  const [, name = "", colour] = /^<g class='(\w+)(?: (\w+))?/.exec(text) ?? [];
  const kind = KINDS[/** @type {keyof KINDS} */ (name)] ?? "";
  const addresses = [...text.matchAll(/ data-at='([^']*)'/g)].map((found) => unescaped(found[1]));
  const region = kind ? sidesOf(kind, text) : { left: 0, top: 0, right: 0, bottom: 0 };
  const { left, top, right, bottom } = region;
  const isBox = kind === "box" && name !== "ctx";
  const box = isBox ? { id: addresses[0], kind: name, colour, x: left, y: top, w: right - left, h: bottom - top } : undefined;
  return { ...region, text, kind, addresses, box, element: null, place: null, writes: new Map() };
}

/**
 * Where a piece stands.
 * @param {string} kind
 * @param {string} text
 * @returns {Region}
 */
function sidesOf(kind, text) {
  if (kind === "arrow") return reachOf([...text.matchAll(/ d='([^']*)'/g)].map((found) => found[1]));
  if (kind === "label") {
    const [x, y] = (PLACE.exec(text) ?? []).slice(1).map(Number);
    return { left: x, top: y, right: x, bottom: y };
  }
  const [x, y, w, h] = (OUTLINE.exec(text) ?? []).slice(1).map(Number);
  return { left: x, top: y, right: x + w, bottom: y + h };
}

/**
 * How far lines reach.
 * @param {string[]} lines path data
 * @returns {Region}
 */
export function reachOf(lines) {
  const reach = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const d of lines) {
    const numbers = numbersOf(d);
    for (let i = 0; i + 1 < numbers.length; i += 2) {
      reach.left = Math.min(reach.left, numbers[i]);
      reach.right = Math.max(reach.right, numbers[i]);
      reach.top = Math.min(reach.top, numbers[i + 1]);
      reach.bottom = Math.max(reach.bottom, numbers[i + 1]);
    }
  }
  return reach;
}
