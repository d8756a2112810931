// Steps over groups, pins, the effect of an edit: what the page decides alone.
import assert from "node:assert/strict";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { Graph } = await import(`${at}pass/graph.js`);
const { partsAround, wholeGroups, withinGroups } = await import(`${at}pass/groups.js`);
const { Playback } = await import(`${at}stepper/playback.js`);
const { Scales } = await import(`${at}toolbar/scales.js`);
const { pinnedAt, repinned } = await import(`${at}panel/pins.js`);
const { nextStop } = await import(`${at}pass/stops.js`);
const { EditDraft, editForm } = await import(`${at}panel/edit_form.js`);
const { Program } = await import(`${at}pass/program.js`);
const { PassHistory } = await import(`${at}pass/history.js`);
const { memberPanel } = await import(`${at}panel/group_panel.js`);
const { enginePanel } = await import(`${at}panel/engine_panel.js`);
const { treeText } = await import(`${at}shared/tree.js`);

// g1 is open; in it g2 is closed, whose leaf has AccumulateGrad n9; n5 is in no group
const GROUPS = wholeGroups({ opened: { g1: { title: "one", above: "" } }, closed: { g2: { title: "two", kinds: [] } }, of: { g2: "g1", bg2: "g1", n4: "g1" }, leaves: { n9: "bg2" } });
const frame = (node, more = {}) => ({ node, sentence: "", changes: [], fresh: [], moves: [], step: { node, flags: [], engine: { queue: [] } }, ...more });
const FRAMES = [frame("n5"), frame("bg2"), frame("n9"), frame("bg2", { did: { bg2: "two: 3 calls" } }), frame("n4", { did: { g1: "one: 4 calls" } }), frame("n6")];

/** What a press of Over, Into or Out asks for, with a box next. */
function pressed(action, next, groups = GROUPS) {
  const asked = [];
  const scales = Object.assign(Object.create(Scales.prototype), { groups, hasMap: false, send: (c) => asked.push(c), next: () => next });
  scales.act(action);
  return asked;
}

function playback(step, given = {}) {
  const state = { frames: FRAMES, recorded: {}, step, complete: true, error: "", stopped: "", did: "", shown_stops: [], ...given };
  const model = { get: (n) => state[n], set: (n, v) => (state[n] = v), save_changes() {}, send() {} };
  return new Playback(model, { first: 0, total: 6, ready: "n5", graph: new Graph({ tensors: [], nodes: [] }), say: (key) => key, pause: () => 1, changed() {}, within: withinGroups(GROUPS) });
}

test("the call of an AccumulateGrad belongs to the group that takes its leaf first", () => {
  assert.deepEqual(["n9", "bg2", "n4", "n5"].map((id) => partsAround(GROUPS, id)), [["bg2", "g1"], ["g1"], ["g1"], []]);
});

test("over a closed group leaves it, over a node calls it", () => {
  assert.deepEqual(pressed("step_over", "bg2"), [{ kind: "leave", id: "bg2" }]);
  assert.deepEqual(pressed("step_over", "n4"), [{ kind: "walk", id: "next" }]);
  assert.deepEqual(pressed("step_over", ""), []);
});

test("into a closed group opens it, in a saved page nothing can; into a node calls it", () => {
  assert.deepEqual(pressed("step_into", "bg2"), [{ kind: "into" }]);
  assert.deepEqual(pressed("step_into", "bg2", { ...GROUPS, fixed: true }), []);
  assert.deepEqual(pressed("step_into", "n4"), [{ kind: "walk", id: "next" }]);
});

test("out leaves the innermost open group, and without one the pass ends", () => {
  assert.deepEqual(pressed("step_out", "bg2"), [{ kind: "leave", id: "g1" }]);
  assert.deepEqual(pressed("step_out", "n5"), [{ kind: "walk", id: "finish" }]);
});

