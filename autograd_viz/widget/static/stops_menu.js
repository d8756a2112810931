// Where a run stops, as a menu.

import { button, checkbox, html } from "./elements.js";
import { Popup } from "./popup.js";
import { toggled, wholeStops } from "./stops.js";

/** @typedef {import("./stops.js").Stops} Stops */
/** @typedef {import("./words.js").Say} Say */

export class StopsMenu {
  /**
   * @param {{ say: Say, title: (node: string) => string, change: (stops: Stops) => void, signal: AbortSignal }} context
   */
  constructor({ say, title, change, signal }) {
    this.say = say;
    this.title = title;
    this.change = change;
    this.signal = signal;
    this.stops = wholeStops({});
    this.opener = button("stops", say("stops_tip"), () => {}, signal);
    this.badge = html("span", "av-badge");
    this.opener.append(this.badge);
    this.popup = new Popup(this.opener, say("stops"), signal);
    this.nan = checkbox(say("stop_nan"), (nan) => change({ ...this.stops, nan }), signal);
    this.zero = checkbox(say("stop_zero"), (zero) => change({ ...this.stops, zero }), signal);
    this.condition = html("p", "av-condition");
    this.nodes = html("div", "av-breakpoints");
    this.clear = button("clear", say("clear_stops"), () => change(wholeStops({})), signal);
    this.clear.textContent = say("clear_stops");
    this.popup.root.append(html("strong", "", say("stops")), this.nan.label, this.zero.label, this.condition, this.nodes, this.clear);
    this.shown = "";
  }

  /** @param {Stops} stops */
  show(stops) {
    const key = JSON.stringify(stops);
    if (key === this.shown) return;
    this.shown = key;
    this.stops = stops;
    this.nan.box.checked = stops.nan;
    this.zero.box.checked = stops.zero;
    this.condition.textContent = stops.condition ? `${this.say("stop_condition")}: ${stops.condition}` : "";
    this.nodes.replaceChildren(...stops.nodes.map((node) => this.breakpoint(node)));
    const count = stops.nodes.length + Number(stops.nan) + Number(stops.zero) + Number(Boolean(stops.condition));
    this.badge.textContent = count ? String(count) : "";
  }

  /** @param {string} node */
  breakpoint(node) {
    const row = checkbox(this.say("breakpoint_set", { node: this.title(node) }), () => this.change(toggled(this.stops, node)), this.signal);
    row.box.checked = true;
    return row.label;
  }
}
