// The panel of a backward node: its rule, what arrived from whom, what it kept, what left to whom.

import { arrayView, lineOf, shapeText } from "./array_view.js";
import { editForm } from "./edit_form.js";
import { buttonFor, linkTo, listOf, noteOf, sectionOf, wordsAround } from "./look.js";
import { sourceView } from "./source_line.js";
import { bytesText } from "./statistics.js";
import { tree } from "./tree.js";

/** @typedef {import("./program.js").GraphNode} GraphNode */
/** @typedef {import("./program.js").Saved} Saved */
/** @typedef {import("./history.js").StepRecord} StepRecord */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree.js").Child} Child */

const MOST_OUTPUTS = 16; // of a node that are written out

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @returns {(Tree | string)[]}
 */
export function nodePanel(look, node) {
  const run = look.history.runOf(node.id);
  const parts = [
    buttons(look, node, run?.number),
    edits(look, node),
    formulas(look, node, run?.step),
    arrivals(look, node, run?.step),
    saved(look, node),
    departures(look, node, run?.step),
    nextFunctions(look, node),
    hooks(look, run?.step),
    sectionOf("source", look.word("source"), sourceView(look.program.opOf(node)?.source, look.word)),
    jacobians(look, run?.step),
  ];
  return /** @type {Tree[]} */ (parts.filter(Boolean));
}

/**
 * "step 3 of 7 · forward op Mul(b, c)"
 * @param {Look} look
 * @param {GraphNode} node
 * @returns {Child[]}
 */
