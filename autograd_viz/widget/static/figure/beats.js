// The motion of a step in three beats: the gradient arrives, the node computes, and what it sends leaves. It is drawn over the
// state after the step, so it can end at any time. Of a live step the first is drawn before the kernel answers (picture.css).

import { runAlong } from "./runner.js";

/** @typedef {import("../pass/history.js").Frame} Frame */
/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {() => void} Stop */

const LONGEST = 800; // ms of all three
const WITHIN_PAUSE = 0.85; // of the time until the next step is played
const [ARRIVED, COMPUTED] = [0.36, 0.62]; // parts of the time

export class Beats {
  /** @param {Picture} picture */
  constructor(picture) {
    this.picture = picture;
    this.pause = 1000; // ms until the next step
    /** @type {Stop[]} */
    this.moving = [];
  }

  get time() {
    return Math.min(LONGEST, WITHIN_PAUSE * this.pause);
  }

  /** @param {Frame} frame the step that has just run */
  start(frame) {
    this.stop();
    const { time } = this;
    const isFirst = (/** @type {[string, string]} */ [at]) => at.startsWith("grad_fn:");
    const arriving = [...(frame.came ?? []).map((at) => this.labelled(at)), ...frame.moves.filter(isFirst)];
    const leaving = frame.moves.filter((move) => !isFirst(move));
    if (!arriving.length && !leaving.length) return;
    this.run(arriving, 0, ARRIVED * time);
    this.run(leaving, COMPUTED * time, (1 - COMPUTED) * time);
    const outlines = this.picture.at([frame.node]).map((box) => box.querySelector(":scope > .outline"));
    this.light(outlines, [{ strokeWidth: "5px" }, { strokeWidth: "13px" }, { strokeWidth: "5px" }]);
    const press = new AbortController();
    for (const event of ["pointerdown", "keydown"])
      document.addEventListener(event, () => this.stop(), { capture: true, signal: press.signal });
    this.moving.push(() => press.abort());
  }

  /**
   * An arrow with the number that stands on it.
   * @param {string} at
   * @returns {[string, string]}
   */
  labelled(at) {
    return [at, this.picture.at([at]).find((element) => element.classList.contains("label"))?.textContent ?? ""];
  }

  /**
   * Numbers along their arrows.
   * @param {[string, string][]} moves
   * @param {number} delay ms
   * @param {number} time ms
   */
  run(moves, delay, time) {
    const { picture } = this;
    for (const [at, text] of moves) {
      const way = picture
        .at([at])
        .map((arrow) => arrow.querySelector(".way"))
        .find(Boolean);
      if (way && text) this.moving.push(runAlong(picture, way, text, delay, time));
    }
  }

  /** The rules are lit while the node computes. @param {Element} rules */
  lightRules(rules) {
    if (this.moving.length)
      this.light([...rules.children], [{ background: "none" }, { background: "var(--av-blue-fill)" }, { background: "none" }]);
  }

  /**
   * @param {(Element | null)[]} elements
   * @param {Keyframe[]} looks
   */
  light(elements, looks) {
    const when = { delay: ARRIVED * this.time, duration: (COMPUTED - ARRIVED) * this.time };
    for (const element of elements) {
      const lit = element?.animate(looks, when);
      if (lit) this.moving.push(() => lit.cancel());
    }
  }

  /** To the state after the step. */
  stop() {
    for (const stop of this.moving.splice(0)) stop();
  }
}
