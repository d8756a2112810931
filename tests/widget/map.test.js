// The map without a page: where cards stand, which are seen, how thick an arrow is, what a stop on a card means.

import assert from "node:assert/strict";
import test from "node:test";

import { cardsAround, drawnCards, placed, visibleCard, withinCards } from "../../autograd_viz/widget/static/map/layout.js";
import { stretched, thickness, upPath } from "../../autograd_viz/widget/static/map/picture.js";
import { nextStop } from "../../autograd_viz/widget/static/pass/stops.js";

const card = (above, h = 30) => ({ above, h, w: 100, kind: "module" });
const MAP = {
  root: "c0",
  gap: 10,
  margin: 5,
  top: 20,
  beside: 40,
  cards: { c0: card(""), c1: card("c0"), c2: card("c0"), c3: card("c2"), c4: card("c2", 50) },
  frames: {
    c0: {
      parts: ["c1", "c2"],
      rows: [[[0]], [[1]]],
      lefts: [0, 0],
      flows: [{ id: "f0.0", source: 0, target: 1, lane: null }],
      header: 0,
      right: 100,
    },
    c2: {
      parts: ["c3", "c4"],
      rows: [[[0]], [[1]]],
      lefts: [16, 16],
      flows: [{ id: "f2.0", source: -1, target: 1, lane: 90 }],
      header: 32,
      right: 80,
    },
  },
};

test("a closed map is its parts one below the other", () => {
  const { boxes, height, width } = placed(MAP, new Set(["c0"]));
  assert.deepEqual(boxes.get("c1"), { x: 5, y: 30, w: 100, h: 30 });
  assert.deepEqual(boxes.get("c2"), { x: 5, y: 70, w: 100, h: 30 });
  assert.equal(boxes.has("c3"), false);
  assert.deepEqual([width, height], [150, 105]);
});

test("what is opened makes room for its parts, and what stands below moves", () => {
  const { boxes, flows } = placed(MAP, new Set(["c0", "c2"]));
  assert.deepEqual(boxes.get("c2"), { x: 5, y: 70, w: 100, h: 32 + 10 + 30 + 10 + 50 + 10 });
  assert.deepEqual(boxes.get("c4"), { x: 21, y: 70 + 32 + 10 + 30 + 10, w: 100, h: 50 });
  assert.deepEqual(flows.find((f) => f.id === "f2.0"), { id: "f2.0", frame: "c2", begin: 32, top: 32, bottom: 82, middle: 57 });
  assert.deepEqual(drawnCards(MAP, new Set(["c0", "c2"])), ["c0", "c1", "c2", "c3", "c4"]);
});

test("ways that do not meet stand side by side, and the row is as high as the highest", () => {
  const parts = ["a", "b", "c", "d"];
  const flows = [
    { id: "ad", source: 0, target: 3, lane: null },
    { id: "a-", source: 0, target: -2, lane: 130 },
    { id: "cd", source: 2, target: 3, lane: null },
  ];
  const frame = { parts, rows: [[[0], [1, 2]], [[3]]], lefts: [0, 60, 60, 0], flows, header: 0, right: 120 };
  const cards = { root: card(""), ...Object.fromEntries(parts.map((id) => [id, card("root")])) };
  const { boxes, flows: placedFlows } = placed({ ...MAP, root: "root", cards, frames: { root: frame } }, new Set(["root"]));
  const at = (id) => [boxes.get(id).x, boxes.get(id).y];
  assert.deepEqual(parts.map(at), [
    [5, 30],
    [65, 30],
    [65, 70],
    [5, 110],
  ]);
  assert.deepEqual(
    placedFlows.map(({ begin, top, bottom }) => [begin, top, bottom]),
    [
      [40, 40, 90],
      [40, 80, 120],
      [80, 80, 90],
    ],
  );
});

test("a card in a closed one is seen as that", () => {
  assert.equal(visibleCard(MAP, new Set(["c0"]), "c4"), "c2");
  assert.equal(visibleCard(MAP, new Set(["c0", "c2"]), "c4"), "c4");
  assert.deepEqual(cardsAround(MAP, "c4"), ["c4", "c2", "c0"]);
});

test("a run stops before the first node of a card, and not before each", () => {
  const frames = ["c1", "c4", "c3", "c1", "c3"].map((node) => ({ node, step: { engine: { queue: [] } } }));
  const stops = [{ kind: "node", node: "c2" }];
  assert.deepEqual(nextStop(frames, 0, stops, withinCards(MAP)), { step: 1, kind: "breakpoint", node: "c2" });
  assert.deepEqual(nextStop(frames, 1, stops, withinCards(MAP)), { step: 4, kind: "breakpoint", node: "c2" });
  assert.equal(nextStop(frames, 0, stops), null);
});

test("an arrow is as thick as log10 of its norm, and nan, inf and zero are thin", () => {
  assert.equal(thickness(100), 9);
  assert.equal(thickness(1e-6), 1.5);
  assert.equal(thickness(1e-2), 5.25);
  assert.deepEqual([0, NaN, Infinity].map(thickness), [1.5, 1.5, 1.5]);
  assert.equal(upPath(400, 2, 32), "M399 32V7H395.625L400 0L404.375 7H401V32Z");
});

test("an arrow of a map without steps is as long as its gap", () => {
  assert.equal(stretched(upPath(100, 4, 32), 90.5), upPath(100, 4, 90.5));
  assert.equal(stretched("", 90), "");
});
