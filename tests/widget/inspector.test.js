// The inspector without a browser: its panels are pure functions to trees of plain objects.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const STATIC = new URL("../../autograd_viz/widget/static/", import.meta.url);
const { Program } = await import(new URL("pass/program.js", STATIC));
const { PassHistory } = await import(new URL("pass/history.js", STATIC));
const { wordsOf } = await import(new URL("panel/look.js", STATIC));
const { nodePanel, nodeSubtitle } = await import(new URL("panel/node_panel.js", STATIC));
const { tensorPanel } = await import(new URL("panel/tensor_panel.js", STATIC));
const { meanwhileText } = await import(new URL("panel/meanwhile.js", STATIC));
const { enginePanel } = await import(new URL("panel/engine_panel.js", STATIC));
const { fileName, splitSource } = await import(new URL("code/source_line.js", STATIC));
const { Inspector } = await import(new URL("panel/inspector.js", STATIC));
const { editText, editsAt } = await import(new URL("panel/edit_form.js", STATIC));
const { treeText } = await import(new URL("shared/tree.js", STATIC));

const value = (x) => ({ shape: [], dtype: "float32", text: `${x}.`, numbers: [x] });
const tensor = (id, name, more) => ({ id, name, value: value(2), grad: null, grad_fn: null, output_nr: 0, is_leaf: true, requires_grad: true, ...more });

// d = a * a, e = d + d (unused output 1 is made up)
const DOC = {
  tensors: [
    tensor("t0", "a"),
    tensor("t1", "</svg><script>", { grad_fn: "n0", is_leaf: false }),
    tensor("t2", null, { grad_fn: "n1", is_leaf: false }),
  ],
  ops: [
    { id: "o0", name: "Mul", inputs: [{ tensor: "t0" }, { tensor: "t0" }], outputs: ["t1"], node: "n0" },
    { id: "o1", name: "Add", inputs: [{ tensor: "t1" }, { tensor: "t1" }], outputs: ["t2"], node: "n1" },
  ],
  nodes: [
    {
      id: "n0",
      name: "MulBackward0",
      op: "o0",
      outputs: 2,
      next_functions: [{ node: "n2", index: 0 }, { node: null, index: 0 }],
      saved: [{ name: "self", state: "kept", value: value(2), tensor: "t0", version: 1, bytes: 4 }],
      formulas: [{ input: "self", text: "grad * other" }],
    },
    { id: "n1", name: "AddBackward0", op: "o1", outputs: 1, next_functions: [{ node: "n0", index: 0 }, { node: "n0", index: 0 }] },
    { id: "n2", name: "AccumulateGrad", op: null, outputs: 1, variable: "t0" },
  ],
  roots: ["t2"],
};
const change = (at, before, after) => ({ at, before, after });
const FRAMES = [
  {
    step: {
      node: "n1",
      grad_outputs: [value(1)],
      grad_inputs: [value(1), value(5)],
      changes: [change("next:n1.0", null, value(1)), change("next:n1.1", null, value(5))],
      engine: { queue: ["n0"], held: 4 },
    },
  },
  {
    step: {
      node: "n0",
      grad_outputs: [value(6), null],
      grad_inputs: [value(12), null],
      formulas: [{ input: "self", text: "grad * other = 6.0 * 2.0 = 12.0" }],
      changes: [change("next:n0.0", null, value(12)), change("n0.saved.self", value(2), null), change("n0.saved.other", null, null)],
      engine: { queue: ["n2"] },
      freed: 4,
    },
  },
  { step: { node: "n2", grad_outputs: [value(12)], changes: [change("t0.grad", null, value(12))] } },
];
const WORDS = {
  arrived_from: "from {node}",
  arrived_of: "{arrived} of {expected} arrived",
  counter_text: "step {step} of {total}",
  freed_by: "{node} freed {bytes}",
};

