// What is said above the picture: the step's sentence and formulas, why a run stopped, that groups stay closed, what has changed outside, errors.

import { html } from "../shared/elements.js";
import { FormulaView } from "./formula_view.js";

/** @typedef {import("../shared/words.js").Say} Say */

export class Said {
  /**
   * @param {Say} say
   * @param {import("../pass/program.js").Doc} doc
   * @param {AbortSignal} signal
   */
  constructor(say, doc, signal) {
    this.root = html("div", "av-said");
    this.sentence = region("av-sentence", "status");
    this.sentence.setAttribute("aria-label", say("aria_sentence"));
    this.stopped = region("av-stopped", "status");
    this.did = region("av-did", "status"); // what a card did
    this.formulas = new FormulaView(say, doc, signal);
    this.drift = region("av-drift", "status");
    this.fixed = html("p", "av-fixed");
    this.error = region("av-error", "alert");
    this.printed = region("av-printed", "status"); // what hooks have printed while a press ran them
    this.printed.setAttribute("aria-label", say("printed"));
    this.printed.title = say("printed");
    this.chosen = region("av-unseen", "status"); // which box is selected, for those who cannot see its ring
    this.line = html("div", "av-line");
    this.line.append(this.sentence, this.stopped, this.did);
    this.root.append(this.line, this.formulas.root, this.fixed, this.drift, this.error, this.printed, this.chosen);
    this.keepRoom(true);
  }

  /**
   * Room for the longest sentence and for rules: the picture below stays where it is.
   * @param {boolean} withRules do they stand here?
   */
  keepRoom(withRules) {
    if (withRules) this.line.after(this.formulas.root);
    this.root.style.setProperty("--av-rules", String(withRules ? this.formulas.room : 0));
  }

  /**
   * @param {string} sentence
   * @param {import("../pass/history.js").Recorded[]} frames the steps so far
   */
  step(sentence, frames) {
    this.sentence.textContent = sentence;
    this.formulas.show(frames);
  }

  /**
   * Presented, what is longer than the room that is kept has smaller letters: no step takes something from the picture.
   * @param {boolean} [presented]
   */
  fit(presented) {
    this.root.classList.remove("av-tight");
    if (!presented) return;
    const kept = Number.parseFloat(getComputedStyle(this.root).minHeight) || Infinity;
    this.root.classList.toggle("av-tight", this.root.offsetHeight > kept + 1);
  }

  /** Is something said that is no step's? */
  get hasMore() {
    return Boolean(this.drift.textContent);
  }

  /** @param {boolean} quiet steps follow each other too fast to be read out */
  hush(quiet) {
    const live = quiet ? "off" : "polite";
    if (this.sentence.ariaLive !== live) this.sentence.ariaLive = live;
  }
}

/**
 * @param {string} className
 * @param {string} role
 */
function region(className, role) {
  const made = html("div", className);
  made.setAttribute("role", role);
  return made;
}

/**
 * A text that is announced only when it changes.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
