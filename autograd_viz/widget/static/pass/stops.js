// Where a run over recorded steps stops: the same rules as Python's (Note [Kinds of stops] in stops.py), without a kernel.

import { asNumber } from "../shared/statistics.js";

/** @typedef {import("./history.js").Frame & { facts?: Facts, did?: Record<string, string>, ran?: string, ready?: [box: string, name: string][] }} Frame see frames.py */
/** @typedef {[norm: number | string, sign: number, text?: string]} Fact of one gradient; the text is that of a single number */
/**
 * @typedef {object} Facts what Python says of a step (stops.py)
 * @property {string} node
 * @property {string[]} ends the node of each of its next_functions, or ""
 * @property {(Fact | null)[]} came
 * @property {(Fact | null)[]} left
 * @property {(Fact | null)[]} [sent] what came before sums, hooks and edits, if that is another
 * @property {[tensor: string, before: Fact | null, after: Fact | null][]} grads
 */
/** @typedef {{ kind: string, node?: string, number?: number, name?: string }} Stop */
/** @typedef {{ step: number, kind: string, node: string, stop?: Stop }} Hit */
/** @typedef {(index: number) => Facts | undefined} FactsOf of a step, from 0 */

/** @typedef {(node: string, box: string) => boolean} Within is a node's box another, or in it? */

/** @type {Within} */
export const same = (node, box) => node === box;

const SINGLE = ["nan", "zero", "sign", "above", "below", "condition"]; // a new one replaces the old one

/** @type {Record<string, string[]>} the flags of a step by kind of stop */
const FLAGS = { nan: ["nan", "inf"], zero: ["zero"], condition: ["condition", "condition_error"] };

/** @type {Record<string, (stop: Stop, facts: Facts, index: number, factsOf: FactsOf) => boolean>} */
const RULES = {
  above: (stop, facts) => crosses(facts, (norm) => norm > (stop.number ?? 0)),
  below: (stop, facts) => crosses(facts, (norm) => norm < (stop.number ?? 0)),
  sign: (_, { sent, came, left }) => turns(sent ?? came, came) || turns(came, left),
  grad: (stop, facts) => facts.node === stop.node && facts.came.some(Boolean),
  arrival: (stop, facts, index, factsOf) => {
    const now = sentTo(facts, stop.node);
    let before = 0;
    for (let i = 0; now && i < index; i++) before += sentTo(factsOf(i), stop.node);
    return before < (stop.number ?? 0) && (stop.number ?? 0) <= before + now;
  },
};

/**
 * Is a norm beyond a limit after the sum, the call or the accumulation, and none before it?
 * @param {Facts} facts
 * @param {(norm: number) => boolean} isBeyond
 */
function crosses({ sent, came, left, grads }, isBeyond) {
  const holds = (/** @type {(Fact | null)[]} */ some) => some.some((fact) => fact && isBeyond(asNumber(fact[0])));
  const ways = [[sent ?? came, came], [came, left], ...grads.map(([, old, now]) => [[old, ...came], [now]])];
  return ways.some(([before, after]) => holds(after) && !holds(before));
}

/**
 * Does a gradient have a sign that is the opposite of all before?
 * @param {(Fact | null)[]} before
 * @param {(Fact | null)[]} after
 */
function turns(before, after) {
  const signs = new Set(before.flatMap((fact) => (fact?.[1] ? [fact[1]] : [])));
  return after.some((fact) => fact?.[1] && signs.size === 1 && signs.has(-fact[1]));
}

/**
 * How many gradients a step has sent to a node.
 * @param {Facts | undefined} facts
 * @param {string} [node]
 */
function sentTo(facts, node) {
  return facts?.ends.filter((end, k) => end === node && facts.left[k]).length ?? 0;
}

/**
 * Does a run stop for this after a step?
 * @param {Stop} stop
 * @param {string[]} flags of the step
 * @param {number} index of the step, from 0
 * @param {FactsOf} factsOf
 */
export function meets(stop, flags, index, factsOf) {
  if (stop.kind in FLAGS) return flags.some((flag) => FLAGS[stop.kind].includes(flag));
  const facts = factsOf(index);
  return facts !== undefined && (RULES[stop.kind]?.(stop, facts, index, factsOf) ?? false);
}

/**
 * Why a run stops after `step` steps, or null: the step itself first, then a breakpoint at the node that would run next.
 * @param {Frame[]} frames
 * @param {number} step
 * @param {Stop[]} stops
 * @param {string} [ready] the node that would run first of all
 * @param {Within} [within]
 * @returns {Hit | null}
 */
export function stopAt(frames, step, stops, ready = "", within = same) {
  const done = frames[step - 1];
  const flags = done?.step?.flags ?? [];
  const stop = done && stops.find((one) => meets(one, flags, step - 1, (i) => frames[i]?.facts));
  if (stop) return { step, kind: isFailed(stop, flags) ? "condition_error" : stop.kind, node: done.node, stop };
  const queue = done ? done.step?.engine?.queue : [ready];
  const next = frames[step]?.node ?? queue?.[0] ?? "";
  const nodes = breakpointsOf(stops);
  const hidden = frames[step]?.code?.ran ?? done?.code?.next; // in a closed group, a breakpoint on a line means one node
  if (nodes.includes(hidden ?? "")) return { step, kind: "breakpoint", node: next };
  const node = nodes.find((box) => within(next, box) && !(done && within(done.node, box))); // a group stops before its first
  return node === undefined ? null : { step, kind: "breakpoint", node };
}

/**
 * @param {Stop} stop
 * @param {string[]} flags
 */
function isFailed(stop, flags) {
  return stop.kind === "condition" && flags.includes("condition_error");
}

/**
 * The first stop after `from` among recorded steps.
 * @param {Frame[]} frames
 * @param {number} from
 * @param {Stop[]} stops
 * @param {Within} [within]
 * @returns {Hit | null}
 */
export function nextStop(frames, from, stops, within = same) {
  for (let step = from + 1; step <= frames.length; step++) {
    const stop = stopAt(frames, step, stops, "", within);
    if (stop) return stop;
  }
  return null;
}

/** @param {Stop[]} stops */
export function breakpointsOf(stops) {
  return stops.flatMap(({ kind, node }) => (kind === "node" && node ? [node] : []));
}

/**
 * @param {Stop} a
 * @param {Stop} b
 */
function isSame(a, b) {
  return a.kind === b.kind && (SINGLE.includes(a.kind) || (a.node === b.node && (a.number ?? 0) === (b.number ?? 0)));
}

/**
 * Without a stop.
 * @param {Stop[]} stops
 * @param {Stop} stop
 */
export function without(stops, stop) {
  return stops.filter((other) => !isSame(other, stop));
}

/**
 * With a stop.
 * @param {Stop[]} stops
 * @param {Stop} stop
 */
export function withStop(stops, stop) {
  return [...without(stops, stop), stop];
}

/**
 * With a breakpoint where there was none, or without it.
 * @param {Stop[]} stops
 * @param {Stop} stop
 */
export function toggled(stops, stop) {
  return stops.some((other) => isSame(other, stop)) ? without(stops, stop) : withStop(stops, stop);
}
