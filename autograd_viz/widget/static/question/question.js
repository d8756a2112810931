// A question: the reader answers, the model judges, the view says what it said. The model is the kernel, or question_model.js.

import { endOf, html } from "../shared/elements.js";
import { fieldOf } from "./fields.js";
import { marked } from "./text.js";
import { suppressShortcuts } from "../shared/shortcuts.js";
import { hideStill } from "../shared/still.js";
import { followTheme } from "../shared/theme.js";
import { sayer } from "../shared/words.js";

/** @typedef {{ text: string, role: string }} Option */
/**
 * @typedef {object} Asked
 * @property {"row" | "one" | "many" | "order"} kind
 * @property {string} text
 * @property {[name: string, row: string, role: string]} subject
 * @property {Option[]} options
 * @property {Record<string, string>} words
 * @property {Record<string, Record<string, string>>} palettes
 * @property {string} language
 * @property {string} mark
 */
/** @typedef {{ state?: string, said?: string, why?: string, count?: number }} Verdict */
/** @typedef {{ get(key: string): any, on(event: string, f: () => void): void, off(event: string, f: () => void): void, send(content: any): void }} Model */

const PATIENCE = 4000; // ms until a silent kernel is called silent
let questions = 0; // tells the radio buttons of several questions apart

class QuestionView {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   */
  constructor(model, el) {
    this.model = model;
    this.abort = new AbortController();
    const signal = this.abort.signal;
    /** @type {Asked} */
    const asked = model.get("asked");
    this.say = sayer(asked.words);
    this.root = html("div", "av-q-root");
    this.root.lang = asked.language;
    suppressShortcuts(this.root, signal);
    const title = html("legend", "av-q-legend");
    title.append(html("span", "av-q-title", this.say("title")), " ", ...marked(asked.text));
    const set = html("fieldset", "av-q-set");
    this.field = fieldOf(asked, `av-q-${++questions}`, this.say, signal);
    this.said = html("div", "av-q-said");
    this.said.setAttribute("role", "status");
    set.append(title, this.field.root, this.buttons(signal), this.said);
    this.root.append(set);
    el.append(this.root);
    followTheme(this.root, asked.palettes, signal, () => {});
    if (asked.mark) hideStill(asked.mark, this.root, true, signal);
    this.listen(signal);
    this.show();
  }

  /** @param {AbortSignal} signal */
  buttons(signal) {
    const row = html("div", "av-q-buttons");
    const check = html("button", "av-q-button av-q-check", this.say("check"));
    check.type = "button"; // a frame may not submit
    check.addEventListener("click", () => this.answer(), { signal });
    const give = html("button", "av-q-button av-q-show", this.say("show"));
    give.type = "button";
    give.addEventListener("click", () => this.send({ kind: "show" }), { signal });
    row.append(check, give);
    return row;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const heard = () => this.show();
    this.model.on("change:verdict", heard);
    signal.addEventListener("abort", () => {
      this.model.off("change:verdict", heard);
      clearTimeout(this.waiting);
    });
    this.root.addEventListener(
      "keydown",
      (event) => {
        const target = /** @type {Element} */ (event.target);
        if (event.key === "Enter" && target.matches("input")) this.answer();
        if (event.key !== "Tab") event.stopPropagation(); // JupyterLab's
      },
      { signal },
    );
  }

  answer() {
    this.send({ kind: "answer", given: this.field.given() });
    this.field.root.querySelector("input")?.select(); // the next answer is typed over this one
  }

  /** @param {any} message */
  send(message) {
    clearTimeout(this.waiting);
    this.write("waiting", this.say("wait"), "");
    this.waiting = setTimeout(() => this.write("unread", this.say("no_kernel"), ""), PATIENCE);
    this.model.send(message);
  }

  show() {
    clearTimeout(this.waiting);
    /** @type {Verdict} */
    const { state = "", said = "", why = "", count = 0 } = this.model.get("verdict") ?? {};
    this.root.dataset.answered = String(count);
    this.write(state, said, why);
  }

  /**
   * @param {string} state
   * @param {string} said
   * @param {string} why
   */
  write(state, said, why) {
    this.root.dataset.state = state;
    const [verdict, reason] = [html("p", "av-q-verdict"), html("p", "av-q-why")];
    verdict.append(...marked(said));
    reason.append(...marked(why));
    this.said.replaceChildren(...(said ? [verdict] : []), ...(why ? [reason] : []));
  }
}

/** @param {{ model: Model, el: HTMLElement }} context */
export function renderQuestion({ model, el }) {
  return endOf(new QuestionView(model, el), el);
}

export default { render: renderQuestion };
