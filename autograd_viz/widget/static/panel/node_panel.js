// The panel of a backward node: its rule, what arrived from whom, what it kept, what left to whom.

import { arrayView, lineOf } from "./array_view.js";
import { editForm } from "./edit_form.js";
import { arrivals, departures, timesText } from "./gradients_passed.js";
import { MOST_LISTED, buttonFor, linkTo, noteOf, sectionOf, shortList } from "./look.js";
import { sourceView } from "../code/source_line.js";
import { bytesText } from "../shared/statistics.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("../pass/program.js").GraphNode} GraphNode */
/** @typedef {import("../pass/program.js").Saved} Saved */
/** @typedef {import("../pass/history.js").StepRecord} StepRecord */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../shared/tree.js").Tree} Tree */
/** @typedef {import("../shared/tree.js").Child} Child */

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @returns {(Tree | string)[]}
 */
export function nodePanel(look, node) {
  const run = look.history.runOf(node.id);
  const origin = look.program.opOf(node) ?? look.program.tensorById.get(node.variable ?? "");
  const parts = [
    buttons(look, node, run?.number),
    edits(look, node),
    formulas(look, node, run?.step),
    arrivals(look, node, run?.step),
    saved(look, node),
    departures(look, node, run?.step),
    nextFunctions(look, node),
    hooks(look, run?.step),
    sectionOf("source", look.word("source"), sourceView(origin?.source, look.word)),
    jacobians(look, run?.step),
  ];
  return /** @type {Tree[]} */ (parts.filter(Boolean));
}

/**
 * "step 3 of 7 · Mul(b, c)"
 * @param {Look} look
 * @param {GraphNode} node
 * @returns {Child[]}
 */