const program = new Program(DOC);
const lookAt = (step, frames = FRAMES) => {
  const history = new PassHistory({ queue: ["n1"], held: 4 });
  history.goto(frames, step);
  const word = wordsOf(WORDS);
  return { word, program, history, step, total: 3, complete: false, why: { t0: "because" }, stops: [], pointed: null, next: history.nextNode, edits: {}, pins: [], ran: "", ready: [], draft: { hows: {}, effect: null }, spoiled: {}, overlay: {}, rewritten: {} };
};
const sectionText = (parts, key) => treeText(parts.find((p) => p.key === key));
const messages = (part) => (typeof part === "string" ? [] : [part.message, ...part.children.flatMap(messages)].filter(Boolean));
const sectionAt = (step, key) => nodeAt(step, "n0").find((p) => p.key === key);
const nodeAt = (step, id) => nodePanel(lookAt(step), program.nodeById.get(id));

test("the state is that of the position, forwards, back and by a jump", () => {
  const history = new PassHistory({});
  history.goto(FRAMES, 3);
  assert.equal(history.at("t0.grad").text, "12.");
  history.goto(FRAMES, 1);
  assert.equal(history.at("t0.grad"), null);
  assert.equal(history.isFreed("n0.saved.self"), false);
  assert.equal(history.at("next:n1.1").text, "5.");
  history.goto(FRAMES, -2);
  assert.equal(history.position, 0);
  assert.equal(history.at("next:n1.1"), null);
});

test("a step costs its own changes only", () => {
  let reads = 0;
  const counted = FRAMES.map((f) => ({ step: { ...f.step, get changes() { reads++; return f.step.changes; } } }));
  const history = new PassHistory({});
  history.goto(counted, 2);
  reads = 0;
  history.goto(counted, 3);
  assert.equal(reads, 1);
});

test("another future replaces the recorded one, also below where we stand", () => {
  const history = new PassHistory({});
  history.goto(FRAMES, 3);
  const edited = { step: { ...FRAMES[1].step, changes: [change("next:n0.0", null, value(40))] } };
  history.goto([FRAMES[0], edited], 2);
  assert.equal(history.at("next:n0.0").text, "40.");
  assert.equal(history.at("t0.grad"), null);
  assert.equal(history.runOf("n2"), undefined);
  assert.equal(history.isFreed("n0.saved.self"), false);
  history.goto([FRAMES[0], edited, { step: { node: "elsewhere" } }], 3);
  assert.equal(history.runOf("n2"), undefined);
});

test("the node panel says who sent what, links to them, and gives the sum once it has run", () => {
  const before = nodeAt(1, "n0");
  assert.match(sectionText(before, "arrived"), /from AddBackward0: 1\.0from AddBackward0: 5\.0/);
  assert.match(sectionText(before, "arrived"), /2 of 2 arrived/);
  const sends = messages(before.find((p) => p.key === "arrived"));
  assert.deepEqual(sends, [{ kind: "select", id: "n1" }, { kind: "select", id: "n1" }]);
  assert.match(sectionText(nodeAt(2, "n0"), "arrived"), /sum6\./);
});

test("edges that are drawn as one are counted, and none of their gradients stands for all", () => {
  const nodes = [
    { id: "n0", name: "StackBackward0", op: null, outputs: 1, next_functions: [{ node: "n1", index: 0, count: 5000 }, { node: null, index: 0, count: 2 }] },
    { id: "n1", name: "UnbindBackward0", op: null, outputs: 1, entries: [{ name: "UnbindBackward0", index: null }] },
  ];
  const step = { node: "n0", grad_outputs: [value(1)], grad_inputs: [null, null], changes: [], engine: { queue: ["n1"] } };
  const look = { ...lookAt(1, [{ step }]), program: new Program({ tensors: [], nodes }) };
  const [sender, receiver] = nodes.map((node) => nodePanel(look, node));
  assert.match(sectionText(sender, "next"), /\(UnbindBackward0, …\) × 5,000/);
  assert.match(sectionText(sender, "next"), /\(None, 0\) × 2/);
  assert.match(sectionText(sender, "sent"), /grad_inputs\[…\] × 5,000/);
  assert.match(sectionText(receiver, "arrived"), /from StackBackward0 × 5,000/);
  assert.match(sectionText(receiver, "arrived"), /5000 of 5000 arrived/);
  assert.equal(receiver.find((part) => part.key === "edit"), undefined); // nobody could say which
});

