// Where the cards of a map stand, whatever is open: the same sum as in Python (maps/place.py), whose widths are given.

import { same } from "../pass/stops.js";

/**
 * @typedef {object} Flow
 * @property {string} id
 * @property {number} source which part; -1 is the entrance of the frame
 * @property {number} target -2 is its exit
 * @property {number | null} lane px from the frame's left edge; null where it leads straight to the next part
 * @property {number | null} [into] px, where it comes from its lane into one of several columns
 * @property {number} [under] px under its source, where it leaves for its lane
 */
/**
 * @typedef {object} MapFrame
 * @property {string[]} parts
 * @property {number[][][]} rows columns of places of parts, from the top down
 * @property {number[]} lefts px from the frame's left edge to each part
 * @property {Flow[]} flows
 * @property {number} header
 * @property {number} right edge of its parts
 */
/**
 * @typedef {object} Line a parameter
 * @property {string} leaf
 * @property {string} name
 * @property {string} shape
 * @property {string} norm
 * @property {string} said of its gradient, before a step
 * @property {boolean} odd
 */
/**
 * @typedef {object} Card
 * @property {string} kind
 * @property {string} title
 * @property {string} path
 * @property {string} name class, and how many
 * @property {string} about
 * @property {string[]} badges
 * @property {string} above the card around it, or ""
 * @property {number} w
 * @property {number} h while it is closed
 * @property {number} nodes
 * @property {Line[]} lines
 * @property {[name: string, count: number][]} kinds of its ops
 * @property {string} norm of the gradient of all its parameters, before a step
 * @property {string} kept bytes
 * @property {string} alarm
 */
/**
 * @typedef {object} MapData
 * @property {Record<string, Card>} cards
 * @property {Record<string, MapFrame>} frames of cards that can be opened
 * @property {Record<string, string>} insides what is drawn in them
 * @property {string[]} opened
 * @property {string} root
 * @property {number} gap
 * @property {number} margin
 * @property {number} top
 * @property {number} beside px for the legend
 * @property {boolean} [fixed] there is no kernel that could draw a figure
 * @property {boolean} [still] there are no steps
 */
/** @typedef {{ x: number, y: number, w: number, h: number }} Rect */
/** @typedef {{ id: string, frame: string, begin: number, top: number, bottom: number, middle: number }} PlacedFlow px from the frame's top */
/** @typedef {{ id: string, x: number, y: number, h: number }} PlacedCard px from the corner of the card around it */
/** @typedef {{ cards: PlacedCard[], flows: PlacedFlow[], boxes: Map<string, Rect>, width: number, height: number }} Placed */

export const [ENTRANCE, EXIT] = [-1, -2];
const [BRANCH, OVER, CLEAR, NEARER] = [8, 12, 11, 6]; // px, as in maps/arrows.py

/**
 * The cards that are drawn, each before what is in it.
 * @param {MapData} map
 * @param {Set<string>} opened
 */
export function drawnCards(map, opened) {
  const [drawn, todo] = [/** @type {string[]} */ ([]), [map.root]];
  for (let id = todo.pop(); id !== undefined; id = todo.pop()) {
    drawn.push(id);
    if (opened.has(id)) todo.push(...[...(map.frames[id]?.parts ?? [])].reverse());
  }
  return drawn;
}

/**
 * @param {MapData} map
 * @param {Set<string>} opened
 * @returns {Placed}
 */
export function placed(map, opened) {
  const drawn = drawnCards(map, opened);
  const heights = heightsOf(map, opened, drawn);
  const height = (/** @type {string} */ id) => heights.get(id) ?? 0;
  /** @type {Placed} */
  const found = { cards: [], flows: [], boxes: new Map(), width: 0, height: 0 };
  const corner = new Map([[map.root, { x: map.margin, y: map.top }]]);
  for (const id of drawn) {
    const at = /** @type {{ x: number, y: number }} */ (corner.get(id));
    found.boxes.set(id, { ...at, w: map.cards[id].w, h: height(id) });
    if (!opened.has(id)) continue;
    const frame = map.frames[id];
    const tops = topsOf(map, frame, height);
    for (const [k, part] of frame.parts.entries()) {
      found.cards.push({ id: part, x: frame.lefts[k], y: tops[k], h: height(part) });
      corner.set(part, { x: at.x + frame.lefts[k], y: at.y + tops[k] });
    }
    const bottom = (/** @type {number} */ k) => tops[k] + height(frame.parts[k]);
    const first = found.flows.length;
    for (const { id: flow, source, target, lane } of frame.flows) {
      const begin = source === ENTRANCE ? frame.header : bottom(source);
      const row = lane === null ? undefined : frame.rows.find((columns) => columns.flat().includes(source));
      const top = row ? Math.max(...row.flat().map(bottom)) : begin;
      found.flows.push({ id: flow, frame: id, begin, top, bottom: target === EXIT ? height(id) : tops[target], middle: 0 });
    }
    putNumbers(frame.flows, found.flows.slice(first));
  }
  found.width = map.cards[map.root].w + 2 * map.margin + map.beside;
  found.height = height(map.root) + map.top + map.margin;
  return found;
}