export function nodeSubtitle(look, node) {
  const run = look.history.runOf(node.id);
  const counter = (/** @type {number} */ step) => look.word("counter_text", { step, total: look.total });
  const goto = run && { kind: "goto", step: run.number };
  const when = run && goto ? buttonFor(counter(run.number), goto, { class: "av-i-link" }) : look.word("not_run");
  const isNext = !run && look.next === node.id && look.step >= 0;
  const origin = node.op ?? node.variable;
  return [when, isNext && ` (${counter(look.history.position + 1)})`, origin && " · ", origin && linkTo(look, origin)];
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @param {number | undefined} ran
 */
function buttons(look, node, ran) {
  const stops = look.stops.includes(node.id);
  const label = look.program.label(node.id, look.word("unnamed"));
  const title = look.word("run_to_tip", { node: label });
  const runTo = buttonFor(look.word("run_to"), { kind: "run_to", node: node.id }, { title });
  const message = { kind: "breakpoint", node: node.id };
  const breakpoint = buttonFor(look.word("breakpoint"), message, { "aria-pressed": String(stops) });
  return tree("div", { class: "av-i-buttons" }, [ran === undefined && runTo, breakpoint], { key: "buttons" });
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 */
function edits(look, node) {
  if (look.next !== node.id || look.step < 0 || (node.entries?.length && !node.members)) return null; // which output, nobody could say
  const count = Math.min(node.outputs, MOST_LISTED);
  const forms = Array.from({ length: count }, (_, i) => editForm(look, node.id, i, node.outputs));
  const undo = Object.keys(look.edits).length > 0 && buttonFor(look.word("undo_edit"), { kind: "undo_edit" });
  return sectionOf("edit", look.word("edit"), [...forms, undo]);
}

/**
 * The rule of each input in symbols, and below it with this step's numbers.
 * @param {Look} look
 * @param {GraphNode} node
 * @param {StepRecord | undefined} step
 */
function formulas(look, node, step) {
  const rules = new Map((node.formulas ?? []).map((f) => [f.input, f.text]));
  const numbers = new Map((step?.formulas ?? []).map((f) => [f.input, f.text]));
  if (step && !step.grad_outputs?.some(Boolean)) return null; // no rule ran
  const disagrees = step !== undefined && numbers.size === 0; // PyTorch came to something else than our rule
  const inputs = disagrees ? [] : [...new Set([...rules.keys(), ...numbers.keys()])];
  const lines = inputs.map((input) => {
    const texts = (numbers.get(input) ?? rules.get(input) ?? "").split(" = ");
    return formula(`grad_${input}`, texts, numbers.has(input));
  });
  const sum = step?.accumulation;
  if (sum) {
    const added = sum.old ? [`${lineOf(sum.old)} + ${lineOf(sum.incoming)}`] : [];
    const name = `${look.program.label(sum.tensor, look.word("unnamed"))}.grad`;
    lines.push(formula(name, [...added, lineOf(sum.new)], true));
  }
  const rule = node.rule || (disagrees && rules.size > 0 ? "torch" : "");
  if (!lines.length && rule) return sectionOf("formula", look.word("formula"), [look.word(`rule_${rule}`)]);
  return lines.length ? sectionOf("formula", look.word("formula"), [tree("div", { class: "av-i-formulas" }, lines)]) : null;
}

/**
 * name = first, and each further text on a line of its own.
 * @param {string} name
 * @param {string[]} texts
 * @param {boolean} isDone the last text is a result
 */
function formula(name, texts, isDone) {
  const last = texts.length - 1;
  const rows = texts.map((text, i) => tree("span", { class: isDone && i === last ? "av-i-result" : "" }, [`= ${text}`]));
  return tree("div", { class: "av-i-formula" }, [tree("bdi", {}, [name]), ...rows]);
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 */
function saved(look, node) {
  const kept = (node.saved ?? []).filter((s) => s.state !== "none");
  const rows = kept.slice(0, MOST_LISTED).map((s) => savedRow(look, node, s));
  const rest = kept.length > rows.length && noteOf(`… +${kept.length - rows.length}`);
  return sectionOf("saved", look.word("saved"), rows.length ? [...rows, rest] : [noteOf(look.word("no_saved"))]);
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @param {Saved} s
 */
function savedRow(look, node, s) {
  const { word } = look;
  const at = `${node.id}.saved.${s.name}`;
  const freed = s.state === "freed" || look.history.isFreed(at) || look.spoiled[at] === "freed";
  const value = freed ? s.value : look.history.at(at, s.value ?? null);
  const state = freed ? "freed" : s.stale || look.spoiled[at] ? "stale" : s.state;
  const badge = tree("span", { class: `av-i-badge av-i-is-${state}` }, [word(state)]);
  const plain = s.text && tree("code", {}, [`= ${s.text}`]);
  const isTensor = s.state === "kept";
  const version = isTensor && word("version_of", { version: s.version ?? 0 });
  const facts = [
    version,
    s.stale && word("values_now"),
    freed && value && word("values_were"),
    s.bytes && bytesText(s.bytes),
  ].filter(Boolean);
  return tree(
    "div",
    { class: "av-i-saved" },
    [
      tree("div", { class: "av-i-row" }, [tree("code", {}, [s.name]), plain, badge, s.tensor && linkTo(look, s.tensor)]),
      value && arrayView(look, value, at, s.name),
      facts.length > 0 && tree("span", { class: "av-i-shape av-i-facts" }, [facts.join(" · ")]),
    ],
    { key: s.name },
  );
}

/**
 * "(UnbindBackward0, 2)" and what the 2 means.
 * @param {Look} look
 * @param {GraphNode} node
 */
function nextFunctions(look, node) {
  const next = node.next_functions ?? [];
  if (!next.length) return null;
  const rows = shortList(
    next,
    (n) => {
      if (!n.node) return tree("code", {}, [`(None, 0)${timesText(n.count)}`]);
      const target = look.program.nodeById.get(n.node);
      const entry = target?.entries?.[n.index];
      if (entry && !target?.members)
        return tree("span", {}, ["(", linkTo(look, n.node), `, ${entry.index ?? "…"})${timesText(n.count)}`]);
      const op = target && look.program.opOf(target)?.name;
      const meaning = look.word(target?.variable ? "index_means_leaf" : "index_means", { index: n.index, op: op ?? "…" });
      return tree("span", {}, [
        "(",
        linkTo(look, n.node),
        `, ${n.index})${timesText(n.count)} `,
        tree("span", { class: "av-i-shape" }, [meaning]),
      ]);
    },
    "ol",
  );
  return sectionOf("next", look.word("next_functions"), rows);
}

/**
 * @param {Look} look
 * @param {StepRecord | undefined} step
 */
function hooks(look, step) {
  const ran = step?.hooks ?? [];
  if (!ran.length) return null;
  const rows = shortList(
    ran,
    (h) => {
      const [before, after] = [lineOf(h.before), lineOf(h.after)];
      const isSame = JSON.stringify(h.before) === JSON.stringify(h.after);
      const text = look.word(isSame ? "hook_same" : "hook_changed", { name: h.name, before, after });
      const kind = tree("span", { class: "av-i-shape" }, [look.word(`hook_${h.kind}`, {}, h.kind)]);
      return tree("span", { class: isSame ? "" : "av-i-hook" }, [tree("bdi", {}, [text]), " ", kind]);
    },
    "ol",
  );
  return sectionOf("hooks", look.word("hooks"), rows);
}

/**
 * @param {Look} look
 * @param {StepRecord | undefined} step
 */
function jacobians(look, step) {
  const views = (step?.jacobians ?? []).map((j) => {
    const title = look.word("jacobian_of", { input: j.input });
    const view = arrayView(look, j.value, `jacobian ${step?.node} ${j.input}`, title);
    return tree("div", { class: "av-i-output" }, [tree("h5", {}, [title]), view]);
  });
  return views.length ? sectionOf("jacobian", look.word("jacobian"), views) : null;
}
