// The side of a view: the panel, and how it shares the room with the stage.

import { Inspector } from "../panel/inspector.js";
import { meanwhileOf } from "../panel/meanwhile.js";
import { Reasons } from "../pass/reasons.js";
import { breakpointsOf } from "../pass/stops.js";
import { onPage } from "../shared/motion.js";
import { afterPaint } from "../shared/paint.js";
import { Split } from "./split.js";

/** @typedef {import("./view.js").View} View */

export class Side {
  /**
   * @param {View} view its stage is there
   * @param {any} picture
   * @param {AbortSignal} signal
   */
  constructor(view, { words = {}, document = { tensors: [] }, why }, signal) {
    const { stage, groups, act } = view;
    this.view = view;
    this.reasons = new Reasons(why);
    this.inspector = new Inspector({ words, document, groups, cards: stage.cards, act, signal });
    const resized = () => view.resized();
    this.split = new Split(stage.root, stage.map.root, this.inspector.root, view.say("panel"), resized, signal);
    if (stage.cards) this.split.close(); // a map is read from side to side; until somebody asks
    this.isDue = false;
  }

  toggle() {
    this.split.toggle();
    this.show();
  }

  /** The panel follows the picture: it is read later, and costs as much. */
  showSoon() {
    const { view } = this;
    if (this.isDue) return;
    this.isDue = true;
    afterPaint(() => {
      this.isDue = false;
      if (view.abort.signal.aborted) return;
      this.show();
      if (view.hasStepped && view.root.matches(":focus-within")) onPage(view.stage.root);
      view.hasStepped = false;
    });
  }

  show() {
    if (!this.split.isOpen) return;
    const { model, playback, given, stage, selection } = this.view;
    const { step, frames } = playback;
    const { ran, ready = given.ready } = frames[step - 1] ?? {};
    this.inspector.show({
      ...{ step, frames, startEngine: given.engine, total: given.total, ran, ready },
      selection: selection || model.get("error_node"), // where a run broke off
      why: this.reasons.after(stage.picture.shown),
      complete: model.get("complete"),
      stops: breakpointsOf(playback.stops),
      pins: model.get("pins"),
      effect: model.get("effect"),
      pending: model.get("pending"),
      meanwhile: meanwhileOf(model),
    });
  }
}
