// Culling, keys, search and runners: what can be said without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { holds, regionOf } = await import(`${at}stage/culling.js`);
const { partsOf, reachOf } = await import(`${at}figure/pieces.js`);
const { meaning } = await import(`${at}toolbar/keys.js`);
const { towards } = await import(`${at}figure/neighbours.js`);
const { matches } = await import(`${at}toolbar/search.js`);
const { cornersOf, pointAlong } = await import(`${at}figure/runner.js`);
const { Graph } = await import(`${at}pass/graph.js`);
const ROOM = { width: 500, height: 400 };

test("what is drawn around the stage holds what is seen", () => {
  const viewport = { view: { x: -100, y: -200, scale: 0.5 }, room: ROOM, picture: { x: -10, y: -5 } };
  assert.deepEqual(regionOf(viewport, 0), { left: 190, top: 395, right: 1190, bottom: 1195 });
  assert.ok(holds(regionOf(viewport, 1), regionOf(viewport, 0)) && !holds(regionOf(viewport, 0), regionOf(viewport, 1)));
});

test("an arrow reaches as far as all its lines", () => {
  const lines = ["M10 20L30 20", "M30 20L30 5.5", "M-1e-2 7L4 7Z"];
  assert.deepEqual(reachOf(lines), { left: -0.01, top: 5.5, right: 30, bottom: 20 });
});

test("a large picture stays text: where its parts stand and what they are called is read from it", () => {
  const box = (id) => `<g class='tensor green' data-at='${id}'><title>a</title><rect x='-8' y='4.5' width='18' height='20' class='outline f-green'/><g class='row' data-at='${id}.grad'><text>a\nb</text></g></g>`;
  const arrow = "<g class='arrow next' data-at='n1.0'><path d='M1 2L3 9' class='line way'/><path d='M3 9L4 8Z' class='tip'/></g>";
  const label = "<g class='label' data-at='sum:n1' data-x='7' data-y='-3' data-size='11'></g>";
  const parts = [...Array.from({ length: 400 }, (_, k) => box(`t${k}`)), box("&lt;&#39;&amp;lt;"), arrow, label, "<g class='code'><text>y = x</text></g>"];
  const head = "<svg viewBox='0 0 9 9'><title>t</title>";
  const frame = "<g class='frame' data-group='g1'><path d='M1 2L3 9Z' class='f-none s-row-stroke'/><text>a.b</text></g>";
  const { head: first, pieces } = partsOf(`${[head, frame, ...parts].join("\n")}</svg>`);
  assert.equal(first, `${head}\n${frame}\n<g class='code'><text>y = x</text></g></svg>`);
  assert.deepEqual(pieces.map((piece) => piece.text), parts.slice(0, -1));
  assert.deepEqual(pieces[0].box, { id: "t0", kind: "tensor", colour: "green", x: -8, y: 4.5, w: 18, h: 20 });
  assert.deepEqual(pieces[0].addresses, ["t0", "t0.grad"]);
  assert.equal(pieces[400].box.id, "<'&lt;");
  const sides = pieces.slice(-2).map(({ kind, left, top, right, bottom }) => [kind, left, top, right, bottom]);
  assert.deepEqual(sides, [["arrow", 1, 2, 4, 9], ["label", 7, -3, 7, -3]]);
});

test("a small picture is parsed whole", () => {
  const source = "<svg><title>t</title>\n<g class='tensor green' data-at='t0'></g></svg>";
  assert.deepEqual(partsOf(source), { head: source, pieces: [] });
});

test("keys with Ctrl, Alt or Meta are not ours; Shift and an arrow playback", () => {
  const press = (key, more = {}) => meaning({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });
  assert.equal(press("ArrowRight"), "next");
  assert.equal(press("ArrowRight", { shiftKey: true }), "right");
  assert.equal(press("s", { ctrlKey: true }), "");
  assert.equal(press("q"), "");
});

test("a clicker steps while the widget presents; in a notebook its keys scroll", () => {
  const key = (name) => ({ key: name, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false });
  assert.deepEqual(["PageDown", "PageUp", "ArrowRight"].map((name) => meaning(key(name), true)), ["next", "back", "next"]);
  assert.deepEqual(["PageDown", "PageUp"].map((name) => meaning(key(name))), ["", ""]);
  assert.deepEqual(["b", "."].map((name) => meaning(key(name), true)), ["blank", "blank"]);
  assert.deepEqual(["b", "."].map((name) => meaning(key(name))), ["back", ""]);
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
  assert.deepEqual(matches(graph, "w", say).map((f) => f.id), ["t0"]);
  assert.deepEqual(matches(graph, "ew", say).map((f) => f.id), ["t1"]);
  assert.deepEqual(matches(graph, "mulb", say).map((f) => f.title), ["MulBackward0"]);
  const op = { id: "o0", name: "Mul", inputs: [{ tensor: "t0" }, { tensor: null, text: "2" }], outputs: ["t2"], node: "n0" };
  const more = [{ id: "n0", name: "MulBackward0", op: "o0", outputs: 1 }, { id: "n1", name: "AccumulateGrad", op: null, outputs: 1, variable: "t0" }];
  const made = new Graph({ tensors: [tensor("t0", "w1"), tensor("t2", null)], ops: [op], nodes: more });
  assert.deepEqual(matches(made, "mul", say).map((f) => f.title), ["Mul(w1, 2)", "Mul(w1, 2)", "MulBackward0 (Mul(w1, 2))"]);
  assert.deepEqual(matches(made, "cumul", say).map((f) => f.title), ["AccumulateGrad (w1)"]);
  assert.deepEqual(matches(made, "grad", say).map((f) => f.id), ["n1"]);
  assert.deepEqual(matches(graph, "n0", say).map((f) => f.id), ["n0"]);
  assert.deepEqual(matches(graph, " ", say), []);
});

test("a number runs along the corners of its arrow", () => {
  const corners = cornersOf("M0 0L92 0Q100 0 100 8L100 100");
  assert.deepEqual(pointAlong(corners, 0), [0, 0]);
  assert.deepEqual(pointAlong(corners, 0.5), [100, 0]);
  assert.deepEqual(pointAlong(corners, 1), [100, 100]);
});
