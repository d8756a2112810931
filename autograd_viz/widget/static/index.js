// The widget's view: a toolbar, a sentence, the picture. What is recorded is replayed here; only the frontier asks Python.

import { Controls, html } from "./controls.js";
import { listenToKeys } from "./keys.js";
import { Picture } from "./picture.js";
import { hideStill } from "./still.js";
import { followTheme } from "./theme.js";

/** @typedef {import("./controls.js").Action} Action */
/** @typedef {import("./picture.js").Frame} Frame */
/**
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(content: any) => void} send
 * @property {(event: string, callback: (content: any) => void) => void} on
 * @property {(event: string, callback: (content: any) => void) => void} off
 */

const SMALLEST = 0.6; // scale at which the rows can still be read
const SILENCE_MS = 4000; // after which an unanswered step says that the kernel is gone

class View {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.abort = new AbortController();
    const signal = this.abort.signal;
    const { svg, palettes, start, total, mark } = model.get("picture");
    this.start = start;
    this.total = total;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.silence = undefined;
    /** @type {number | undefined} a step that the kernel has been asked for */
    this.wanted = undefined;
    this.playing = false;
    this.picture = new Picture(svg);
    this.controls = new Controls(total, (action) => this.act(action), (step) => this.goto(step), signal);
    this.sentence = html("div", "av-sentence");
    this.sentence.setAttribute("role", "status");
    this.formulas = html("div", "av-formulas");
    this.error = html("div", "av-error");
    this.error.setAttribute("role", "alert");
    this.stage = html("div", "av-stage");
    this.stage.append(this.picture.svg);
    this.root = html("div", "av-root");
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", "Backward pass stepper");
    this.root.append(this.controls.root, this.sentence, this.formulas, this.error, this.stage);
    el.append(this.root);
    followTheme(this.root, palettes, signal);
    hideStill(mark, signal);
    listenToKeys(this.root, (action) => this.act(action), signal);
    this.fit();
    const resized = new ResizeObserver(() => {
      this.fit();
      this.follow();
    });
    resized.observe(el);
    signal.addEventListener("abort", () => resized.disconnect());
    this.listen(signal);
    this.update();
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const message = (/** @type {any} */ content) => content?.kind === "done" && this.answered();
    const update = () => this.update();
    const events = ["change:step", "change:complete", "change:error", "change:frames"];
    this.model.on("msg:custom", message);
    for (const event of events) this.model.on(event, update);
    signal.addEventListener("abort", () => {
      this.model.off("msg:custom", message);
      for (const event of events) this.model.off(event, update);
      this.stop();
      clearTimeout(this.silence);
    });
  }

  /** @returns {Frame[]} */
  get frames() {
    return this.model.get("frames");
  }

  get step() {
    return Math.min(this.model.get("step"), this.frames.length);
  }

  get atEnd() {
    return this.model.get("complete") && this.step === this.frames.length;
  }

  /** @param {Action} action */
  act(action) {
    if (action === "play") return this.playing ? this.stop() : this.play();
    this.stop();
    const here = this.wanted ?? this.step; // a second press counts even if the kernel has not answered the first
    this.goto({ reset: 0, back: here - 1, next: here + 1, finish: this.total }[action]);
  }

  /** @param {number} step */
  goto(step) {
    const target = Math.max(0, Math.min(step, this.total));
    if (target <= this.frames.length) {
      this.wanted = undefined;
      this.model.set("step", target);
      this.model.save_changes();
      this.update();
    } else if (!this.model.get("complete")) {
      this.wanted = target;
      if (this.step < this.frames.length) this.model.set("step", this.frames.length); // what is recorded needs no kernel
      clearTimeout(this.silence);
      this.silence = setTimeout(() => {
        this.wanted = undefined;
        this.say("The kernel does not answer. The recorded steps can still be replayed.");
      }, SILENCE_MS);
      try {
        this.model.send({ kind: "goto", step: target });
      } catch {
        // no connection: the timer says so
      }
    }
  }

  /** The kernel has done what was asked, or has said why not. */
  answered() {
    clearTimeout(this.silence);
    if (this.wanted !== undefined && (this.step >= this.wanted || this.atEnd || this.model.get("error"))) this.wanted = undefined;
    this.update();
  }

  play() {
    this.playing = true;
    const tick = () => {
      if (this.atEnd || this.model.get("error")) return this.stop();
      this.goto(this.step + 1);
      this.timer = setTimeout(tick, this.controls.pause());
    };
    tick();
    this.update();
  }

  stop() {
    clearTimeout(this.timer);
    this.playing = false;
    this.update();
  }

  update() {
    const step = this.step;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (step !== this.picture.step) {
      this.picture.goto(this.frames, step, !calm);
      this.follow();
    }
    if (this.atEnd) this.playing = false;
    this.controls.show(step, this.atEnd, this.playing);
    this.sentence.textContent = step ? this.frames[step - 1].sentence : this.start;
    const formulas = step ? this.frames[step - 1].formulas : [];
    this.formulas.replaceChildren(...formulas.map(([input, text]) => html("code", "av-formula", `grad_${input} = ${text}`)));
    this.say(this.model.get("error"));
  }

  /** @param {string} text */
  say(text) {
    if (this.error.textContent !== text) this.error.textContent = text;
  }

  /** Scroll the stage, and nothing else, so that the lit node is seen. */
  follow() {
    const lit = this.picture.lit();
    if (!lit) return;
    const box = lit.getBoundingClientRect();
    const frame = this.stage.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom) {
      this.stage.scrollTop += box.top - frame.top - (frame.height - box.height) / 2;
    }
    if (box.left < frame.left || box.right > frame.right) {
      this.stage.scrollLeft += box.left - frame.left - (frame.width - box.width) / 2;
    }
  }

  /** Fill the width, never larger than drawn and never too small to read (then it scrolls). A size in px: a relative one would lay out all text at every change. */
  fit() {
    const { width, height, svg } = this.picture;
    const scale = Math.min(1, Math.max(SMALLEST, (this.stage.clientWidth || width) / width));
    svg.setAttribute("width", String(Math.floor(width * scale)));
    svg.setAttribute("height", String(Math.floor(height * scale)));
  }
}

/**
 * Once for each model: keep the frames that arrive, whether or not a view is open.
 * @param {{ model: Model }} context
 */
function initialize({ model }) {
  model.on("msg:custom", (content) => {
    if (content?.kind !== "frame") return;
    const frames = [...model.get("frames")];
    frames[content.index] = content.frame;
    model.set("frames", frames); // kept here only: Python has it already
  });
}

/** @param {{ model: Model, el: HTMLElement }} context */
function render({ model, el }) {
  const view = new View(model, el);
  return () => {
    view.abort.abort();
    el.replaceChildren(); // ipywidgets keeps detached views alive
  };
}

export default { initialize, render };
