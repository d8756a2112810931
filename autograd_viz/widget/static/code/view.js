// The user's code, left of the picture: what just ran and what is next on its lines, values and gradients at their ends.

import { CodeIndex, Moment } from "./moments.js";
import { CodeSheet, callStack, codeRow, textTabs } from "./rows.js";
import { button, html } from "../shared/elements.js";
import { breakpointsOf } from "../pass/stops.js";
import { messageAt, patch } from "../shared/tree.js";

/** @typedef {import("./moments.js").Code} Code */
/** @typedef {import("./moments.js").Run} Run */
/** @typedef {import("./rows.js").Lit} Lit */
/** @typedef {import("../pass/forward.js").Position} Position */
/** @typedef {import("../pass/history.js").Frame} Frame */
/** @typedef {import("../pass/stops.js").Stop} Stop */
/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {{ frames: Frame[], step: number, stops: Stop[] }} Now */
/**
 * @typedef {object} CodeContext
 * @property {Partial<Code> | undefined} code
 * @property {Position[]} forward
 * @property {Say} say
 * @property {(ids: string[]) => void} select the first of these that is drawn
 * @property {(stops: Stop[]) => void} change
 * @property {() => void} folded it was opened or closed
 * @property {AbortSignal} signal
 */

const WIDE_ENOUGH = 900; // px of the widget, from which on it is open
const NARROW_CODE = 720; // px, below which it stands over the picture
const HEAD_LINES = 2; // as high as the call stack, or the names of the texts
/** @type {Code} */
const NO_CODE = { texts: [], places: [], runs: [], modules: {}, next: "" };

export class CodeView {
  /** @param {CodeContext} context */
  constructor({ code, forward, say, select, change, folded, signal }) {
    this.context = { forward, say, select, change, folded };
    /** @type {boolean | undefined} what a person has chosen */
    this.chosen = undefined;
    this.room = ""; // for which it is placed
    this.isLine = false; // is only the line of the step seen?
    this.root = html("section", "av-listing");
    this.both = html("div", "av-with-code");
    this.hasRules = false; // do the rules of a step stand below it?
    this.root.setAttribute("aria-label", say("code"));
    this.opener = button("code", say("code_tip"), () => this.toggle(), signal);
    this.root.hidden = true;
    this.opener.hidden = !code?.texts;
    this.index = new CodeIndex({ ...NO_CODE, ...code });
    this.sheets = this.index.code.texts.map((text) => new CodeSheet(text));
    const heads = this.sheets.length > 1 || Object.keys(this.index.code.modules).length ? HEAD_LINES : 0;
    this.root.style.setProperty("--av-lines", String(heads + Math.max(0, ...this.sheets.map(({ numbers }) => numbers.length))));
    this.head = html("div", "av-c-head");
    this.list = html("ol", "av-c-lines");
    this.list.setAttribute("aria-label", say("code_lines"));
    this.root.append(this.head, this.list);
    this.moment = new Moment(this.index, [], 0, forward);
    /** @type {Now} */
    this.now = { frames: [], step: NaN, stops: [] };
    this.text = 0; // the text that is shown, unless the pointer is at another's
    this.line = 0; // the line that the keys are at
    /** @type {import("./moments.js").Call[]} the modules that are being called */
    this.calls = [];
    /** @type {Run[]} what the pointer is at in the picture */
    this.pointed = [];
    this.root.addEventListener("click", (event) => this.pressed(messageAt(/** @type {Element} */ (event.target))), { signal });
    this.list.addEventListener("keydown", (event) => this.walk(event), { signal });
  }

  /**
   * With the code at its left.
   * @param {HTMLElement} body
   */
  around(body) {
    this.both.append(this.root, body);
    return this.both;
  }

  /**
   * The rules of a step stand below the code, or where it would stand.
   * @param {HTMLElement | null} rules null: they stand elsewhere
   */
  keep(rules) {
    this.hasRules = rules !== null;
    this.both.classList.toggle("av-rules-beside", this.hasRules);
    if (rules && rules.parentElement !== this.both) this.root.after(rules);
  }

  // -- open and closed --------------------------------------------------------------------------------------------------

  get hasCode() {
    return !this.opener.hidden;
  }

  get isOpen() {
    return !this.root.hidden;
  }

  toggle() {
    this.open(!this.isOpen || this.isLine);
    this.context.folded();
  }

  /** @param {boolean} isOpen as a person wants it */
  open(isOpen) {
    this.chosen = isOpen;
    this.fold(isOpen);
  }

