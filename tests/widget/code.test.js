// The code view: which line just ran, which is next, what is said at a line, and how it is written.
import assert from "node:assert/strict";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { CodeIndex, Moment } = await import(`${at}code/moments.js`);
const { CodeSheet, codeRow, callStack } = await import(`${at}code/rows.js`);
const { tokensOf } = await import(`${at}code/python_tokens.js`);
const { stopAt } = await import(`${at}pass/stops.js`);
const { treeText } = await import(`${at}shared/tree.js`);
const { sayer } = await import(`${at}shared/words.js`);

// 1: a = leaf()   2: for _ in range(2):   3:     x = x * a   4: e = x + 1
const TEXT = { file: "cell.py", function: "", owner: "", lines: [[1, "a = leaf()"], [2, "for _ in range(2):"], [3, "    x = x * a"], [4, "e = x + 1"]] };
const PLACES = [[0, 1, 4, 1, 10], [0, 3, 8, 3, 13], [0, 4, 4, 4, 9]];
const run = (op, node, at, value, turn = [1, 1]) => ({ op, node, tensor: `t${op}`, box: "", at, turn, value, module: "" });
const RUNS = [run("", "n3", 0, "a = 2.0"), run("o0", "n0", 1, "2.0", [1, 2]), run("o1", "n1", 1, "x = 4.0", [2, 2]), run("o2", "n2", 2, "e = 5.0")];
const index = new CodeIndex({ texts: [TEXT], places: PLACES, runs: RUNS, modules: {}, next: "n2" });
const frame = (ran, next, arrived) => ({ node: ran, code: { ran, next, arrived }, step: {} });
const FRAMES = [frame("n2", "n1", "1.0"), frame("n1", "n0", "1.0"), frame("n0", "n3", "2.0"), frame("n3", "", "8.0")];
const FORWARD = ["", "o0", "o1", "o2"].map((ran) => ({ op: ran, ran, sentence: "", made: [] }));
const moment = (step, frames = FRAMES) => new Moment(index, frames, step, FORWARD);
const lineOf = (op) => op && index.placeOf(op)[1];
const marks = (step, frames) => [lineOf(moment(step, frames).ran), lineOf(moment(step, frames).next)];

test("going backward the marks go up, in the forward replay they go down", () => {
  assert.deepEqual([0, 1, 2, 3, 4].map((step) => marks(step)), [[undefined, 4], [4, 3], [3, 3], [3, 1], [1, undefined]]);
  assert.deepEqual([-3, -2, -1].map((step) => marks(step)), [[undefined, 3], [3, 3], [3, 4]]);
});

test("what is next is known before it is recorded", () => {
  assert.deepEqual([marks(0, []), marks(1, FRAMES.slice(0, 1))], [[undefined, 4], [4, 3]]);
});

test("a line says its value, and its gradient once that has arrived", () => {
  const said = (step, line) => moment(step).at(0, line) && [moment(step).at(0, line).run.value, moment(step).at(0, line).arrived];
  assert.deepEqual([said(0, 4), said(1, 4), said(4, 4)], [["e = 5.0", ""], ["e = 5.0", "1.0"], ["e = 5.0", "1.0"]]);
  assert.deepEqual([said(3, 1), said(4, 1), said(4, 2)], [["a = 2.0", ""], ["a = 2.0", "8.0"], null]);
  assert.deepEqual([said(-2, 4), said(-2, 3)], [null, ["2.0", ""]]);
});

test("a leaf's line does not run: AccumulateGrad does", () => {
  const text = (step) => treeText(codeRow(new CodeSheet(TEXT), 0, row(step, 1), sayer({ code_ran: "just ran", code_next: "next" })));
  assert.match(text(4), /AccumulateGrad\u00a0just ran/);
  assert.match(text(3), /AccumulateGrad\u00a0next/);
  assert.doesNotMatch(treeText(codeRow(new CodeSheet(TEXT), 3, row(1, 4), sayer({ code_ran: "just ran" }))), /AccumulateGrad/);
});

test("going through the forward pass, a value is said once it is computed", () => {
  assert.deepEqual([-3, -2, -1, 0].map((step) => moment(step).at(0, 3).value), ["", "2.0", "x = 4.0", "x = 4.0"]);
  assert.deepEqual([-1, 0].map((step) => moment(step).at(0, 4).value), ["", "e = 5.0"]);
  assert.equal(moment(-3).at(0, 1).value, "a = 2.0");
});

test("a line that makes two leaves says both", () => {
  const leaves = ["a = 2.0", "b = 3.0"].map((value, i) => ({ ...run("", `n${i}`, i, value), tensor: `t${i}` }));
  const both = new CodeIndex({ texts: [TEXT], places: [[0, 1, 4, 1, 10], [0, 1, 12, 1, 18]], runs: leaves, modules: {}, next: "" });
  assert.equal(new Moment(both, [], 0, []).at(0, 1).value, "a = 2.0, b = 3.0");
});

test("a line in a loop says the turn that ran last, backward from the last to the first", () => {
  assert.deepEqual([0, 1, 2, 3, 4, -2, -1].map((step) => moment(step).at(0, 3).run.turn[0]), [2, 2, 2, 1, 1, 1, 2]);
  const text = treeText(codeRow(new CodeSheet(TEXT), 2, row(2, 3), sayer({ code_turn: "turn {turn} of {turns}" })));
  assert.match(text, /turn 2 of 2/);
});

