// Where a run over recorded steps stops: the same rules as Python's (stops.py), for steps that need no kernel.

/** @typedef {import("./picture.js").Frame} Frame */
/** @typedef {{ nodes: string[], nan: boolean, zero: boolean, condition: string }} Stops */
/** @typedef {{ step: number, kind: string, node: string }} Stop */

/** @typedef {(node: string, box: string) => boolean} Within is a node's box another, or in it? */

/** @type {Within} */
export const same = (node, box) => node === box;

/** @type {Stops} */
const NONE = { nodes: [], nan: false, zero: false, condition: "" };

/**
 * Stops as Python sends them, with nothing missing.
 * @param {Partial<Stops> | undefined} stops
 * @returns {Stops}
 */
export function wholeStops(stops) {
  return { ...NONE, ...stops };
}

/**
 * Why a run stops after `step` steps, or null: the step's flags first, then a breakpoint at the node that would run next.
 * @param {Frame[]} frames
 * @param {number} step
 * @param {Stops} stops
 * @param {string} [ready] the node that would run first of all
 * @param {Within} [within]
 * @returns {Stop | null}
 */
export function stopAt(frames, step, stops, ready = "", within = same) {
  const done = frames[step - 1];
  const flags = done?.step?.flags ?? [];
  /** @type {Record<string, unknown>} */
  const wanted = { nan: stops.nan, inf: stops.nan, zero: stops.zero, condition: stops.condition, condition_error: stops.condition };
  const flag = flags.find((f) => wanted[f]);
  if (flag) return { step, kind: flag === "inf" ? "nan" : flag, node: done.node };
  const queue = done ? done.step?.engine?.queue : [ready];
  const next = frames[step]?.node ?? queue?.[0] ?? "";
  const hidden = frames[step]?.code?.ran ?? done?.code?.next; // in a closed group, a breakpoint on a line means one node
  if (stops.nodes.includes(hidden ?? "")) return { step, kind: "breakpoint", node: next };
  const node = stops.nodes.find((box) => within(next, box) && !(done && within(done.node, box))); // a group stops before its first
  return node === undefined ? null : { step, kind: "breakpoint", node };
}

/**
 * The first stop after `from` among recorded steps.
 * @param {Frame[]} frames
 * @param {number} from
 * @param {Stops} stops
 * @param {Within} [within]
 * @returns {Stop | null}
 */
export function nextStop(frames, from, stops, within = same) {
  for (let step = from + 1; step <= frames.length; step++) {
    const stop = stopAt(frames, step, stops, "", within);
    if (stop) return stop;
  }
  return null;
}

/**
 * With a breakpoint where there was none, or without it.
 * @param {Stops} stops
 * @param {string} node
 * @returns {Stops}
 */
export function toggled(stops, node) {
  const nodes = stops.nodes.includes(node) ? stops.nodes.filter((n) => n !== node) : [...stops.nodes, node];
  return { ...stops, nodes };
}
