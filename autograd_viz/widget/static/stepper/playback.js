// The cursor: what is recorded is walked here alone, honouring the stops; only past the frontier the kernel is asked.

import { Kernel } from "../pass/kernel.js";
import { nextStop, same, stopAt } from "../pass/stops.js";

/** @typedef {import("../toolbar/controls.js").Action} Action */
/** @typedef {import("../pass/graph.js").Graph} Graph */
/** @typedef {import("../pass/kernel.js").Model} Model */
/** @typedef {import("../pass/stops.js").Frame} Frame */
/** @typedef {import("../pass/stops.js").Hit} Hit */
/** @typedef {import("../pass/stops.js").Stop} Stop */
/** @typedef {import("../shared/words.js").Say} Say */

const SAVE_MS = 50; // from a recorded step until the kernel is told: its reply keeps JupyterLab busy, so a fast series is told once

export class Playback {
  /**
   * @param {Model} model
   * @param {{ first: number, total: number, ready: string, graph: Graph, say: Say, pause: () => number, changed: () => void, within?: import("../pass/stops.js").Within }} context
   *   `ready` is the node that runs first; `pause` the time between played steps in ms; `changed` is called after every change
   */
  constructor(model, { first, total, ready, graph, say, pause, changed, within = same }) {
    this.model = model;
    this.first = first;
    this.total = total;
    this.ready = ready;
    this.graph = graph;
    this.say = say;
    this.pause = pause;
    this.changed = changed;
    this.within = within;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.saving = undefined;
    /** @type {number | undefined} a step that is shown and that the kernel has not been told yet */
    this.ahead = undefined;
    /** @type {number | undefined} a step that the kernel has been asked for */
    this.wanted = undefined;
    this.kernel = new Kernel(model, { answered: () => this.answered(), silent: () => this.silent() });
    this.playing = false;
    /** @type {{ step: number, text: string } | null} why a walk over recorded steps stopped */
    this.stop = null;
    /** @type {{ step: number, part: string } | null} what a walk over recorded steps has left, and where it ended */
    this.left = null;
  }

  /** @returns {Frame[]} */
  get frames() {
    return this.model.get("frames");
  }

  get step() {
    return Math.max(this.first, Math.min(this.ahead ?? this.model.get("step"), this.frames.length));
  }

  get atEnd() {
    return this.model.get("complete") && this.step === this.frames.length;
  }

  /** @returns {Stop[]} */
  get stops() {
    return this.model.get("shown_stops") ?? [];
  }

  /** Has the kernel not answered for long? */
  get gone() {
    return this.kernel.gone;
  }

  /** What the group or card did that the last move went through, or "". */
  get did() {
    if (this.left?.step === this.step) return this.frames[this.step - 1]?.did?.[this.left.part] ?? "";
    return this.ahead === undefined ? (this.model.get("did") ?? "") : "";
  }

  /** Why the last walk stopped here, or "". */
  get stopped() {
    const told = this.ahead === undefined ? this.model.get("stopped") : "";
    const reason = this.stop?.step === this.step ? this.stop.text : told;
    return reason ? this.say("stopped", { reason }) : "";
  }

  /** @param {Action} action */
  act(action) {
    if (action === "play") return this.playing ? this.halt() : this.play();
    this.halt();
    if (action === "run") return this.run();
    const here = this.wanted ?? this.step; // a second press counts even if the kernel has not answered the first
    this.goto({ reset: here > 0 ? 0 : this.first, back: here - 1, next: here + 1, finish: this.total }[action]);
  }

  /**
   * To a step that a person has chosen.
   * @param {number} step
   */
  jump(step) {
    this.halt();
    this.goto(step);
  }

  /** @param {number} step */
  goto(step) {
    const target = Math.max(this.first, Math.min(step, this.total));
    if (target <= this.frames.length) this.move(target);
    else if (!this.model.get("complete")) {
      this.wanted = target;
      this.toFrontier();
      this.ask({ kind: "goto", step: target });
    } else this.move(this.frames.length);
  }

  /**
   * To a recorded step.
   * @param {number} step
   */
  move(step) {
    this.wanted = undefined;
    this.stop = this.left = null;
    this.ahead = step;
    this.saving ??= setTimeout(() => this.save(), SAVE_MS);
    this.changed();
  }

  /** Tell the kernel where we are. */
  save() {
    clearTimeout(this.saving);
    if (this.kernel.asked) {
      this.saving = setTimeout(() => this.save(), SAVE_MS);
      return;
    }
    const step = this.ahead;
    this.ahead = this.saving = undefined;
    if (step === undefined) return;
    for (const said of ["stopped", "did"]) if (this.model.get(said)) this.model.set(said, "");
    this.model.set("step", step);
    this.model.save_changes();
  }

  /** The kernel, or another view, is somewhere else now. */
  moved() {
    const isAnswer = this.kernel.asked && this.saving !== undefined; // a person has gone on meanwhile
    if (!isAnswer) {
      clearTimeout(this.saving);
      this.ahead = this.saving = undefined;
    }
    this.changed();
  }

