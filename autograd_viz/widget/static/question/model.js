// A question's model without a kernel: it judges as lessons/question.py does (Note [Two tries] there).

import { agrees, isShapedAs, read } from "./reading.js";

/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("./question.js").Verdict} Verdict */
/** @typedef {{ shape: number[], numbers: string[] }} Plain */
/**
 * @typedef {object} Judging
 * @property {any} answer a Plain or null for a row, else indices
 * @property {string} hint
 * @property {[wrong: any, said: string][]} slips
 * @property {string} why
 * @property {number} tries
 * @property {string} between
 * @property {Record<string, string>} said
 * @property {string} text the answer in words
 */

export class QuestionModel {
  /** @param {{ asked: any, judging: Judging }} data */
  constructor({ asked, judging }) {
    /** @type {Record<string, any>} */
    this.traits = { asked, verdict: {} };
    this.judging = judging;
    this.failed = 0;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
  }

  /** @param {string} name */
  get(name) {
    return this.traits[name];
  }

  /**
   * @param {string} _event
   * @param {() => void} listener
   */
  on(_event, listener) {
    this.listeners.add(listener);
  }

  /**
   * @param {string} _event
   * @param {() => void} listener
   */
  off(_event, listener) {
    this.listeners.delete(listener);
  }

  /** @param {{ kind: string, given?: any }} message */
  send({ kind, given }) {
    const verdict = kind === "show" ? this.shown() : this.judge(given);
    if (verdict.state === "again" || verdict.state === "wrong") this.failed++;
    this.traits.verdict = { ...verdict, count: (this.traits.verdict.count ?? 0) + 1 };
    for (const listener of this.listeners) listener();
  }

  /** @returns {Verdict} */
  shown() {
    return { state: "shown", said: this.say("shown"), why: this.judging.why };
  }

  /**
   * @param {any} given
   * @returns {Verdict}
   */
  judge(given) {
    const { kind, options } = this.traits.asked;
    const { answer } = this.judging;
    if (kind === "row") {
      const reading = read(given);
      if (!reading) return { state: "unread", said: this.say("unread"), why: "" };
      return this.verdict(agrees(reading, answer), this.slipRead(reading));
    }
    if (!given.length && kind !== "many") return { state: "unread", said: this.say("empty"), why: "" };
    if (kind === "order" && given.length < options.length) {
      return { state: "unread", said: this.say("unfinished", { chosen: given.length, count: options.length }), why: "" };
    }
    return this.verdict(String(given) === String(answer), this.slipChosen(kind, given));
  }

  /** @param {Reading} reading */
  slipRead(reading) {
    const { answer, slips } = this.judging;
    const zero = reading.numbers?.every((n) => n === 0);
    const other = reading.numbers && answer && !isShapedAs(reading.shape, answer);
    /** @type {Record<string, any>} */
    const named = { none: !reading.numbers, zero, shape: other };
    return slips.find(([wrong]) => (typeof wrong === "string" ? named[wrong] : agrees(reading, wrong)))?.[1] ?? "";
  }

  /**
   * @param {string} kind
   * @param {number[]} given
   */
  slipChosen(kind, given) {
    const first = given.findIndex((index, k) => index !== this.judging.answer[k]);
    const wrong = kind === "order" ? [first, given[first]] : given;
    return this.judging.slips.find(([slip]) => String(slip) === String(wrong))?.[1] ?? "";
  }

  /**
   * @param {boolean} right
   * @param {string} slip
   * @returns {Verdict}
   */
  verdict(right, slip) {
    const { hint, why, tries, between } = this.judging;
    if (!right && this.failed + 1 < tries) return { state: "again", said: this.say("again"), why: slip || hint };
    const state = right ? "right" : "wrong";
    return { state, said: this.say(state), why: [right ? "" : slip, why].filter(Boolean).join(between) };
  }

  /**
   * @param {string} name
   * @param {Record<string, string | number>} [values]
   */
  say(name, values = {}) {
    const all = { answer: this.judging.text, ...values };
    return this.judging.said[name].replace(/\{(\w+)\}/g, (place, key) => String(all[/** @type {"answer"} */ (key)] ?? place));
  }
}
