// What each key does to a view.

import { openBox, toggleGroup } from "./commands.js";

/** @typedef {import("../toolbar/controls.js").Action} Action */
/** @typedef {import("../figure/neighbours.js").Direction} Direction */
/** @typedef {import("./view.js").View} View */

const DIRECTIONS = ["left", "right", "up", "down"];
const WALKS = ["reset", "back", "next", "finish", "play", "run"];

/**
 * @param {View} view
 * @param {string} action by its name in keys.js
 */
export function pressed(view, action) {
  const { stage, playback, tools } = view;
  const { help, stops, present } = tools;
  const here = view.selection || stage.lit;
  if (present.blanks(action === "blank")) return;
  if (present.isOn) stage.hover.rest();
  if (WALKS.includes(action)) playback.act(/** @type {Action} */ (action));
  else if (DIRECTIONS.includes(action)) view.select(stage.neighbour(view.selection, /** @type {Direction} */ (action)), true);
  else if (action === "open") openBox(view, view.selection);
  else if (action === "group") toggleGroup(view);
  else if (["step_over", "step_into", "step_out", "map"].includes(action)) tools.scales.act(action);
  else if (action === "breakpoint") view.do({ kind: "breakpoint", node: here });
  else if (action === "search") tools.search.enter();
  else if (action === "panel") view.side.toggle();
  else if (action === "code") view.code.toggle();
  else if (action === "help") help.toggle();
  else if (action === "present") present.toggle();
  else if (action === "detail") view.turnDetail();
  else if (action === "close") help.close() || stops.popup.close() || present.leave() || view.select("");
  else stage.act(action);
}
