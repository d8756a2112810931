// Groups: what a key asks for, and where another picture of the same pass stands.
import assert from "node:assert/strict";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { anchored, successor } = await import(`${at}stepper/kept.js`);
const { closedGroup, groupsAround, toggledGroup, wholeGroups } = await import(`${at}pass/groups.js`);
const { Graph } = await import(`${at}pass/graph.js`);
const { matches } = await import(`${at}toolbar/search.js`);
const { nameSize } = await import(`${at}stage/detail.js`);
const { stopAt } = await import(`${at}pass/stops.js`);

const GROUPS = {
  opened: { g3: { title: "model", above: "" }, g2: { title: "model.head", above: "g3" } },
  closed: { g0: { title: "model.body", kinds: [["Mul", 2]] } },
  of: { o5: "g2", n5: "g2", g0: "g3", bg0: "g3" },
};
const boxes = (...list) => new Map(list.map(([id, kind]) => [id, { id, kind, x: 0, y: 0, w: 1, h: 1 }]));

test("a closed group is its op's box and its node's box", () => {
  assert.deepEqual(["g0", "bg0", "o5", "g3"].map((id) => closedGroup(GROUPS, id)), ["g0", "g0", "", ""]);
});

test("the groups around a box are named from the outermost in", () => {
  assert.deepEqual(groupsAround(GROUPS, "n5"), ["g3", "g2"]);
  assert.deepEqual(groupsAround(GROUPS, "t1"), []);
});

test("the key opens a closed group, and closes the innermost one around any other box", () => {
  assert.deepEqual(toggledGroup(GROUPS, "bg0"), { kind: "expand", id: "g0" });
  assert.deepEqual(toggledGroup(GROUPS, "o5"), { kind: "collapse", id: "g2" });
  assert.equal(toggledGroup(GROUPS, "t1"), null);
  assert.equal(toggledGroup({ ...GROUPS, fixed: true }, "bg0"), null);
});

test("a picture without groups has none", () => {
  assert.equal(closedGroup(wholeGroups(undefined), "g0"), "");
});

test("in another picture a box stands for itself, an opened group's first box for the group, a closed group for what it hides", () => {
  const after = { opened: { g0: { title: "body", above: "" } }, closed: {}, of: { o0: "g0", n0: "g0" } };
  const opened = boxes(["t0", "tensor"], ["o0", "op"], ["n0", "node"]);
  assert.equal(successor("t0", opened, GROUPS, after), "t0");
  assert.equal(successor("g0", opened, GROUPS, after), "o0");
  assert.equal(successor("bg0", opened, GROUPS, after), "n0");
  assert.equal(successor("n5", boxes(["g2", "op"], ["bg2", "node"]), GROUPS, wholeGroups({})), "g2");
  assert.equal(successor("n5", boxes(["t0", "tensor"]), GROUPS, wholeGroups({})), "");
});

test("the anchor stays where it was in the stage", () => {
  assert.deepEqual(anchored({ x: 5, y: -10, scale: 0.5 }, { x: 100, y: 200 }, { x: 140, y: 300 }), { x: -15, y: -60, scale: 0.5 });
});

test("what is in a closed group is found by name, and said to be there", () => {
  const drawn = new Graph({ tensors: [{ id: "t0", name: "hidden", grad_fn: null, output_nr: 0 }] });
  const found = matches(drawn, "hid", (key) => key, [["t7", "hidden.weight", "tensor"], ["n3", "MulBackward0", "node"]]);
  assert.deepEqual(found.map((f) => [f.id, f.kind]), [["t0", "tensor_panel"], ["t7", "tensor_panel · in_a_group"]]);
});

test("a name far out fills its box and no more", () => {
  assert.equal(nameSize("a", { w: 180, h: 80 }), 48);
  assert.ok(nameSize("NativeLayerNormBackward0", { w: 180, h: 160 }) * 24 * 0.62 <= 180);
  assert.equal(nameSize("", { w: 4000, h: 4000 }), 72);
});

test("a breakpoint at a group stops before its first node only", () => {
  const frame = (node) => ({ node, step: { node, engine: { queue: [] } } });
  const frames = [frame("n9"), frame("bg0"), frame("bg0"), frame("n1")];
  const stops = [{ kind: "node", node: "bg0" }];
  assert.deepEqual([1, 2, 3].map((step) => stopAt(frames, step, stops)?.node ?? ""), ["bg0", "", ""]);
});
