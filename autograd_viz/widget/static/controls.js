// The toolbar: buttons, slider, play with a speed.

import { svgElement } from "./draw.js";

/** @typedef {"reset" | "back" | "next" | "finish" | "play"} Action */

/** @type {Record<string, string>} icons as path data in a 16 x 16 square */
const ICONS = {
  reset: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11 3v10L4 8z",
  next: "M5 3v10l7-5z",
  finish: "M11 3h2v10h-2zM3 3v10l7-5z",
  play: "M3 3v10l5-5zM8 3v10l5-5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
};
/** @type {[Action, string][]} */
const BUTTONS = [
  ["reset", "Reset: to the start (Home)"],
  ["back", "Back: take one step back (←)"],
  ["next", "Next: call the next grad_fn (→)"],
  ["finish", "Finish: to the end (End)"],
  ["play", "Play or pause (Space)"],
];
const SPEEDS = [0.5, 1, 2, 4]; // steps a second

/** @param {string} name */
function icon(name) {
  const drawing = svgElement("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
  drawing.append(svgElement("path", { d: ICONS[name], fill: "currentColor" }));
  return drawing;
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} className
 * @param {string} [text]
 */
export function html(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

export class Controls {
  /**
   * @param {number} total
   * @param {(action: Action) => void} act
   * @param {(step: number) => void} goto
   * @param {AbortSignal} signal
   */
  constructor(total, act, goto, signal) {
    this.total = total;
    this.root = html("div", "av-toolbar");
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", "Step the backward pass");
    /** @type {Map<Action, HTMLButtonElement>} */
    this.buttons = new Map();
    for (const [action, label] of BUTTONS) {
      const button = html("button", `av-button av-${action}`);
      button.type = "button";
      button.title = label;
      button.setAttribute("aria-label", label);
      button.append(icon(action));
      button.addEventListener("click", () => button.ariaDisabled !== "true" && act(action), { signal });
      this.buttons.set(action, button);
      this.root.append(button);
    }
    this.slider = html("input", "av-slider");
    Object.assign(this.slider, { type: "range", min: "0", max: String(total), value: "0" });
    this.slider.setAttribute("aria-label", "Step");
    this.slider.addEventListener("input", () => goto(Number(this.slider.value)), { signal });
    this.counter = html("span", "av-counter");
    this.speed = html("select", "av-speed");
    this.speed.setAttribute("aria-label", "Speed of play, steps a second");
    for (const speed of SPEEDS) this.speed.append(new Option(`${speed}/s`, String(speed), speed === 1, speed === 1));
    this.root.append(this.slider, this.counter, this.speed);
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
    this.slider.value = String(step);
    this.counter.textContent = `${step} / ${this.total}`;
    // aria-disabled and not disabled: a disabled button would drop the focus
    for (const action of /** @type {Action[]} */ (["reset", "back"])) this.disable(action, step === 0);
    for (const action of /** @type {Action[]} */ (["next", "finish", "play"])) this.disable(action, atEnd);
    this.buttons.get("play")?.replaceChildren(icon(playing ? "pause" : "play"));
    this.buttons.get("play")?.setAttribute("aria-pressed", String(playing));
  }

  /**
   * @param {Action} action
   * @param {boolean} disabled
   */
  disable(action, disabled) {
    const button = this.buttons.get(action);
    if (button) button.ariaDisabled = String(disabled);
  }
}