test("an output that nobody used says so, and the root has the first gradient", () => {
  assert.match(sectionText(nodeAt(2, "n0"), "arrived"), /grad_outputs\[1\]unused_output/);
  assert.match(sectionText(nodeAt(0, "n1"), "arrived"), /arrived_first/);
});

test("a node without a formula says whose rule it has", () => {
  const node = program.nodeById.get("n0");
  const formulas = node.formulas;
  Object.assign(node, { formulas: [], rule: "torch" });
  assert.equal(sectionText(nodeAt(1, "n0"), "formula"), "formularule_torch");
  Object.assign(node, { formulas, rule: "" });
});

test("a formula has its numbers only after the node has run", () => {
  assert.equal(sectionText(nodeAt(1, "n0"), "formula"), "formulagrad_self= grad * other");
  assert.equal(sectionText(nodeAt(2, "n0"), "formula"), "formulagrad_self= grad * other= 6.0 * 2.0= 12.0");
});

test("below the sum stands what hooks, or a hand, have made of it", () => {
  const [first, second] = FRAMES;
  const changes = [change("sum:n0.0", null, value(6)), ...second.step.changes];
  const arrived = (more) => {
    const frames = [first, { step: { ...second.step, changes, grad_outputs: [value(60), null], ...more } }];
    return sectionText(nodePanel(lookAt(2, frames), program.nodeById.get("n0")), "arrived");
  };
  assert.match(arrived({}), /sum6\.0after_hooks60\.0/);
  assert.match(arrived({ edited: [0] }), /sum6\.0by_hand60\.0/);
  assert.doesNotMatch(sectionText(nodeAt(2, "n0"), "arrived"), /after_hooks/);
});

test("a step at which nothing arrived shows no rule", () => {
  const frames = [FRAMES[0], { step: { ...FRAMES[1].step, grad_outputs: [null, null], formulas: [] } }];
  assert.equal(nodePanel(lookAt(2, frames), program.nodeById.get("n0")).find((p) => p.key === "formula"), undefined);
  assert.ok(sectionAt(2, "formula"));
});

test("a saved tensor is kept, then freed, and kept again after a step back", () => {
  assert.match(sectionText(nodeAt(1, "n0"), "saved"), /selfkepta2\./);
  assert.match(sectionText(nodeAt(2, "n0"), "saved"), /selffreeda2\..*values_were/);
  const look = lookAt(2);
  look.history.goto(FRAMES, 1);
  assert.match(sectionText(nodePanel(look, program.nodeById.get("n0")), "saved"), /kept/);
});

test("a saved tensor that was changed in place since says so", () => {
  const panel = nodePanel({ ...lookAt(1), spoiled: { "n0.saved.self": "stale" } }, program.nodeById.get("n0"));
  assert.match(sectionText(panel, "saved"), /selfstale/);
});

test("only the node that runs next can be edited", () => {
  assert.ok(nodeAt(1, "n0").some((p) => p.key === "edit"));
  assert.ok(!nodeAt(1, "n2").some((p) => p.key === "edit"));
  assert.ok(!nodeAt(2, "n0").some((p) => p.key === "edit"));
});

