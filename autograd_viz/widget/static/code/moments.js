// Which lines of the user's code a step belongs to: what just ran, what is next, which turn, and what is known of each line.

/** @typedef {import("../pass/forward.js").Position} Position */
/** @typedef {import("../pass/history.js").Frame} Frame */
/** @typedef {[text: number, line: number, column: number, endLine: number, endColumn: number]} Place */
/**
 * @typedef {object} Run an op at its place, or a leaf
 * @property {string} op
 * @property {string} node
 * @property {string} tensor
 * @property {string} box what is drawn in its place, or ""
 * @property {number} at index of its place
 * @property {[turn: number, turns: number]} turn
 * @property {string} value "c = 6.0", "b = 1.0, c = 2.0"
 * @property {string} module path
 */
/** @typedef {{ file: string, function: string, owner: string, lines: [number: number, text: string][] }} CodeText */
/**
 * @typedef {object} Code
 * @property {CodeText[]} texts
 * @property {Place[]} places
 * @property {Run[]} runs
 * @property {Record<string, { name: string, at: number | null }>} modules
 * @property {string} next the node that would run first
 */
/** @typedef {{ run: Run, ran: boolean, next: boolean, value: string, arrived: string }} Said what is said at a line */
/** @typedef {{ path: string, name: string, place: Place | null }} Call a module that is being called, and where it stands */

const MOST_LEAVES = 3; // of a line, whose values are said

export class CodeIndex {
  /** @param {Code} code */
  constructor(code) {
    this.code = code;
    /** @type {Map<string, Run>} by op and by node */
    this.byId = new Map(code.runs.flatMap((run) => [run.op, run.node].filter(Boolean).map((id) => [id, run])));
    /** @type {Map<number, Run[]>[]} for each text, by line */
    this.lines = code.texts.map(() => new Map());
    for (const run of code.runs) {
      const [text, line] = code.places[run.at];
      const known = this.lines[text].get(line);
      if (known) known.push(run);
      else this.lines[text].set(line, [run]);
    }
  }

  /** @param {Run} run */
  placeOf(run) {
    return this.code.places[run.at];
  }

  /**
   * The nodes of a line: those that a breakpoint on it stops at.
   * @param {number} text
   * @param {number} line
   */
  nodesOf(text, line) {
    return (this.lines[text].get(line) ?? []).map((run) => run.node).filter(Boolean);
  }

  /**
   * The runs of what is drawn as a box: its own, or all those that it stands for.
   * @param {string} id of an op, a node, a tensor, a group or a card
   */
  runsOf(id) {
    const own = this.byId.get(id) ?? this.code.runs.find((run) => run.tensor === id);
    return own ? [own] : this.code.runs.filter((run) => id && (run.box === id || `b${id}` === run.box));
  }

  /**
   * The modules that are being called while an op runs, from the outermost, and the line at which each stands. A library's module
   * has none: it is not the user's code, and runs at the line that called it.
   * @param {Run} run
   * @returns {Call[]}
   */
  callsAround(run) {
    const { modules, places, texts } = this.code;
    const here = this.placeOf(run);
    const isRoot = modules[""] && texts[here[0]].owner === modules[""].name;
    const paths = (run.module || isRoot ? pathsTo(run.module) : []).filter((path) => modules[path]?.name);
    const called = paths.map((path) => modules[path].at); // where each was called
    const callers = ["", ...paths].map((path, i) => {
      const name = i ? modules[path].name : "";
      const at = i < paths.length ? called[i] : run.at;
      const isUsers =
        !i || (called[i - 1] === null ? at !== null && texts[places[at][0]].owner === name : at !== called[i - 1]);
      return { path, name, place: at !== null && isUsers ? places[at] : null };
    });
    return paths.length ? callers.filter((call, i) => i > 0 || call.place) : [];
  }
}

/**
 * "layers.0.linear" with those around it, from the outermost: "", "layers", …
 * @param {string} path
 */
function pathsTo(path) {
  const parts = path ? path.split(".") : [];
  return [...parts.keys(), parts.length].map((count) => parts.slice(0, count).join("."));
}

export class Moment {
  /**
   * @param {CodeIndex} index
   * @param {Frame[]} frames
   * @param {number} step
   * @param {Position[]} forward
   */
  constructor(index, frames, step, forward) {
    this.index = index;
    this.isForward = step < 0;
    const at = step + forward.length; // of the next op
    const done = this.isForward ? [] : frames.slice(0, step);
    /** @type {Map<string, { order: number, arrived: string }>} by node */
    this.passed = new Map(done.map((frame, order) => [frame.code.ran, { order, arrived: frame.code.arrived }]));
    /** @type {Set<string>} ops that have run, while the forward pass is replayed */
    this.made = new Set(this.isForward ? forward.slice(0, at).map((position) => position.ran ?? "") : []);
    const ran = this.isForward ? forward[at - 1]?.ran : done.at(-1)?.code.ran;
    const next = this.isForward
      ? forward[at]?.ran
      : (frames[step]?.code.ran ?? (step ? done.at(-1)?.code.next : index.code.next));
    this.ran = index.byId.get(ran ?? "");
    this.next = index.byId.get(next ?? "");
  }

  /**
   * What is said at a line.
   * @param {number} text
   * @param {number} line
   * @returns {Said | null}
   */
  at(text, line) {
    const runs = this.index.lines[text].get(line) ?? [];
    const here = (/** @type {Run | undefined} */ run) => (run && runs.includes(run) ? run : undefined);
    const [ran, next] = [here(this.ran), here(this.next)];
    const run = ran ?? next ?? (this.isForward ? runs.findLast((r) => !r.op || this.made.has(r.op)) : this.latest(runs));
    if (!run) return null;
    const leaves = run.op ? [] : runs.filter((r) => !r.op && r.value); // a, b = tensor(2.0), tensor(3.0)
    const value = leaves.length > MOST_LEAVES || run.op ? run.value : leaves.map((r) => r.value).join(", ");
    const isThere = !this.isForward || !run.op || this.made.has(run.op);
    const arrived = this.passed.get(run.node)?.arrived ?? "";
    return { run, ran: Boolean(ran), next: Boolean(next), value: isThere ? value : "", arrived };
  }

  /**
   * The line's last expression in the turn that the pass has come to.
   * @param {Run[]} runs
   */
  latest(runs) {
    const order = (/** @type {Run} */ run) => this.passed.get(run.node)?.order ?? -1;
    const last = runs.reduce((best, run) => (order(run) > order(best) ? run : best), runs[0]);
    return runs.length && order(last) >= 0 ? runs.findLast((run) => run.turn[0] === last.turn[0]) : runs.at(-1);
  }
}
