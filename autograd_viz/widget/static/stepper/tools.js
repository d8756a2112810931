// The toolbar of a view, with the windows that its buttons open.

import { button } from "../shared/elements.js";
import { Controls } from "../toolbar/controls.js";
import { helpPopup } from "../toolbar/help.js";
import { Scales } from "../toolbar/scales.js";
import { Search } from "../toolbar/search.js";
import { StopsMenu } from "../toolbar/stops_menu.js";
import { viewBar } from "../toolbar/view_bar.js";
import { uncover } from "./commands.js";
import { pressed } from "./key_actions.js";
import { Present } from "./present.js";

/** @typedef {import("./view.js").View} View */

let views = 0; // tells the ids of several widgets apart

export class Tools {
  /**
   * @param {View} view its stage, code and playback are there
   * @param {any} picture
   * @param {AbortSignal} signal
   */
  constructor(view, picture, signal) {
    const { say, stage, groups, playback, root } = view;
    const goto = (/** @type {number} */ step) => view.do({ kind: "goto", step });
    this.controls = new Controls({
      first: playback.first,
      total: picture.total,
      say,
      signal,
      act: (a) => playback.act(a),
      goto,
    });
    const steps = { act: view.act, next: () => view.nextBox() };
    this.scales = new Scales({ cards: stage.cards, groups, hasMap: Boolean(picture.has_map), say, ...steps, signal });
    const title = (/** @type {string} */ id) =>
      stage.graph.nodes.has(id) ? stage.graph.label(id) : view.code.titleOf(id) || id;
    this.stops = new StopsMenu({ say, title, change: (stops) => view.set("shown_stops", stops), signal });
    this.help = helpPopup(say, signal);
    const isHidden = (/** @type {string} */ id) => !picture.map && groups.hidden.some(([known]) => known === id);
    const jump = (/** @type {string} */ id) => (isHidden(id) ? uncover(view, id) : view.select(id, true));
    const leave = () => root.focus({ preventScroll: true });
    this.search = new Search({ graph: stage.graph, say, signal, name: `av-${++views}`, hidden: groups.hidden, jump, leave });
    this.bar = viewBar((action) => pressed(view, action), view.details.names.length > 1, say, signal);
    this.present = new Present(root, this.bar.present, (on) => view.presented(on), signal);
    this.panel = button("panel", say("panel"), () => view.side.toggle(), signal);
    this.panel.setAttribute("aria-expanded", "true");
    const { scales, search, bar, stops, panel, help } = this;
    this.controls.root.append(scales.root, search.root, bar.root, stops.opener, view.code.opener, panel, help.opener);
  }

  /** What stands above the sentence. */
  get roots() {
    return [this.controls.root, this.stops.popup.root, this.help.root];
  }
}
