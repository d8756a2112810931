// Small rules that the page follows: where a run stops, what it waits for, what is in sight, what a step undoes.
import assert from "node:assert/strict";
import { mock, test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { Graph } = await import(`${at}pass/graph.js`);
const { Playback } = await import(`${at}stepper/playback.js`);
const { stopAt, toggled, withStop } = await import(`${at}pass/stops.js`);
const { hiddenAt, positionAt } = await import(`${at}pass/forward.js`);
const { sayer } = await import(`${at}shared/words.js`);
const { PassHistory } = await import(`${at}pass/history.js`);
const { editsAt } = await import(`${at}panel/edit_form.js`);
const { holds } = await import(`${at}stage/culling.js`);
const { joinedTo, towards } = await import(`${at}figure/neighbours.js`);
const { keepRecorded } = await import(`${at}pass/recorded.js`);

const NODES = [
  { id: "n0", name: "MulBackward0", op: "o0", outputs: 1, next_functions: [{ node: "n1", index: 0 }] },
  { id: "n1", name: "AccumulateGrad", op: null, outputs: 1, variable: "t0" },
];
const graph = new Graph({ tensors: [{ id: "t0", name: "a", grad_fn: null, output_nr: 0 }], nodes: NODES });
const frame = (node, flags = [], queue = []) => ({ node, step: { node, flags, engine: { queue } } });
const FRAMES = [frame("n0", ["inf"], ["n1"]), frame("n1", ["zero"])];

function playback(given = {}) {
  const state = { frames: FRAMES, recorded: {}, step: 0, complete: true, error: "", stopped: "", shown_stops: [], ...given };
  const sent = [];
  const saved = [];
  const save_changes = () => saved.push(state.step);
  const model = { get: (n) => state[n], set: (n, v) => (state[n] = v), save_changes, send: (m) => sent.push(m) };
  const made = new Playback(model, { first: 0, total: 2, ready: "n0", graph, say: sayer({}), pause: () => 10, changed() {} });
  return { made, state, sent, saved };
}

function withTimers(body) {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    body((ms) => mock.timers.tick(ms));
  } finally {
    mock.timers.reset();
  }
}

test("a run stops at inf as at nan, at zero and at a condition, each only if asked for", () => {
  assert.equal(stopAt(FRAMES, 1, [{ kind: "nan" }]).kind, "nan");
  assert.equal(stopAt(FRAMES, 2, [{ kind: "zero" }]).kind, "zero");
  assert.equal(stopAt([frame("n0", ["condition"])], 1, [{ kind: "condition", name: "f" }]).kind, "condition");
  assert.equal(stopAt([frame("n0", ["condition"])], 1, []), null);
  assert.equal(stopAt([], 0, [{ kind: "node", node: "n0" }], "n0").kind, "breakpoint");
});

test("a breakpoint is set and taken away, the others stay", () => {
  const [one, two] = ["n0", "n1"].map((node) => ({ kind: "node", node }));
  assert.deepEqual(toggled([one], two), [one, two]);
  assert.deepEqual(toggled([one, two], one), [two]);
});

test("a new norm takes the place of the old one, each tensor has a stop of its own", () => {
  const [ten, one] = [10, 1].map((number) => ({ kind: "above", number }));
  assert.deepEqual(withStop([ten], one), [one]);
  const [a, b] = ["n1", "n2"].map((node) => ({ kind: "grad", node }));
  assert.deepEqual(withStop([a], b), [a, b]);
});

test("an edit begins where the page stands", () => {
  const { made, sent } = playback({ step: 1 });
  made.change({ kind: "edit", index: 0, text: "2" });
  made.rest();
  assert.deepEqual(sent, [{ kind: "all", questions: [{ kind: "goto", step: 1 }, { kind: "edit", index: 0, text: "2" }] }]);
});

test("why a walk stopped is said only where it stopped", () => {
  const { made, state } = playback({ shown_stops: [{ kind: "node", node: "n1" }] });
  made.run();
  assert.equal(made.stopped, "stopped");
  state.step = 2; // moved from code
  made.moved();
  assert.equal(made.stopped, "");
});

test("play asks for one step at a time, and halts at a stop", () => withTimers((tick) => {
  const live = playback({ frames: [], complete: false });
  live.made.play();
  tick(15);
  const goto = () => live.sent.filter((m) => m.kind === "goto");
  tick(30);
  assert.equal(goto().length, 1);
  const recorded = playback({ shown_stops: [{ kind: "node", node: "n1" }] });
  recorded.made.play();
  tick(200);
  assert.deepEqual([recorded.state.step, recorded.made.playing], [1, false]);
}));

test("a recorded step is shown at once, and the kernel is told of the last of a fast series", () => withTimers((tick) => {
  const { made, saved } = playback();
  made.act("next");
  tick(30);
  made.act("next");
  assert.deepEqual([made.step, saved], [2, []]);
  tick(30);
  assert.deepEqual(saved, [2]);
  made.act("back");
  made.rest(); // the view is closed
  assert.deepEqual(saved, [2, 1]);
}));

