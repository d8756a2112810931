// The state at a position, kept while stepping: a step costs its own changes, whatever came before it.

/** @typedef {import("../shared/statistics.js").Value} Value */
/** @typedef {import("../shared/draw.js").Lines} Lines */
/** @typedef {import("./program.js").Formula} Formula */
/** @typedef {{ at: string, before: Value | null, after: Value | null }} Change */
/** @typedef {{ node: string, arrived: number, expected: number }} WaitingNode */
/** @typedef {{ queue?: string[], waiting?: WaitingNode[], held?: number }} Engine */
/** @typedef {{ kind: string, name: string, before?: Value, after?: Value, index?: number }} HookRun */
/** @typedef {{ name: string, at: string, is_transposed?: boolean }} Term */
/** @typedef {{ text: string, result?: string, terms?: Term[], sign?: string }} NamedRule */
/**
 * @typedef {object} StepRecord
 * @property {string} node
 * @property {(Value | null)[]} [grad_outputs]
 * @property {(Value | null)[]} [grad_inputs]
 * @property {Formula[]} [formulas]
 * @property {Change[]} [changes]
 * @property {{ tensor: string, old: Value | null, incoming: Value, new: Value }} [accumulation]
 * @property {Engine} [engine]
 * @property {number} [freed]
 * @property {HookRun[]} [hooks]
 * @property {{ input: string, value: Value }[]} [jacobians]
 * @property {number[]} [edited]
 * @property {NamedRule[]} [named]
 */
/** @typedef {{ step: StepRecord }} Recorded */
/**
 * @typedef {object} Frame
 * @property {string} node
 * @property {string} sentence
 * @property {[string, Lines, Lines][]} changes
 * @property {string[]} fresh
 * @property {[string, string][]} moves
 * @property {string[]} [came]
 * @property {StepRecord & { flags?: string[] }} step
 * @property {Record<string, string>} [why]
 * @property {{ ran: string, next: string, arrived: string }} code the node itself, the one that is next, the gradient that arrived
 */

export class PassHistory {
  /** @param {Engine | undefined} start the engine before the first step */
  constructor(start) {
    this.start = start ?? {};
    /** @type {Recorded[]} */
    this.known = [];
    /** @type {Map<string, number>} in which step (from 1) each node ran */
    this.ran = new Map();
    /** @type {Map<string, Value | null>} what is at each address that has changed */
    this.values = new Map();
    this.position = 0;
    /** Counts up whenever the recorded steps are others than before. */
    this.edition = 0;
  }

  /**
   * Stand after `step` steps of `frames`; below 0 is the forward pass, where nothing has changed yet.
   * @param {Recorded[]} frames
   * @param {number} step
   */
  goto(frames, step) {
    this.learn(frames);
    const target = Math.max(0, Math.min(step, this.known.length));
    while (this.position < target) this.apply(this.known[this.position++].step, "after");
    while (this.position > target) this.apply(this.known[--this.position].step, "before");
  }

  /**
   * Take over the recorded steps; a person who edits a gradient gives the pass another future.
   * @param {Recorded[]} frames
   */
  learn(frames) {
    let same = 0;
    while (same < this.known.length && this.known[same] === frames[same]) same++;
    if (same === this.known.length && same === frames.length) return;
    this.edition++;
    while (this.position > same) this.apply(this.known[--this.position].step, "before");
    for (const gone of this.known.splice(same)) this.ran.delete(gone.step.node);
    for (const frame of frames.slice(same)) {
      this.known.push(frame);
      this.ran.set(frame.step.node, this.known.length);
    }
  }

  /**
   * @param {StepRecord} step
   * @param {"before" | "after"} side
   */
  apply(step, side) {
    const changes = step.changes ?? [];
    for (const change of side === "after" ? changes : changes.toReversed()) this.values.set(change.at, change[side]);
  }

  /**
   * What is at an address now; `otherwise` where no step has changed it.
   * @param {string} at
   * @param {Value | null} [otherwise]
   */
  at(at, otherwise = null) {
    const value = this.values.get(at);
    return value === undefined ? otherwise : value;
  }

  /** True if a step has freed this saved tensor. @param {string} at */
  isFreed(at) {
    return this.values.get(at) === null;
  }

  /** The step that brought us here, if any. */
  get current() {
    return this.position ? this.known[this.position - 1].step : undefined;
  }

  /** @returns {Engine} */
  get engine() {
    return this.current ? (this.current.engine ?? {}) : this.start;
  }

  /** The node that would run next, if that is known. */
  get nextNode() {
    return this.known[this.position]?.step.node ?? this.engine.queue?.[0] ?? null;
  }

  /**
   * The step in which a node ran, if it has run by now.
   * @param {string} node
   */
  runOf(node) {
    const number = this.ran.get(node);
    return number !== undefined && number <= this.position ? { number, step: this.known[number - 1].step } : undefined;
  }

  /** Bytes that saved tensors hold at the start and after each recorded step. */
  held() {
    return [this.start.held ?? 0, ...this.known.map((f) => f.step.engine?.held ?? 0)];
  }
}