/**
 * The number of each lane: in its middle, or as near to it as no other way crosses.
 * @param {Flow[]} flows
 * @param {PlacedFlow[]} places
 */
function putNumbers(flows, places) {
  for (const [k, at] of places.entries()) {
    const lane = flows[k].lane ?? Number.POSITIVE_INFINITY;
    const crossing = flows.flatMap(({ lane: other, target, into, under = BRANCH }, j) => {
      if ((other ?? 0) <= lane) return [];
      const back = places[j].bottom + (typeof into === "number" ? -OVER : OVER);
      return target === EXIT ? [places[j].top + under] : [places[j].top + under, back];
    });
    const middle = (at.top + at.bottom) / 2;
    const tries = Math.floor((at.bottom - at.top) / 2 / NEARER);
    at.middle = middle;
    for (let i = 0; i < 2 * tries; i++) {
      const y = middle + NEARER * (Math.floor(i / 2) + (i % 2)) * (i % 2 ? 1 : -1);
      if (crossing.some((other) => Math.abs(other - y) <= CLEAR)) continue;
      at.middle = y;
      break;
    }
  }
}

/**
 * Where each part of a frame begins.
 * @param {MapData} map
 * @param {MapFrame} frame
 * @param {(id: string) => number} height
 */
function topsOf(map, frame, height) {
  const tops = frame.parts.map(() => 0);
  let y = frame.header + map.gap;
  for (const row of frame.rows) {
    for (const column of row) {
      let top = y;
      for (const k of column) {
        tops[k] = top;
        top += height(frame.parts[k]) + map.gap;
      }
    }
    y += tallOf(map, frame, row, height);
  }
  return tops;
}

/**
 * px of a row, with the gap below it.
 * @param {MapData} map
 * @param {MapFrame} frame
 * @param {number[][]} row
 * @param {(id: string) => number} height
 */
function tallOf(map, frame, row, height) {
  return Math.max(...row.map((column) => column.reduce((sum, k) => sum + height(frame.parts[k]) + map.gap, 0)));
}

/**
 * @param {MapData} map
 * @param {Set<string>} opened
 * @param {string[]} drawn
 */
function heightsOf(map, opened, drawn) {
  /** @type {Map<string, number>} */
  const heights = new Map();
  for (const id of [...drawn].reverse()) {
    const frame = map.frames[id];
    if (!opened.has(id) || !frame) heights.set(id, map.cards[id].h);
    else {
      const inner = frame.rows.reduce((sum, row) => sum + tallOf(map, frame, row, (part) => heights.get(part) ?? 0), 0);
      heights.set(id, frame.header + map.gap + inner - (id === map.root ? map.gap : 0)); // nothing leaves the program
    }
  }
  return heights;
}

/**
 * The innermost card that is drawn, of those that a card stands in.
 * @param {MapData} map
 * @param {Set<string>} opened
 * @param {string} id
 */
export function visibleCard(map, opened, id) {
  let visible = id;
  for (let at = id; at in map.cards; at = map.cards[at].above) {
    const { above } = map.cards[at];
    if (above && !opened.has(above)) visible = above;
  }
  return visible;
}

/**
 * A card and all that it stands in, from the inside out.
 * @param {MapData} map
 * @param {string} id
 */
export function cardsAround(map, id) {
  const around = [];
  for (let at = id; at in map.cards; at = map.cards[at].above) around.push(at);
  return around;
}

/**
 * Is the card of a node another, or in it? On a figure only if it is the same box.
 * @param {MapData | undefined} map
 * @returns {import("../pass/stops.js").Within}
 */
export function withinCards(map) {
  return map ? (node, card) => cardsAround(map, node).includes(card) : same;
}