  /** @param {boolean} isOpen */
  fold(isOpen) {
    this.root.hidden = !isOpen || this.opener.hidden;
    this.opener.setAttribute("aria-expanded", String(this.isOpen));
    if (this.isOpen) this.draw(true);
  }

  /**
   * The widget has another size. The code stands where the picture fits best. Where a picture is whole only without it, it is the
   * line of the step, over the picture; where a map reaches from side to side only without it, it is closed. No step moves it.
   * @param {number} width of the widget
   * @param {number} seen px of the page that a person sees at once
   * @param {(how: "large" | "whole" | "wide") => boolean} fits does the picture, now?
   * @param {boolean} [isTight] is it whole only with small letters?
   */
  resized(width, seen, fits, isTight = false) {
    const room = `${width} ${seen} ${this.chosen} ${this.hasRules} ${isTight}`;
    if (room === this.room) return;
    this.room = room;
    this.settle(width, fits, isTight);
    if (this.isOpen) this.follow();
  }

  /**
   * Choose its place.
   * @param {number} width
   * @param {(how: "large" | "whole" | "wide") => boolean} fits
   * @param {boolean} isTight
   */
  settle(width, fits, isTight) {
    const [isOpen, isWide] = [this.chosen ?? width >= WIDE_ENOUGH, width >= NARROW_CODE];
    this.place(!isOpen ? "closed" : isWide ? "beside" : "above");
    if (!this.isOpen || !isWide) return;
    if (this.hasRules) return fits("whole") ? undefined : this.place("slim");
    if (this.chosen === undefined) this.place("line");
    if (this.chosen === undefined && isTight) return;
    const isWhole = fits("whole");
    for (const how of /** @type {const} */ (["large", "whole", "wide"])) {
      for (const place of /** @type {const} */ (["beside", "slim", "above"])) {
        this.place(place);
        if (fits(how)) return;
      }
    }
    if (this.chosen) return this.place("beside");
    this.place("closed");
    if (!isWhole && fits("whole")) return;
    if (!fits("wide")) this.place(isWhole ? "line" : "beside");
  }

  /** @param {"beside" | "slim" | "above" | "line" | "closed"} place */
  place(place) {
    if ((place !== "closed") !== this.isOpen) this.fold(place !== "closed");
    for (const name of ["slim", "above", "line"]) this.root.parentElement?.classList.toggle(`av-code-${name}`, name === place);
    this.isLine = place === "line";
  }

  // -- what is shown ----------------------------------------------------------------------------------------------------

  /** @param {Now} now */
  show({ frames, step, stops }) {
    const now = { frames, step, stops };
    const hasMoved = now.step !== this.now.step || now.frames.length !== this.now.frames.length;
    this.now = now;
    if (hasMoved) {
      this.moment = new Moment(this.index, now.frames, now.step, this.context.forward);
      const run = this.moment.ran ?? this.moment.next;
      if (run) this.text = this.index.placeOf(run)[0];
      this.calls = run ? this.index.callsAround(run) : [];
    }
    this.draw(hasMoved);
  }

  /**
   * Light the expression of what is pointed at in the picture.
   * @param {string} id
   */
  point(id) {
    if (!this.isOpen) return;
    this.pointed = this.index.runsOf(id);
    this.draw(false);
    if (this.pointed.length === 1) this.reveal([this.index.placeOf(this.pointed[0])[1]]);
  }

  /** The text that is shown now. */
  get shown() {
    return this.pointed.length === 1 ? this.index.placeOf(this.pointed[0])[0] : this.text;
  }

  /** @param {boolean} follow bring the lines of the step into sight */
  draw(follow) {
    if (!this.isOpen) return;
    this.drawHead();
    this.drawLines();
    if (follow) this.follow();
  }

  /** Bring the lines of the step into sight. */
  follow() {
    const { moment, index } = this;
    const lines = [moment.next, moment.ran].flatMap((run) =>
      run && index.placeOf(run)[0] === this.shown ? [index.placeOf(run)[1]] : [],
    );
    this.reveal(lines);
  }

  drawHead() {
    const { index, shown: text, calls } = this;
    const { texts } = index.code;
    const { say } = this.context;
    const head = calls.length ? callStack(calls, texts, text, say) : textTabs(texts, text, say);
    patch(this.head, head ? [head] : []);
  }