test("what the kernel says goes before a step it has not been told, but for the answer that is overtaken", () => withTimers((tick) => {
  const { made, state, saved } = playback();
  made.act("next");
  state.step = 0; // a cell has moved the pass
  made.moved();
  tick(60);
  assert.deepEqual([made.step, saved], [0, []]);
  made.ask({ kind: "goto", step: 2 });
  made.move(1);
  Object.assign(state, { step: 2, recorded: { answers: 1 } });
  made.moved();
  made.heard();
  assert.equal(made.step, 1);
  tick(60);
  assert.deepEqual(saved, [1]);
}));

test("a kernel that does not answer is gone, one that sends steps is not", () => withTimers((tick) => {
  const { made, state } = playback({ frames: [], complete: false });
  made.act("finish");
  tick(3000);
  made.heard();
  tick(3000);
  assert.equal(made.gone, false);
  tick(1001);
  assert.deepEqual([made.gone, made.kernel.asked], [true, false]);
  state.recorded = { answers: 1 };
  made.heard();
  assert.equal(made.gone, false);
}));

test("a kernel that has nothing to do and does not answer is gone at once, one at work is waited for", () => withTimers((tick) => {
  for (const [status, isGone] of [["idle", true], ["dead", true], ["restarting", true], ["busy", false], ["unknown", false]]) {
    const { made } = playback({ frames: [], complete: false });
    made.kernel.model.widget_manager = { kernel: { status } };
    made.act("finish");
    tick(999);
    assert.equal(made.gone, false);
    tick(2);
    assert.equal(made.gone, isGone, status);
    tick(3000);
    assert.equal(made.gone, true);
  }
}));

test("what is recorded is kept piece by piece, and asked for where one is missing", () => {
  const told = {};
  const state = { frames: [], recorded: {} };
  const sent = [];
  keepRecorded({ get: (n) => state[n], set() {}, on: (event, then) => (told[event] = then), send: (m) => sent.push(m) });
  const hear = (from, ...frames) => {
    state.recorded = { from, frames };
    told["change:recorded"]();
    return state.frames;
  };
  assert.deepEqual(hear(0, "a", "b"), ["a", "b"]);
  assert.deepEqual(hear(2, "c"), ["a", "b", "c"]);
  assert.deepEqual(hear(1, "d"), ["a", "d"]); // an edit has given the pass another future
  assert.deepEqual(sent, []);
  assert.deepEqual(hear(5, "f"), ["a", "d"]);
  assert.deepEqual(sent, [{ kind: "frames" }]);
});

test("positions before 0 are counted from the end of the forward pass", () => {
  const forward = ["start", "one", "two"].map((sentence, i) => ({ op: `o${i}`, sentence, made: [`t${i}`] }));
  assert.deepEqual([-2, -1, 0].map((step) => positionAt(forward, step)?.sentence), ["start", "one", undefined]);
  assert.deepEqual(hiddenAt(forward, 1), []);
});

test("a step that wrote an address twice is undone in reverse", () => {
  const changes = [{ at: "x", before: null, after: 1 }, { at: "x", before: 1, after: 2 }];
  const history = new PassHistory({});
  history.goto([{ step: { node: "n0", changes } }], 1);
  assert.equal(history.at("x"), 2);
  history.goto(history.known.slice(), 0);
  assert.equal(history.at("x"), null);
});

test("an edit is shown at the node that it waits for only", () => {
  const history = new PassHistory({ queue: ["n0"] });
  const values = { 0: { text: "5." } };
  assert.deepEqual(editsAt(history, { node: "n0", values }), values);
  assert.deepEqual(editsAt(history, { node: "n1", values }), {});
});

test("a region holds another only if it does on every side", () => {
  const region = { left: 0, top: 0, right: 10, bottom: 10 };
  assert.ok(holds(region, region));
  for (const [side, beyond] of [["left", -1], ["top", -1], ["right", 11], ["bottom", 11]]) {
    assert.ok(!holds(region, { ...region, [side]: beyond }), side);
  }
});

test("straight ahead goes before aside, and an arrow joins its ends", () => {
  const box = (id, x, y) => ({ id, kind: "node", x, y, w: 10, h: 10 });
  const [aside, ahead] = [box("aside", 40, 60), box("ahead", 0, 80)];
  for (const beside of [[aside, ahead], [ahead, aside]]) assert.equal(towards(box("a", 0, 0), beside, "down").id, "ahead");
  assert.deepEqual(joinedTo(graph, "next:n0.0"), ["n0", "n1", "next:n0.0"]);
});

test("a name that turns the direction of writing turns nothing around it", () => {
  const named = new Graph({ tensors: [{ id: "t0", name: "x['\u202eab']", grad_fn: null, output_nr: 0 }], nodes: [NODES[1]] });
  assert.deepEqual([named.title("t0"), named.title("n1")], ["x['\ufffdab']", "AccumulateGrad (x['\ufffdab'])"]);
});

test("a place without a value stays as it is", () => {
  assert.equal(sayer({ greeting: "{a} and {b}" })("greeting", { a: 1 }), "1 and {b}");
});