  /** What is recorded needs no kernel: it is shown while the kernel works. */
  toFrontier() {
    if (this.step < this.frames.length) this.ahead = this.frames.length;
  }

  /**
   * A walk that the kernel finishes: it begins where we are.
   * @param {any} question
   */
  askFromHere(question) {
    const from = this.step;
    this.toFrontier();
    this.ask({ kind: "goto", step: from }, question);
  }

  /** @param {...any} questions */
  ask(...questions) {
    clearTimeout(this.saving); // a question says where it begins
    this.saving = undefined;
    this.kernel.ask(questions);
    this.changed();
  }

  /** Nothing is awaited any more. */
  rest() {
    clearTimeout(this.timer);
    this.kernel.rest();
    if (this.saving !== undefined) this.save();
  }

  /** The kernel has recorded something, or answered. */
  heard() {
    this.kernel.heard();
    this.changed();
  }

  answered() {
    if (!this.kernel.asked && this.saving === undefined) this.ahead = undefined;
    const arrived = this.wanted !== undefined && this.step >= this.wanted;
    if (arrived || this.atEnd || this.model.get("error")) this.wanted = undefined;
  }

  silent() {
    this.wanted = undefined;
    this.halt();
  }

  /** To the next stop, or to the end. */
  run() {
    const stop = nextStop(this.frames, Math.max(0, this.step), this.stops, this.within);
    if (stop?.kind === "condition_error")
      this.askFromHere({ kind: "run" }); // what was raised is known there
    else if (stop) this.stopFor(stop);
    else if (this.model.get("complete")) this.move(this.frames.length);
    else this.askFromHere({ kind: "run" });
  }

  /** @param {Hit} hit */
  stopFor({ step, kind, node, stop }) {
    this.move(step);
    const name = (stop && this.frames[step - 1]?.ran) || this.graph.label(node);
    this.stop = {
      step,
      text: this.say(`stopped_${kind}`, { node: name, tensor: stop?.name ?? "", number: stop?.number ?? 0 }),
    };
    this.changed();
  }

  /**
   * Until a node is the next to run; back to there if it has run.
   * @param {string} node
   */
  runTo(node) {
    this.halt();
    const step = this.frames.findIndex((frame) => this.within(frame.node, node));
    if (step >= 0) this.move(step);
    else if (!this.model.get("complete")) this.askFromHere({ kind: "run_to", node });
  }

  /**
   * On to the step in which the next gradient reaches a tensor.
   * @param {string} tensor
   */
  until(tensor) {
    this.halt();
    const ends = this.graph.reachedBy(tensor);
    const from = Math.max(0, this.step);
    const index = this.frames.findIndex((frame, i) => i >= from && ends.has(frame.node));
    if (index >= 0) {
      this.move(index + 1);
      this.stop = { step: index + 1, text: this.say("stopped_until", { tensor: this.graph.label(tensor) }) };
      this.changed();
    } else if (this.model.get("complete")) {
      this.move(this.frames.length);
      this.stop = { step: this.frames.length, text: this.say("stopped_unreached", { tensor: this.graph.label(tensor) }) };
      this.changed();
    } else this.askFromHere({ kind: "until", tensor });
  }

  /**
   * The box of the node that runs next, or "".
   * @param {{ queue?: string[] }} [start] the engine before the first step
   */
  next(start) {
    const { step, frames } = this;
    const queue = step > 0 ? frames[step - 1]?.step?.engine?.queue : start?.queue;
    return frames[Math.max(0, step)]?.node ?? queue?.[0] ?? "";
  }

  /**
   * On until what runs next is no longer in a group or card.
   * @param {string} part
   */
  leave(part) {
    this.halt();
    const from = Math.max(0, this.step);
    const index = this.frames.findIndex((frame, i) => i > from && !this.within(frame.node, part));
    if (index < 0 && !this.model.get("complete")) return this.askFromHere({ kind: "leave", id: part });
    this.move(index < 0 ? this.frames.length : index);
    this.left = { step: this.step, part };
    this.changed();
  }

  /** Something that changes the pass at the cursor. @param {any} question */
  change(question) {
    this.halt();
    this.ask({ kind: "goto", step: this.step }, question);
  }

  play() {
    this.playing = true;
    const begin = this.step;
    const tick = () => {
      const stop =
        this.step !== begin && this.step > 0 ? stopAt(this.frames, this.step, this.stops, this.ready, this.within) : null;
      if (stop) this.stopFor(stop);
      if (stop || this.atEnd || this.model.get("error")) return this.halt();
      if (!this.kernel.asked) this.goto(this.step + 1);
      this.timer = setTimeout(tick, this.pause());
    };
    tick();
    this.changed();
  }

  halt() {
    clearTimeout(this.timer);
    this.playing = false;
    this.changed();
  }
}
