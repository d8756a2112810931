// The cursor, the stops and the forward replay, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { Graph } = await import(`${at}pass/graph.js`);
const { Playback } = await import(`${at}stepper/playback.js`);
const { stopAt } = await import(`${at}pass/stops.js`);
const { hiddenAddresses, hiddenAt } = await import(`${at}pass/forward.js`);
const { sayer } = await import(`${at}shared/words.js`);

// a * b: n0 = MulBackward0, n1 and n2 accumulate into the leaves t0 and t1
const leaf = (id) => ({ id, name: id, grad_fn: null, output_nr: 0 });
const program = {
  tensors: [leaf("t0"), leaf("t1"), { id: "t2", name: "c", grad_fn: "n0", output_nr: 0 }],
  ops: [{ id: "o0", name: "Mul", inputs: [{ tensor: "t0" }, { tensor: "t1" }], outputs: ["t2"], node: "n0" }],
  nodes: [
    { id: "n0", name: "MulBackward0", op: "o0", outputs: 1, next_functions: [{ node: "n1", index: 0 }, { node: "n2", index: 0 }] },
    { id: "n1", name: "AccumulateGrad", op: null, outputs: 1, variable: "t0" },
    { id: "n2", name: "AccumulateGrad", op: null, outputs: 1, variable: "t1" },
  ],
};
const frame = (node, flags = [], queue = []) => ({ node, sentence: "", changes: [], fresh: [], moves: [], step: { flags, engine: { queue } } });
const FRAMES = [frame("n0", [], ["n1", "n2"]), frame("n1", ["nan"], ["n2"]), frame("n2")];

function playback(given = {}) {
  const state = { frames: FRAMES, recorded: {}, step: 0, complete: true, error: "", stopped: "", shown_stops: [], ...given };
  const [sent, saved] = [[], []];
  const model = { get: (n) => state[n], set: (n, v) => (state[n] = v), save_changes: () => saved.push(state.step), send: (m) => sent.push(m) };
  const made = new Playback(model, { first: -1, total: 3, ready: "n0", graph: new Graph(program), say: sayer({}), pause: () => 1, changed() {} });
  return { made, state, sent, saved, done: () => made.rest() };
}

test("reset goes to the start of the backward pass, and from there to that of the forward pass", () => {
  const { made } = playback({ step: 2 });
  made.act("reset");
  assert.equal(made.step, 0);
  made.act("reset");
  assert.equal(made.step, -1);
  made.act("back");
  assert.equal(made.step, -1);
  made.act("next");
  assert.equal(made.step, 0);
});

test("a run over recorded steps stops before a breakpoint, and goes on from there", () => {
  const { made, sent } = playback({ shown_stops: [{ kind: "node", node: "n1" }] });
  made.act("run");
  assert.equal(made.step, 1);
  assert.equal(made.stopped, "stopped");
  made.act("run");
  assert.equal(made.step, 3);
  assert.deepEqual([sent, made.stopped], [[], ""]);
});

test("a run stops after the step that made a nan, only if that is a stop", () => {
  assert.equal(stopAt(FRAMES, 2, [{ kind: "nan" }]).kind, "nan");
  assert.equal(stopAt(FRAMES, 2, [{ kind: "zero" }]), null);
  const { made } = playback({ shown_stops: [{ kind: "nan" }] });
  made.act("run");
  assert.equal(made.step, 2);
});

test("a breakpoint at the frontier is known by the queue", () => {
  const stops = [{ kind: "node", node: "n1" }];
  assert.equal(stopAt(FRAMES.slice(0, 1), 1, stops).kind, "breakpoint");
});

test("past the frontier the kernel runs, from where the page stands", () => {
  const { made, sent, done } = playback({ frames: FRAMES.slice(0, 2), complete: false, step: 1 });
  made.act("run");
  assert.deepEqual(sent, [{ kind: "all", questions: [{ kind: "goto", step: 1 }, { kind: "run" }] }]);
  assert.equal(made.step, 2);
  done();
});

test("a question that is not answered at once is followed by a nudge, an answered one is not", async () => {
  const { made, state, sent, done } = playback({ frames: [], complete: false });
  const later = () => new Promise((resolve) => setTimeout(resolve, 30));
  made.act("next");
  state.recorded = { answers: 1 };
  made.heard();
  await later();
  assert.deepEqual(sent, [{ kind: "goto", step: 1 }]);
  made.act("next");
  await later();
  assert.deepEqual(sent.slice(1), [{ kind: "goto", step: 2 }, { kind: "nudge" }, { kind: "nudge" }]);
  assert.equal(made.kernel.asked, true);
  done();
});

test("presses count while the kernel has not answered, and one question is on its way at a time", () => {
  const { made, state, sent, done } = playback({ frames: [], complete: false });
  for (let i = 0; i < 3; i++) made.act("next");
  made.change({ kind: "undo_edit" });
  assert.deepEqual(sent, [{ kind: "goto", step: 1 }]);
  state.recorded = { answers: 1 };
  made.heard();
  assert.deepEqual(sent.slice(1), [{ kind: "all", questions: [{ kind: "goto", step: 0 }, { kind: "undo_edit" }] }]);
  state.recorded = { answers: 2 };
  made.heard();
  assert.equal(made.kernel.asked, false);
  done();
});

test("a step that the kernel has not been told waits for the answer to a question", async () => {
  const { made, state, saved, done } = playback({ complete: false });
  made.ask({ kind: "goto", step: 2 });
  made.move(1);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.deepEqual(saved, []);
  state.recorded = { answers: 1 };
  made.heard();
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.deepEqual(saved, [1]);
  done();
});

test("run to here goes until a node is the next to run, until goes on until a gradient reached a tensor", () => {
  const { made } = playback();
  made.runTo("n2");
  assert.equal(made.step, 2);
  made.act("reset");
  made.until("t1");
  assert.equal(made.step, 3);
  made.runTo("n0");
  assert.equal(made.step, 0);
  made.until("t2");
  assert.equal(made.step, 1);
});

test("before its op has run a result, its node and all arrows that touch them are hidden", () => {
  const forward = [{ op: "", sentence: "", made: [] }, { op: "o0", sentence: "", made: ["o0", "t2", "n0"] }];
  assert.deepEqual(hiddenAt(forward, -1), ["o0", "t2", "n0"]);
  assert.deepEqual(hiddenAt(forward, 0), []);
  const hidden = hiddenAddresses(hiddenAt(forward, -1), new Graph(program));
  for (const address of ["in:o0.0", "out:o0.0", "ctx:o0", "next:n0.1", "grad_fn:t2", "n0"]) assert.ok(hidden.has(address), address);
  for (const address of ["grad:n1", "t0"]) assert.ok(!hidden.has(address), address);
});

test("neighbours are joined by an arrow; an arrow from a tensor without a box joins its op", () => {
  const graph = new Graph(program);
  assert.deepEqual([...graph.neighbours("n0")].sort(), ["n1", "n2", "o0", "t2"]);
  const more = { ...program, ops: [...program.ops, { id: "o1", name: "Neg", inputs: [{ tensor: "t2" }], outputs: [null] }] };
  const without = new Graph(more, (id) => id !== "t2");
  assert.ok(without.neighbours("o1").has("o0") && !without.neighbours("o1").has("t2"));
});
