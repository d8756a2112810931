// Viewport, keys, search, code lines and runners: what can be said without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { fitted, held, readable, revealed, zoomedAt } = await import(`${at}viewport.js`);
const { holds, reachOf, regionOf } = await import(`${at}culling.js`);
const { meaning } = await import(`${at}keys.js`);
const { towards } = await import(`${at}neighbours.js`);
const { matches } = await import(`${at}search.js`);
const { statementsOfLines } = await import(`${at}code_lines.js`);
const { cornersOf, pointAlong } = await import(`${at}runner.js`);
const { Graph } = await import(`${at}graph.js`);
const ROOM = { width: 500, height: 400 };

test("zooming keeps the point under the pointer", () => {
  const view = zoomedAt({ x: 10, y: 20, scale: 1 }, 2, 100, 50);
  assert.deepEqual([(100 - view.x) / view.scale, (50 - view.y) / view.scale], [90, 30]);
});

test("fit shows everything, the first view stays readable, neither enlarges", () => {
  assert.equal(fitted({ width: 1000, height: 2000 }, ROOM).scale, 0.2);
  assert.equal(readable({ width: 5000, height: 100 }, ROOM).scale, 0.6);
  assert.equal(fitted({ width: 50, height: 40 }, ROOM).scale, 1);
});

test("a box out of sight is brought to the middle, one in sight moves nothing", () => {
  const view = { x: 0, y: 0, scale: 1 };
  assert.deepEqual(revealed(view, { x: 100, y: 100, w: 50, h: 50 }, ROOM), view);
  assert.deepEqual(revealed(view, { x: 100, y: 900, w: 50, h: 50 }, ROOM), { x: 0, y: -725, scale: 1 });
});

test("the picture cannot be lost", () => {
  assert.deepEqual(held({ x: -9999, y: 9999, scale: 1 }, { width: 800, height: 600 }, ROOM), { x: -740, y: 340, scale: 1 });
});

test("what is drawn around the stage holds what is seen", () => {
  const viewport = { view: { x: -100, y: -200, scale: 0.5 }, room: ROOM, picture: { x: -10, y: -5 } };
  assert.deepEqual(regionOf(viewport, 0), { left: 190, top: 395, right: 1190, bottom: 1195 });
  assert.ok(holds(regionOf(viewport, 1), regionOf(viewport, 0)) && !holds(regionOf(viewport, 0), regionOf(viewport, 1)));
});

test("an arrow reaches as far as all its lines", () => {
  const line = (d) => ({ getAttribute: () => d });
  const arrow = { children: [line("M10 20L30 20"), line("M30 20L30 5.5"), line("M-1e-2 7L4 7Z")] };
  assert.deepEqual(reachOf(arrow), { left: -0.01, top: 5.5, right: 30, bottom: 20 });
});

test("keys with Ctrl, Alt or Meta are not ours; Shift and an arrow walks", () => {
  const press = (key, more = {}) => meaning({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });
  assert.equal(press("ArrowRight"), "next");
  assert.equal(press("ArrowRight", { shiftKey: true }), "right");
  assert.equal(press("s", { ctrlKey: true }), "");
  assert.equal(press("q"), "");
});

test("walking goes to the nearest neighbour ahead", () => {
  const box = (id, x, y) => ({ id, kind: "node", x, y, w: 10, h: 10 });
  const [from, near, far, behind] = [box("a", 0, 0), box("b", 5, 50), box("c", 0, 200), box("d", 0, -50)];
  assert.equal(towards(from, [far, behind, near], "down").id, "b");
  assert.equal(towards(from, [near, far], "left"), null);
});

test("search finds by name, type and id, those that begin with it first", () => {
  const tensor = (id, name) => ({ id, name, grad_fn: null, output_nr: 0 });
  const graph = new Graph({ tensors: [tensor("t0", "w1"), tensor("t1", "new")], nodes: [{ id: "n0", name: "MulBackward0", op: null, outputs: 1 }] });
  const say = (key) => key;
  assert.deepEqual(matches(graph, "w", say).map((f) => f.id), ["t0", "t1", "n0"]);
  assert.deepEqual(matches(graph, "mulb", say).map((f) => f.title), ["MulBackward0"]);
  assert.deepEqual(matches(graph, "n0", say).map((f) => f.id), ["n0"]);
  assert.deepEqual(matches(graph, " ", say), []);
});

test("wrapped lines are put together to their statements, cut ones too", () => {
  const statements = [{ text: "a = f(1,\n 2)", tensor: "t0" }, { text: "b = a", tensor: "t1" }, { text: "c = long one", tensor: "t2" }];
  assert.deepEqual(statementsOfLines(["a = f(1,", "2)", "b = a", "c = long", "…", "unknown"], statements), [0, 0, 1, 2, 2, -1]);
});

test("a number runs along the corners of its arrow", () => {
  const corners = cornersOf("M0 0L92 0Q100 0 100 8L100 100");
  assert.deepEqual(pointAlong(corners, 0), [0, 0]);
  assert.deepEqual(pointAlong(corners, 0.5), [100, 0]);
  assert.deepEqual(pointAlong(corners, 1), [100, 100]);
});
