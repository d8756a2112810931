// The gradients that pass through a node: what arrived from whom, and what left to whom.

import { arrayView, lineOf } from "./array_view.js";
import { MOST_LISTED, noteOf, sectionOf, shortList, wordsAround } from "./look.js";
import { countOf } from "../shared/statistics.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("../pass/program.js").GraphNode} GraphNode */
/** @typedef {import("../shared/statistics.js").Value} Value */
/** @typedef {import("../pass/history.js").StepRecord} StepRecord */
/** @typedef {import("./look.js").Look} Look */

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @param {StepRecord | undefined} step
 */
export function arrivals(look, node, step) {
  const count = Math.min(node.outputs, MOST_LISTED);
  const outputs = Array.from({ length: count }, (_, i) => arrival(look, node, step, i));
  const rest = node.outputs > count && noteOf(`… +${node.outputs - count}`);
  return sectionOf("arrived", look.word("arrived"), [...outputs, rest]);
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
  const name = `grad_outputs[${index}]`;
  const parts = (program.senders.get(at) ?? []).map((s) => ({ ...s, value: history.at(`next:${s.node}.${s.edge}`) }));
  const isStart = program.starts.has(at);
  const count = sum(parts.map((p) => p.count)) + Number(isStart);
  const total = step ? (step.grad_outputs?.[index] ?? null) : count === 1 && parts.length ? parts[0].value : null;
  const isOnce = count === 1 && parts.length === 1 && parts[0].value?.text === total?.text;
  const isInline = isOnce && (!total || countOf(total.shape) === 1);
  const isWritten = isInline || !isOnce;
  const rows = shortList(parts, (p) => partRow(look, p, p.value, isWritten));
  const arrived = sum(parts.filter((p) => p.value || (p.count > 1 && history.runOf(p.node))).map((p) => p.count));
  const met = count > 1 && step ? (history.at(`sum:${at}`) ?? total) : null;
  const changed = step && total && (met ?? parts[0]?.value ?? total).text !== total.text;
  const how = step?.edited?.includes(index) ? "by_hand" : "after_hooks";
  return tree("div", { class: "av-i-output" }, [
    node.outputs > 1 && tree("h5", {}, [name]),
    isStart && tree("p", { class: "av-i-first" }, [word("arrived_first")]),
    ...(parts.length ? rows : []),
    !count && noteOf(word("unused_output")),
    count > 1 && !step && !isStart && noteOf(word("arrived_of", { arrived, expected: count })),
    count > 1 && step && tree("h5", {}, [word("sum")]),
    changed && met && arrayView(look, met, `sum ${at}`, word("sum")),
    changed && tree("h5", {}, [word(how)]),
    count > 0 && !isInline && (step || total) && arrayView(look, total, `out ${at}`, name),
    step?.edited?.includes(index) && noteOf(word("edited")),
  ]);
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((a, b) => a + b, 0);
}

/**
 * How many edges the picture draws as one: " × 5,000", nothing for one.
 * @param {number} [count]
 */
export function timesText(count = 1) {
  return count > 1 ? ` × ${count.toLocaleString("en")}` : "";
}

/**
 * "from MulBackward0: 12.", "from StackBackward0 × 5,000"
 * @param {Look} look
 * @param {import("../pass/program.js").Sender} sender
 * @param {Value | null} value
 * @param {boolean} isWritten with the value itself
 */
function partRow(look, sender, value, isWritten) {
  const several = sender.count > 1 || look.program.nodeById.get(sender.node)?.members; // of whose gradients none is told alone
  const text = value || look.history.runOf(sender.node) ? lineOf(value) : look.word("not_arrived");
  const code = tree("code", { class: value ? "av-i-grad" : "av-i-none" }, [text]);
  const from = wordsAround(look, "arrived_from", "node", sender.node);
  return tree("span", {}, [...from, timesText(sender.count), ...(isWritten && (value || !several) ? [": ", code] : [])]);
}

/**
 * @param {Look} look
 * @param {GraphNode} node
 * @param {StepRecord | undefined} step
 */
export function departures(look, node, step) {
  const next = node.next_functions ?? [];
  if (!next.length) return null;
  const isWhole = next.every((n) => (n.count ?? 1) === 1);
  const rows = next.slice(0, MOST_LISTED).map((n, i) => {
    const name = node.formulas?.[i]?.input ?? String(i);
    const target = n.node ? wordsAround(look, "sent_to", "node", n.node) : [look.word("not_sent")];
    const which = isWhole ? `grad_inputs[${i}]` : "grad_inputs[…]";
    const isTold = n.node && step && (n.count ?? 1) === 1;
    const view = isTold && arrayView(look, step.grad_inputs?.[i], `in ${node.id}.${i}`, which);
    const title = [
      tree("code", {}, [which]),
      timesText(n.count),
      isWhole && next.length === node.formulas?.length && ` ${name}`,
      " ",
    ];
    const row = tree("div", { class: "av-i-row" }, [...title, tree("span", {}, target)]);
    return tree("div", { class: "av-i-output" }, [row, view]);
  });
  const rest = next.length > rows.length && noteOf(`… +${next.length - rows.length}`);
  return sectionOf("sent", look.word("sent"), [...rows, rest]);
}