export function nodeSubtitle(look, node) {
  const run = look.history.runOf(node.id);
  const counter = (/** @type {number} */ step) => look.word("counter_text", { step, total: look.total });
  const op = look.program.opOf(node);
  const next = look.next === node.id && look.step >= 0;
  const when = run ? buttonFor(counter(run.number), { kind: "goto", step: run.number }, { class: "av-i-link" }) : look.word("not_run");
  const leaf = node.variable ? linkTo(look, node.variable) : null;
  return [when, !run && next && ` (${counter(look.history.position + 1)})`, op && " · ", op && linkTo(look, op.id), leaf && " · ", leaf];
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @param {number | undefined} ran
 */
function buttons(look, node, ran) {
  const stops = look.stops.includes(node.id);
  const label = look.program.label(node.id, look.word("unnamed"));
  const runTo = buttonFor(look.word("run_to"), { kind: "run_to", node: node.id }, { title: look.word("run_to_tip", { node: label }) });
  const message = { kind: "breakpoint", node: node.id };
  const breakpoint = buttonFor(look.word("breakpoint"), message, { "aria-pressed": String(stops) });
  return tree("div", { class: "av-i-buttons" }, [ran === undefined && runTo, breakpoint], { key: "buttons" });
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 */
function edits(look, node) {
  if (look.next !== node.id || look.step < 0) return null;
  const forms = Array.from({ length: Math.min(node.outputs, MOST_OUTPUTS) }, (_, i) => editForm(look, node.id, i, node.outputs));
  return sectionOf("edit", look.word("edit"), forms);
}

/**
 * The rule of each input in symbols, and below it with this step's numbers.
 * @param {Look} look
 * @param {GraphNode} node
 * @param {StepRecord | undefined} step
 */
function formulas(look, node, step) {
  const rules = node.formulas ?? [];
  if (!rules.length && !step?.formulas?.length) return null;
  const numbers = new Map((step?.formulas ?? []).map((f) => [f.input, f.text]));
  const inputs = [...new Set([...rules.map((f) => f.input), ...numbers.keys()])];
  const lines = inputs.map((input) => {
    const symbols = rules.find((f) => f.input === input)?.text;
    const rows = formulaLines(symbols, numbers.get(input));
    const name = tree("span", { class: "av-i-input" }, [`grad_${input}`]);
    return tree("div", { class: "av-i-formula" }, [name, ...rows.map((row) => tree("span", {}, [`= ${row}`]))]);
  });
  return sectionOf("formula", look.word("formula"), [tree("div", { class: "av-i-formulas" }, lines)]);
}

/**
 * "grad * other", "1.0 * 4.0", "4.0": what stands between the equals signs of a rule with numbers.
 * @param {string | undefined} symbols
 * @param {string | undefined} numbers
 */
export function formulaLines(symbols, numbers) {
  if (numbers === undefined) return symbols === undefined ? [] : [symbols];
  return numbers.split(" = ");
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @param {StepRecord | undefined} step
 */
function arrivals(look, node, step) {
  const count = Math.min(node.outputs, MOST_OUTPUTS);
  const outputs = Array.from({ length: count }, (_, i) => arrival(look, node, step, i));
  return sectionOf("arrived", look.word("arrived"), [...outputs, node.outputs > count && noteOf(`… +${node.outputs - count}`)]);
}

/**
 * What has arrived for one output: its parts, and their sum where several met.
 * @param {Look} look
 * @param {GraphNode} node
 * @param {StepRecord | undefined} step
 * @param {number} index
 */
function arrival(look, node, step, index) {
  const { program, history, word } = look;
  const at = `${node.id}.${index}`;
  const senders = program.senders.get(at) ?? [];
  const isStart = program.starts.has(at);
  const value = step?.grad_outputs?.[index] ?? null;
  const parts = senders.map((s) => ({ ...s, value: history.at(`next:${s.node}.${s.edge}`), ran: history.runOf(s.node) }));
  const rows = parts.map((p) => [
    ...wordsAround(look, "arrived_from", "node", p.node),
    ": ",
    tree("code", { class: p.value ? "av-i-grad" : "av-i-none" }, [p.value || p.ran ? lineOf(p.value) : word("not_arrived")]),
  ]);
  if (isStart) rows.unshift([word("arrived_first")]);
  const isSum = rows.length > 1;
  const shown = step || (!isSum && parts[0]?.value) ? arrayView(look, step ? value : parts[0].value, `out ${at}`, `grad_outputs[${index}]`) : null;
  const arrived = parts.filter((p) => p.value).length;
  return tree("div", { class: "av-i-output" }, [
    node.outputs > 1 && tree("h5", {}, [`grad_outputs[${index}]`]),
    rows.length ? listOf(rows.map((row) => tree("span", {}, row))) : noteOf(word("unused_output")),
    isSum && !step && noteOf(word("arrived_of", { arrived, expected: rows.length })),
    isSum && step && tree("span", { class: "av-i-sum" }, [word("sum")]),
    rows.length > 0 && shown,
    step?.edited?.includes(index) && noteOf(word("edited")),
  ]);
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 */
function saved(look, node) {
  const kept = (node.saved ?? []).filter((s) => s.state !== "none");
  const rows = kept.map((s) => savedRow(look, node, s));
  return sectionOf("saved", look.word("saved"), rows.length ? rows : [noteOf(look.word("no_saved"))]);
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @param {Saved} s
 */
function savedRow(look, node, s) {
  const { word } = look;
  const at = `${node.id}.saved.${s.name}`;
  const freed = s.state === "freed" || look.history.isFreed(at);
  const value = freed ? null : look.history.at(at, s.value ?? null);
  const state = freed ? "freed" : s.stale ? "stale" : s.state;
  const badge = tree("span", { class: `av-i-badge av-i-is-${state}` }, [word(state)]);
  const isTensor = s.state === "kept";
  const facts = [isTensor && word("version_of", { version: s.version ?? 0 }), s.bytes && bytesText(s.bytes)].filter(Boolean).join(" · ");
  return tree("div", { class: "av-i-saved" }, [
    tree("div", { class: "av-i-row" }, [tree("code", {}, [s.name]), badge, s.tensor && linkTo(look, s.tensor)]),
    s.text && tree("code", { class: "av-i-value" }, [s.text]),
    freed && s.value && tree("span", { class: "av-i-shape" }, [shapeText(s.value)]),
    value && arrayView(look, value, at, s.name),
    facts && tree("span", { class: "av-i-shape" }, [facts]),
  ], { key: s.name });
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @param {StepRecord | undefined} step
 */
function departures(look, node, step) {
  const next = node.next_functions ?? [];
  if (!next.length) return null;
  const rows = next.map((n, i) => {
    const name = node.formulas?.[i]?.input ?? String(i);
    const target = n.node ? wordsAround(look, "sent_to", "node", n.node) : [look.word("not_sent")];
    const view = n.node && step && arrayView(look, step.grad_inputs?.[i], `in ${node.id}.${i}`, `grad_inputs[${i}]`);
    const title = [tree("code", {}, [`grad_inputs[${i}]`]), next.length === node.formulas?.length && ` ${name}`, " "];
    return tree("div", { class: "av-i-output" }, [tree("div", { class: "av-i-row" }, [...title, tree("span", {}, target)]), view]);
  });
  return sectionOf("sent", look.word("sent"), rows);
}

/**
 * "(UnbindBackward0, 2)" and what the 2 means.
 * @param {Look} look
 * @param {GraphNode} node
 */
function nextFunctions(look, node) {
  const next = node.next_functions ?? [];
  if (!next.length) return null;
  const rows = next.map((n) => {
    if (!n.node) return tree("code", {}, ["(None, 0)"]);
    const target = look.program.nodeById.get(n.node);
    const op = target && look.program.opOf(target)?.name;
    const meaning = target?.variable ? look.word("index_means_leaf", { index: n.index }) : look.word("index_means", { index: n.index, op: op ?? "…" });
    return tree("span", {}, ["(", linkTo(look, n.node), `, ${n.index}) `, tree("span", { class: "av-i-shape" }, [meaning])]);
  });
  return sectionOf("next", look.word("next_functions"), [listOf(rows, "ol")]);
}

/**
 * @param {Look} look
 * @param {StepRecord | undefined} step
 */
function hooks(look, step) {
  const ran = step?.hooks ?? [];
  if (!ran.length) return null;
  const rows = ran.map((h) => {
    const [before, after] = [lineOf(h.before), lineOf(h.after)];
    const isSame = JSON.stringify(h.before) === JSON.stringify(h.after);
    const text = isSame ? look.word("hook_same", { name: h.name }) : look.word("hook_changed", { name: h.name, before, after });
    return tree("span", { class: isSame ? "" : "av-i-hook" }, [tree("bdi", {}, [text]), " ", tree("span", { class: "av-i-shape" }, [look.word(`hook_${h.kind}`, {}, h.kind)])]);
  });
  return sectionOf("hooks", look.word("hooks"), [listOf(rows, "ol")]);
}

/**
 * @param {Look} look
 * @param {StepRecord | undefined} step
 */
function jacobians(look, step) {
  const views = (step?.jacobians ?? []).map((j) => {
    const title = look.word("jacobian_of", { input: j.input });
    return tree("div", { class: "av-i-output" }, [tree("h5", {}, [title]), arrayView(look, j.value, `jacobian ${step?.node} ${j.input}`, title)]);
  });
  return views.length ? sectionOf("jacobian", look.word("jacobian"), views) : null;
}