function row(step, line, more = {}) {
  return { said: moment(step).at(0, line), hasRuns: true, canStop: true, stop: false, reachable: true, lit: [], ...more };
}

test("the two marks differ in word and shape", () => {
  const of = (kind) => codeRow(new CodeSheet(TEXT), 3, row(kind === "ran" ? 1 : 0, 4), sayer({ code_ran: "just ran", code_next: "next" }));
  const [ran, next] = [of("ran"), of("next")];
  assert.ok(treeText(ran).includes("just ran") && !treeText(ran).includes("next"));
  assert.ok(treeText(next).includes("next") && !treeText(next).includes("just ran"));
  const shape = (line) => line.children.find((part) => part.tag === "svg").children[0].attributes.d;
  assert.notEqual(shape(ran), shape(next));
});

test("an expression is lit by its columns, which count characters", () => {
  const sheet = new CodeSheet({ ...TEXT, lines: [[7, "  s = '𝛼' + f(x)"], [8, "  y = (s"], [9, "       * 2)"]] });
  const marked = (i, place) => sheet.spans(i, [{ name: "lit", place }]).filter((p) => p.tag === "mark").map(treeText).join("");
  assert.equal(marked(0, [0, 7, 12, 7, 16]), "f(x)");
  assert.deepEqual([marked(1, [0, 8, 7, 9, 10]), marked(2, [0, 8, 7, 9, 10])], ["s", "* 2"]);
  assert.equal(sheet.spans(0, []).map(treeText).join(""), "s = '𝛼' + f(x)");
});

test("keywords, strings of several lines, comments and numbers are told apart, and nothing is lost", () => {
  const lines = ['for i in x1: # no "string"', 'f"""a', "if b", "c''' d\"\"\" + 1.5e-3", "y = '#' if None else 0x1F"];
  const tokens = tokensOf(lines);
  assert.deepEqual(tokens.map((line) => line.map((t) => t.text).join("")), lines);
  const kinds = (i, kind) => tokens[i].filter((t) => t.kind === kind).map((t) => t.text);
  assert.deepEqual([kinds(0, "keyword"), kinds(0, "comment"), kinds(0, "number")], [["for", "in"], ['# no "string"'], []]);
  assert.deepEqual([kinds(1, "string"), kinds(2, "string"), kinds(3, "string")], [['f"""a'], ["if b"], ["c''' d\"\"\""]]);
  assert.deepEqual([kinds(3, "number"), kinds(4, "number"), kinds(4, "string"), kinds(4, "keyword")], [["1.5e-3"], ["0x1F"], ["'#'"], ["if", "None", "else"]]);
});

test("a breakpoint on a line stops at the node, also where its group is one box", () => {
  const grouped = FRAMES.map((f) => ({ ...f, node: "b1" }));
  const stops = index.nodesOf(0, 1).map((node) => ({ kind: "node", node }));
  assert.deepEqual(stopAt(grouped, 3, stops, "b1"), { step: 3, kind: "breakpoint", node: "b1" });
  assert.equal(stopAt(grouped, 2, stops, "b1"), null);
  assert.deepEqual(index.nodesOf(0, 3), ["n0", "n1"]);
});

test("a box is found by op, node, tensor or group", () => {
  const grouped = new CodeIndex({ ...index.code, runs: RUNS.map((r) => ({ ...r, box: r.node === "n3" ? "" : "bg0" })) });
  assert.deepEqual(["o1", "n1", "to1", "bg0"].map((id) => grouped.runsOf(id).length), [1, 1, 1, 3]);
  assert.deepEqual(grouped.runsOf(""), []);
});

// Net.forward (line 11) calls self.body, a library's Sequential, which calls a Block; Block.forward (line 21) calls self.lin.
const text = (owner, line) => ({ file: "net.py", function: "forward", owner, lines: [[line, "..."]] });
const NESTED = new CodeIndex({
  texts: [{ ...TEXT, file: "train.py" }, text("Net", 11), text("Block", 21)],
  places: [[0, 4, 0, 4, 3], [1, 11, 0, 11, 3], [2, 21, 0, 21, 3]],
  runs: [{ ...run("o0", "n0", 2, ""), module: "body.0.lin" }, { ...run("o1", "n1", 0, ""), module: "" }],
  modules: { "": { name: "Net", at: 0 }, body: { name: "Sequential", at: 1 }, "body.0": { name: "Block", at: null }, "body.0.lin": { name: "Linear", at: 2 } },
  next: "n1",
});

test("the call stack has the line at which each module of the user's stands, and none for a library's", () => {
  const calls = NESTED.callsAround(NESTED.code.runs[0]);
  assert.deepEqual(calls.map((call) => [call.path, call.name, call.place?.[1] ?? null]), [
    ["", "", 4], ["", "Net", 11], ["body", "Sequential", null], ["body.0", "Block", 21], ["body.0.lin", "Linear", null],
  ]);
  assert.deepEqual(NESTED.callsAround(NESTED.code.runs[1]), []); // the loss is computed outside of the model
  const stack = callStack(calls, NESTED.code.texts, 2, sayer({ code_caller: "caller" }));
  assert.deepEqual(stack.children.map(treeText), ["caller train.py:4", "Net Net.forward net.py:11", "body Sequential", "body.0 Block Block.forward net.py:21", "body.0.lin Linear"]);
});
