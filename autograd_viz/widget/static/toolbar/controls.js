// The toolbar: playback, slider, play with a speed.

import { button, html, icon } from "../shared/elements.js";

/** @typedef {"reset" | "back" | "next" | "finish" | "play" | "run"} Action */
/** @typedef {import("../shared/words.js").Say} Say */

/** @type {Action[]} */
const ACTIONS = ["reset", "back", "next", "finish", "play", "run"];
const SPEEDS = [0.5, 1, 2, 4, 10]; // steps a second

export class Controls {
  /**
   * @param {{ first: number, total: number, say: Say, act: (action: Action) => void, goto: (step: number) => void, signal: AbortSignal }} context
   */
  constructor({ first, total, say, act, goto, signal }) {
    this.first = first;
    this.total = total;
    this.say = say;
    this.root = html("div", "av-toolbar");
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", say("toolbar"));
    /** @type {Map<Action, HTMLButtonElement>} */
    this.buttons = new Map(ACTIONS.map((action) => [action, button(action, label(action, say), () => act(action), signal)]));
    this.slider = html("input", "av-slider");
    Object.assign(this.slider, { type: "range" });
    this.slider.setAttribute("aria-label", say("step"));
    this.isDragged = false;
    this.slider.addEventListener("input", () => this.drag(goto), { signal });
    for (const event of ["change", "pointerup"]) this.slider.addEventListener(event, () => this.release(), { signal });
    this.counter = html("span", "av-counter");
    const longest = first < 0 ? say("forward_counter", { step: -first, total: -first }) : `${total} / ${total}`;
    this.counter.style.minWidth = `${0.8 * longest.length}ch`; // the slider keeps its length
    this.speed = html("select", "av-speed");
    this.speed.setAttribute("aria-label", say("speed"));
    this.speed.title = say("speed");
    for (const speed of SPEEDS)
      this.speed.append(new Option(say("speed_value", { speed }), String(speed), speed === 1, speed === 1));
    this.root.append(...this.buttons.values(), this.slider, this.counter, this.speed);
    this.playing = false;
  }

  /** @param {(step: number) => void} goto */
  drag(goto) {
    this.isDragged = true;
    goto(Number(this.slider.value));
  }

  release() {
    this.isDragged = false;
    this.range(Number(this.slider.value));
  }

  /**
   * The slider goes over the pass that is shown: 0 is the left end of the backward pass, and the right end of the forward pass.
   * @param {number} step
   */
  range(step) {
    const [min, max] = step < 0 ? [this.first, 0] : [0, this.total];
    Object.assign(this.slider, { min: String(min), max: String(max), value: String(step) });
  }

  /** Milliseconds from step to step while playing. */
  pause() {
    return 1000 / Number(this.speed.value);
  }

  /**
   * @param {number} step
   * @param {boolean} atEnd
   * @param {boolean} playing
   */
  show(step, atEnd, playing) {
    const forward = { step: step - this.first, total: -this.first };
    const backward = { step, total: this.total };
    if (!this.isDragged) this.range(step);
    this.counter.textContent = step < 0 ? this.say("forward_counter", forward) : `${step} / ${this.total}`;
    this.slider.setAttribute("aria-valuetext", step < 0 ? this.counter.textContent : this.say("counter_text", backward));
    // aria-disabled and not disabled: a disabled button would drop the focus
    for (const action of /** @type {Action[]} */ (["reset", "back"])) this.disable(action, step === this.first);
    for (const action of /** @type {Action[]} */ (["next", "finish", "play", "run"])) this.disable(action, atEnd);
    if (playing !== this.playing) this.showPlaying(playing);
  }

  /** @param {boolean} playing */
  showPlaying(playing) {
    this.playing = playing;
    const play = this.buttons.get("play");
    play?.replaceChildren(icon(playing ? "pause" : "play"));
    play?.setAttribute("aria-pressed", String(playing));
    if (play) play.title = label(playing ? "pause" : "play", this.say);
  }

  /**
   * @param {Action} action
   * @param {boolean} disabled
   */
  disable(action, disabled) {
    const made = this.buttons.get(action);
    if (made && made.ariaDisabled !== String(disabled)) made.ariaDisabled = String(disabled);
  }
}

/**
 * @param {string} action
 * @param {Say} say
 */
function label(action, say) {
  const long = say(`${action}_tip`);
  return long === `${action}_tip` ? say(action) : long;
}