  drawLines() {
    const { index, moment, shown: text } = this;
    const [sheet, lines, lit] = [this.sheets[text], index.lines[text], this.lit()];
    if (!lines.has(this.line)) this.line = Math.min(...lines.keys());
    const stops = new Set(breakpointsOf(this.now.stops));
    const rows = sheet.numbers.map((line, i) => {
      const nodes = index.nodesOf(text, line);
      const stop = stops.size > 0 && nodes.some((node) => stops.has(node));
      const [said, hasRuns] = [moment.at(text, line), lines.has(line)];
      const row = { said, hasRuns, canStop: nodes.length > 0, stop, reachable: line === this.line, lit };
      return codeRow(sheet, i, row, this.context.say);
    });
    patch(this.list, rows);
  }

  /** @returns {Lit[]} */
  lit() {
    const { ran, next } = this.moment;
    const lit = (/** @type {string} */ name, /** @type {Run[]} */ runs) =>
      runs.map((run) => ({ name, place: this.index.placeOf(run) }));
    const calls = this.calls.flatMap(({ place }) => (place ? [{ name: "av-c-lit-call", place }] : []));
    const steps = [...lit("av-c-lit-ran", ran ? [ran] : []), ...lit("av-c-lit-next", next ? [next] : [])];
    return [...calls, ...steps, ...lit("av-c-pointed", this.pointed)].filter(({ place }) => place[0] === this.shown);
  }

  /**
   * Scroll so that lines are in sight, the last above all; never what is around the view.
   * @param {number[]} lines
   */
  reveal(lines) {
    const { list } = this;
    for (const line of lines) {
      const row = /** @type {HTMLElement | undefined} */ (list.children[this.sheets[this.shown].numbers.indexOf(line)]);
      if (!row) continue;
      const around = this.isLine ? 0 : row.offsetHeight;
      const [top, bottom] = [row.offsetTop - around, row.offsetTop + row.offsetHeight + around];
      if (top < list.scrollTop) list.scrollTop = top;
      else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    }
  }

  // -- what a person does -----------------------------------------------------------------------------------------------

  /** @param {import("../shared/tree.js").Message | undefined} message */
  pressed(message) {
    if (!message) return;
    const { kind, line } = message;
    if (kind === "text") this.text = message.text;
    this.line = line || this.line;
    if (kind === "stop") this.stop(line);
    if (kind === "line") this.select(line);
    this.draw(false);
    if (kind === "text" && line) this.reveal([line]);
  }

  /**
   * Set breakpoints at all nodes of a line, or take them away.
   * @param {number} line
   */
  stop(line) {
    const { stops } = this.now;
    const nodes = this.index.nodesOf(this.text, line);
    const has = breakpointsOf(stops).some((node) => nodes.includes(node));
    const others = stops.filter(({ kind, node }) => kind !== "node" || !nodes.includes(node ?? ""));
    this.context.change(has ? others : [...others, ...nodes.map((node) => ({ kind: "node", node }))]);
  }

  /** @param {number} line */
  select(line) {
    const run = this.moment.at(this.text, line)?.run ?? this.index.lines[this.text].get(line)?.at(-1);
    if (!run) return;
    const { op, node, tensor, box } = run;
    this.context.select(this.moment.isForward ? [op, tensor, node, box] : [node, op, tensor, box]);
  }

  /**
   * Up and down among the lines that do something; Enter and Space press the code of one.
   * @param {KeyboardEvent} event
   */
  walk(event) {
    const target = /** @type {Element} */ (event.target);
    const isCode = target.matches(".av-c-code");
    if (isCode && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      this.pressed(messageAt(target));
    }
    const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!way || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const { numbers } = this.sheets[this.text];
    const lines = numbers.filter((line) => this.index.lines[this.text].has(line));
    const here = numbers[[...this.list.children].indexOf(/** @type {Element} */ (target.closest("li")))];
    const at = lines.indexOf(here) + way;
    if (at < 0 || at >= lines.length) return;
    this.line = lines[at];
    this.draw(false);
    this.reveal([this.line]);
    const row = this.list.children[numbers.indexOf(this.line)];
    const part = /** @type {HTMLElement | null | undefined} */ (row?.querySelector(isCode ? ".av-c-code" : ".av-c-number"));
    part?.focus({ preventScroll: true });
  }

  /** What is drawn for a node: itself, its group or its card. @param {string} node */
  boxOf(node) {
    return this.index.byId.get(node)?.box || node;
  }

  /** What a node that is not drawn is called: its line. @param {string} node */
  titleOf(node) {
    const run = this.index.byId.get(node);
    return run ? this.context.say("source_line", { line: this.index.placeOf(run)[1] }) : "";
  }
}