test("an edit that waits for its node is marked, and can be taken back; elsewhere it is not", () => {
  const frames = FRAMES.slice(0, 1);
  const pending = { node: "n0", values: { 1: value(7) } };
  const look = lookAt(1, frames);
  const parts = nodePanel({ ...look, edits: editsAt(look.history, pending) }, program.nodeById.get("n0"));
  const section = parts.find((p) => p.key === "edit");
  assert.match(treeText(section), /grad_outputs\[1\].*applyedit_pending/);
  assert.equal(treeText(section).match(/edit_pending/g).length, 1);
  assert.deepEqual(messages(section), [{ kind: "undo_edit" }]);
  const field = section.children.find((c) => c.attributes?.["data-edit"] === 1).children[0].children[2];
  assert.equal(field.once.value, "7");
  assert.deepEqual(editsAt(lookAt(0, frames).history, pending), {});
  assert.deepEqual(messages(sectionAt(1, "edit")), []);
});

test("an edit that has run can be taken back where its node would run again", () => {
  const edited = { step: { ...FRAMES[1].step, edited: [0] } };
  const { history } = lookAt(1, [FRAMES[0], edited]);
  assert.deepEqual(editsAt(history, {}), { 0: value(6) });
});

test("what is edited is prefilled with every digit, and empty where the page does not know it", () => {
  assert.equal(editText({ shape: [2, 2], dtype: "float32", text: "", numbers: [1, Math.fround(0.1), "nan", "-inf"] }), "[[1, 0.1], [nan, -inf]]");
  assert.equal(editText({ shape: [28, 28], dtype: "float32", text: "[[...]]" }), "");
});

test("the title says when the node ran, and goes there", () => {
  const subtitle = nodeSubtitle(lookAt(3), program.nodeById.get("n0")).filter(Boolean);
  assert.equal(treeText({ children: subtitle }), "step 2 of 3 · Mul(a, a)");
  assert.deepEqual(subtitle[0].message, { kind: "goto", step: 2 });
});

test("the tensor panel has the grad of the position, why it is so, and a run until a gradient comes", () => {
  const panel = (step) => tensorPanel(lookAt(step), program.tensorById.get("t0"));
  assert.match(sectionText(panel(2), "attributes"), /gradNonegrad_fnNoneis_leafTrue/);
  assert.match(sectionText(panel(3), "attributes"), /grad12\.0grad_fn/);
  assert.equal(sectionText(panel(3), "why"), "whybecause");
  assert.deepEqual(messages(panel(0)[0]), [{ kind: "until", tensor: "t0" }]);
});

test("a grad that the notebook has changed is shown as it is, and so is the reason", () => {
  const overlay = { "t0.grad": [[["grad = ", "text"], ["tensor(7.)", "number"]]] };
  const panel = tensorPanel({ ...lookAt(3), overlay }, program.tensorById.get("t0"));
  assert.match(sectionText(panel, "attributes"), /gradtensor\(7\.\)grad_fn/);
  assert.equal(sectionText(panel, "why"), "whychanged_outside_tip");
});

test("a tensor that was changed in place is shown as it was drawn and as it is now", () => {
  const rewritten = { t0: { version: 2, value: value(40) } };
  const panel = sectionText(tensorPanel({ ...lookAt(1), rewritten }, program.tensorById.get("t0")), "attributes");
  assert.match(panel, /data2\.0data_now40\.0grad/);
  assert.match(panel, /versionversion_now/);
  assert.doesNotMatch(sectionText(tensorPanel(lookAt(1), program.tensorById.get("t0")), "attributes"), /now/);
});

test("the line under the picture names what was changed in place, three of them at most", () => {
  const meanwhile = { overlay: {}, spoiled: { "n0.saved.self": "stale" }, rewritten: Object.fromEntries(["a", "b", "c", "d"].map((id) => [id, {}])) };
  const say = (key, values = {}) => `${key} ${values.tensors ?? ""}`.trim();
  assert.equal(meanwhileText(meanwhile, say, (id) => id.toUpperCase()), "spoiled_tip rewritten_tip A, B, C, …");
  assert.equal(meanwhileText({ overlay: {}, spoiled: {}, rewritten: {} }, say, String), "");
});