test("a group is left as a whole, with its leaves, and what it did is said there only", () => {
  const made = playback(1);
  made.leave("bg2");
  assert.deepEqual([made.step, made.did], [4, "two: 3 calls"]);
  made.act("next");
  assert.deepEqual([made.step, made.did], [5, ""]);
  made.jump(1);
  made.leave("g1");
  assert.deepEqual([made.step, made.did], [5, "one: 4 calls"]);
  made.rest();
});

const facts = (node, came, left, more = {}) => ({ facts: { node, ends: left.map(() => ""), came, left, grads: [], ...more } });

test("a pin shows the last value up to the step, and since when", () => {
  const frames = [facts("n1", [[2, 1, "2.0"]], [[5, -1]]), facts("n2", [[5, -1]], [], { grads: [["t3", null, [7, 1]]] })];
  assert.deepEqual(pinnedAt("n1.out.0", frames, 2), { step: 1, fact: [5, -1] });
  assert.deepEqual(pinnedAt("n1.in.0", frames, 1), { step: 1, fact: [2, 1, "2.0"] });
  assert.deepEqual([1, 2].map((step) => pinnedAt("t3.grad", frames, step)?.fact), [undefined, [7, 1]]);
  assert.equal(pinnedAt("n2.in.0", frames, 0), null);
});

test("a second press takes a pin away", () => {
  const [a, b] = ["n1.in.0", "n2.in.0"].map((place) => ({ at: place, name: place }));
  assert.deepEqual(repinned([a], b), [a, b]);
  assert.deepEqual(repinned([a, b], a), [b]);
});

test("a run stops where a norm crosses a limit, not at each step beyond it", () => {
  const norms = [[1, 20], [20, 30], [30, 5], [5, 40]].map(([came, left]) => ({ ...frame("n1"), ...facts("n1", [[came, 1]], [[left, 1]]) }));
  const stops = (kind) => [0, 1, 2, 3].map((from) => nextStop(norms, from, [{ kind, number: 10 }])?.step ?? 0);
  assert.deepEqual(stops("above"), [1, 4, 4, 4]);
  assert.deepEqual(stops("below"), [3, 3, 3, 0]);
});

test("the name of a member stands where its box ran or waits", () => {
  const word = (key, fill = {}) => `${key} ${fill.node ?? ""}`;
  const history = new PassHistory({});
  history.goto([{ step: { node: "bg2", formulas: [{ input: "self", text: "grad * 2" }], engine: { queue: ["bg2"] } } }], 1);
  const look = { word, history, step: 1, ran: "Sin (h)", ready: [["bg2", "Mul (k)"]], program: new Program({ tensors: [] }) };
  const said = (id) => treeText({ children: memberPanel(look, id, (a, b) => a === b) });
  assert.equal(said("bg2"), "ran_inside Sin (h)grad_self = grad * 2next_inside Mul (k)");
  assert.equal(said("bg3"), "");
  assert.match(treeText({ children: enginePanel({ ...look, history }) }), /Mul \(k\)/);
});

test("an effect is shown at the edit that it was asked for only", () => {
  const asked = [];
  const draft = new EditDraft((message) => asked.push(message), () => {}, new AbortController().signal);
  const form = { dataset: { edit: "0" }, elements: { namedItem: () => ({ value: " 3 " }) } };
  draft.hows[0] = "scale";
  draft.ask(form, true);
  assert.deepEqual(asked, [{ kind: "effect", index: 0, how: "scale", text: "3", soft: true }]);
  const rows = [["a", "1.0", "3.0"]];
  assert.equal(draft.now({ index: 0, how: "scale", text: "2", rows }).effect, null);
  const now = draft.now({ index: 0, how: "scale", text: "3", rows });
  const look = { word: (key) => key, draft: now, program: new Program({ tensors: [] }), history: new PassHistory({}), edits: {} };
  assert.match(treeText(editForm(look, "n0", 0, 1)), /effect_titleeffect_leafeffect_withouteffect_witha1\.03\.0/);
  assert.doesNotMatch(treeText(editForm(look, "n0", 1, 2)), /effect_title/);
});
