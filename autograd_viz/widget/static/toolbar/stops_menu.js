// Where a run stops, as a menu: what to stop at, and the list of all stops.

import { button, checkbox, html } from "../shared/elements.js";
import { Popup } from "../shared/popup.js";
import { toggled, withStop, without } from "../pass/stops.js";

/** @typedef {import("../pass/stops.js").Stop} Stop */
/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {{ box: HTMLInputElement, number?: HTMLInputElement }} Choice */

/** @type {[kind: string, start: string][]} kinds without a node; what has a number starts with this one */
const CHOICES = [
  ["nan", ""],
  ["zero", ""],
  ["sign", ""],
  ["above", "10"],
  ["below", "0.001"],
];

export class StopsMenu {
  /**
   * @param {{ say: Say, title: (node: string) => string, change: (stops: Stop[]) => void, signal: AbortSignal }} context
   */
  constructor({ say, title, change, signal }) {
    this.say = say;
    this.title = title;
    this.change = change;
    this.signal = signal;
    /** @type {Stop[]} */
    this.stops = [];
    /** @type {Stop | null} the end of the selected gradient */
    this.end = null;
    /** @type {HTMLInputElement | undefined} ticked if a run stops at it */
    this.whole = undefined;
    this.drawn = false;
    this.opener = button("stops", say("stops_tip"), () => {}, signal);
    this.badge = html("span", "av-badge");
    this.opener.append(this.badge);
    this.popup = new Popup(this.opener, say("stops"), signal);
    /** @type {Map<string, Choice>} */
    this.choices = new Map();
    const lines = CHOICES.map(([kind, start]) => this.choice(kind, start));
    this.selected = html("div", "av-stop-selected");
    this.list = html("ul", "av-stop-list");
    this.clear = button("clear", say("clear_stops"), () => change([]), signal);
    this.clear.textContent = say("clear_stops");
    this.popup.root.append(html("strong", "", say("stops")), ...lines, this.selected, this.list, this.clear);
    this.shown = "";
    this.select(null);
  }

  /**
   * A kind of stop to tick, perhaps with its number.
   * @param {string} kind
   * @param {string} start
   */
  choice(kind, start) {
    const [before, after = ""] = this.say(`stop_${kind}`).split("{number}");
    const set = () =>
      this.change(
        box.checked ? withStop(this.stops, { kind, number: Number(number?.value ?? 0) }) : without(this.stops, { kind }),
      );
    const { label, box } = checkbox(before, set, this.signal);
    const number = start
      ? this.numberField(this.say(`stop_${kind}`, { number: "" }), start, () => (box.checked = true) && set())
      : undefined;
    if (number) label.append(number, after);
    this.choices.set(kind, { box, number });
    return label;
  }

  /**
   * @param {string} name
   * @param {string} start
   * @param {() => void} changed
   */
  numberField(name, start, changed) {
    const field = html("input", "av-number");
    Object.assign(field, { type: "number", min: "0", step: "any", value: start });
    field.setAttribute("aria-label", name.trim());
    field.addEventListener("change", () => field.value !== "" && field.checkValidity() && changed(), { signal: this.signal });
    return field;
  }

  /** @param {Stop[]} stops */
  show(stops) {
    const key = JSON.stringify(stops);
    if (key === this.shown) return;
    this.shown = key;
    this.stops = stops;
    for (const [kind, { box, number }] of this.choices) {
      const stop = stops.find((one) => one.kind === kind);
      box.checked = Boolean(stop);
      if (number && stop) number.value = String(stop.number ?? 0);
    }
    const scope = /** @type {Document | ShadowRoot} */ (this.list.getRootNode());
    const hadFocus = this.list.contains(scope.activeElement);
    this.list.replaceChildren(...stops.map((stop) => this.row(stop)));
    if (hadFocus) this.popup.root.focus({ preventScroll: true }); // what was pressed is gone
    this.badge.textContent = stops.length ? String(stops.length) : "";
    this.tick();
  }

  /** @param {Stop} stop */
  text(stop) {
    const name = stop.kind === "node" ? this.title(stop.node ?? "") : (stop.name ?? "");
    return this.say(`stop_${stop.kind}`, { name, number: String(stop.number ?? 0) });
  }

  /**
   * One stop of the list.
   * @param {Stop} stop
   */
  row(stop) {
    const made = html("li", "", this.text(stop));
    const remove = button(
      "remove",
      this.say("remove", { name: this.text(stop) }),
      () => this.change(without(this.stops, stop)),
      this.signal,
    );
    remove.textContent = "×";
    made.append(remove);
    return made;
  }

  /** Is there a stop for the selected gradient? */
  tick() {
    if (this.whole) this.whole.checked = this.stops.some(({ kind, node }) => kind === "grad" && node === this.end?.node);
  }

  /**
   * What is selected can be stopped at too: when it gets its gradient, or when so many are sent to it.
   * @param {Stop | null} end the node where its gradient arrives, and the name of the tensor
   */
  select(end) {
    if (this.drawn && end?.node === this.end?.node) return;
    [this.end, this.drawn] = [end, true];
    this.whole = undefined;
    if (!end) return this.selected.replaceChildren(html("p", "av-stop-hint", this.say("stop_select_first")));
    const { node, name = "" } = end;
    const line = checkbox(
      this.say("stop_grad", { name }),
      () => this.change(toggled(this.stops, { kind: "grad", node, name })),
      this.signal,
    );
    this.whole = line.box;
    this.tick();
    const [before, after = ""] = this.say("stop_arrival", { name }).split("{number}");
    const number = this.numberField(this.say("stop_arrival", { name, number: "" }), "1", () => {});
    Object.assign(number, { min: "1", step: "1" });
    const add = button(
      "add_stop",
      this.say("add_stop"),
      () => {
        if (number.checkValidity())
          this.change(withStop(this.stops, { kind: "arrival", node, name, number: Number(number.value) }));
      },
      this.signal,
    );
    add.textContent = this.say("add_stop");
    const row = html("div", "av-check");
    row.append(before, number, after, " ", add);
    this.selected.replaceChildren(html("p", "av-stop-hint", this.say("stop_of_selected")), line.label, row);
  }
}