test("the engine panel lists who is ready and what the step freed", () => {
  const panel = enginePanel(lookAt(2));
  assert.match(sectionText(panel, "queue"), /AccumulateGrad \(a\)/);
  assert.match(sectionText(panel, "held"), /^held0 BMulBackward0 freed 4 B: self$/);
  assert.match(sectionText(enginePanel(lookAt(0)), "held"), /^held4 B$/);
});

test("the engine stands below what is selected, but not in the forward pass", () => {
  const at = (step) => Inspector.prototype.content.call({
    shown: { step }, look: () => lookAt(Math.max(step, 0)), target: () => null, word: (key) => key, panelOf: () => null,
  });
  assert.equal(at(-1).length, 1);
  assert.equal(at(0).length, 2);
  assert.match(treeText(at(0)[1]), /^engine/);
});

test("what has no name is called by its op, and a hostile name is only text", () => {
  assert.equal(program.label("t2", "unnamed"), "Add(</svg><script>, </svg><script>)");
  assert.equal(program.label("n2", "unnamed"), "AccumulateGrad (a)");
  const twins = new Program({ ...DOC, nodes: [...DOC.nodes, { ...DOC.nodes[0], id: "n9" }] });
  assert.equal(twins.label("n0", "unnamed"), "MulBackward0 (</svg><script>)");
});

test("the marked expression is exact, in characters and without the shared indentation", () => {
  const at = (text, column, end_column, lines = 1) => splitSource({ file: "f", line: 1, end_line: lines, column, end_column, text });
  assert.deepEqual(at("    e = b * c + 1", 8, 13), ["e = ", "b * c", " + 1"]);
  assert.deepEqual(at('s = "😀"; y = x * 2 + 1', 13, 18), ['s = "😀"; y = ', "x * 2", " + 1"]);
  assert.deepEqual(at("  y = f(\n    x,\n  )", 6, 3, 3), ["y = ", "f(\n  x,\n)", ""]);
});

test("a cell has no file name worth reading", () => {
  assert.equal(fileName("/home/me/model.py"), "model.py");
  assert.equal(fileName("C:\\work\\model.py"), "model.py");
  assert.equal(fileName("/tmp/ipykernel_12/345.py"), "");
});

test("a word that is missing stands for itself, and a {gap} takes a name with $", () => {
  assert.equal(wordsOf({})("some_key"), "some_key");
  assert.equal(wordsOf({ k: "to {node}" })("k", { node: "$&" }), "to $&");
});

test("the modules are joined into one: no two of them name something alike", () => {
  const names = readdirSync(STATIC, { recursive: true })
    .filter((file) => file.endsWith(".js"))
    .flatMap((file) => [...readFileSync(new URL(file, STATIC), "utf8").matchAll(/^(?:export )?(?:async )?(?:function|class|const|let) (\w+|\[[\w, ]+\])/gm)])
    .flatMap((found) => found[1].match(/\w+/g));
  assert.deepEqual(names.filter((name, i) => names.indexOf(name) !== i), []);
});

test("a leaf with a thousand senders keeps a short list, and says how many more there are", () => {
  const nodes = Array.from({ length: 1000 }, (_, i) => ({ id: `m${i}`, name: "MulBackward0", op: null, outputs: 1, next_functions: [{ node: "leaf", index: 0 }] }));
  const many = new Program({ tensors: [], nodes: [...nodes, { id: "leaf", name: "AccumulateGrad", op: null, outputs: 1 }] });
  const panel = nodePanel({ ...lookAt(0), program: many }, many.nodeById.get("leaf"));
  const arrived = panel.find((p) => p.key === "arrived");
  assert.equal(messages(arrived).length, 16);
  assert.match(treeText(arrived), /… \+984/);
});
