// What a reader answers with: a row to fill, buttons to choose, functions to put in order. All by mouse and by keyboard.

import { html } from "../shared/elements.js";
import { marked } from "./text.js";

/** @typedef {import("./question.js").Asked} Asked */
/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {{ root: HTMLElement, given: () => string | number[] }} Field */

/**
 * @param {Asked} asked
 * @param {string} name tells this question's buttons from another's
 * @param {Say} say
 * @param {AbortSignal} signal
 * @returns {Field}
 */
export function fieldOf(asked, name, say, signal) {
  if (asked.kind === "row") return rowField(asked, say);
  if (asked.kind === "order") return orderField(asked, say, signal);
  return choiceField(asked, name);
}

/**
 * A box as in the picture, with one row to fill.
 * @param {Asked} asked
 * @param {Say} say
 * @returns {Field}
 */
function rowField({ subject: [name, row, role] }, say) {
  const root = html("div", `av-q-box av-q-${role}`);
  const label = html("label", "av-q-row");
  const input = html("input", "av-q-input");
  input.type = "text";
  input.placeholder = say("placeholder");
  input.autocomplete = "off";
  input.spellcheck = false;
  label.append(html("span", "av-q-row-name", `${row} =`), input);
  root.append(html("div", "av-q-box-title", name), label);
  return { root, given: () => input.value };
}

/**
 * Buttons to choose one, or boxes to tick.
 * @param {Asked} asked
 * @param {string} name
 * @returns {Field}
 */
function choiceField({ kind, options }, name) {
  const root = html("div", "av-q-options");
  const boxes = options.map(({ text, role }) => {
    const label = html("label", `av-q-option${role ? ` av-q-swatch av-q-${role}` : ""}`);
    const box = html("input", "");
    box.type = kind === "one" ? "radio" : "checkbox";
    box.name = name;
    const words = html("span", "");
    words.append(...marked(text));
    label.append(box, words);
    root.append(label);
    return box;
  });
  return { root, given: () => boxes.flatMap((box, i) => (box.checked ? [i] : [])) };
}

/**
 * What is chosen after a press: one that was chosen goes, and with it those after it.
 * @param {number[]} chosen
 * @param {number} pressed
 */
export function pressedOrder(chosen, pressed) {
  const at = chosen.indexOf(pressed);
  return at < 0 ? [...chosen, pressed] : chosen.slice(0, at);
}

/**
 * Buttons to press one after another; each shows its place.
 * @param {Asked} asked
 * @param {Say} say
 * @param {AbortSignal} signal
 * @returns {Field}
 */
function orderField({ options }, say, signal) {
  const root = html("div", "av-q-options");
  /** @type {number[]} */
  let chosen = [];
  const buttons = options.map(({ text, role }, i) => {
    const made = html("button", `av-q-option av-q-swatch av-q-${role}`);
    made.type = "button";
    const words = html("span", "");
    words.append(...marked(text));
    made.append(html("span", "av-q-place"), words);
    made.addEventListener("click", () => show(pressedOrder(chosen, i)), { signal });
    return made;
  });
  const clear = html("button", "av-q-button av-q-clear", say("clear"));
  clear.type = "button";
  clear.addEventListener("click", () => show([]), { signal });
  /** @param {number[]} next */
  const show = (next) => {
    chosen = next;
    buttons.forEach((made, i) => {
      const place = chosen.indexOf(i);
      made.setAttribute("aria-pressed", String(place >= 0));
      /** @type {Element} */ (made.firstChild).textContent = place < 0 ? "·" : `${place + 1}`;
    });
  };
  show([]);
  root.append(...buttons, clear);
  return { root, given: () => chosen };
}
