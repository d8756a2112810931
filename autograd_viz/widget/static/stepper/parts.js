// The parts that a view holds, each joined to what the view does.

import { CodeView } from "../code/view.js";
import { withinCards } from "../map/layout.js";
import { withinGroups } from "../pass/groups.js";
import { Stage } from "../stage/stage.js";
import { openBox } from "./commands.js";
import { Playback } from "./playback.js";

/** @typedef {import("./view.js").View} View */

/**
 * @param {View} view
 * @param {any} picture
 * @param {AbortSignal} signal
 * @returns {Stage}
 */
export function stageOf(view, { map, document = { tensors: [] }, forward = [], engine }, signal) {
  return new Stage({
    ...{
      svg: view.details.svg,
      full: view.details.isShort ? view.details.full : "",
      opensCalled: view.details.now === "names",
      map,
      document,
      forward,
      ready: engine?.queue?.[0] ?? "",
      say: view.say,
      signal,
    },
    select: (id) => view.select(id),
    open: (id) => openBox(view, id),
    toggle: (node) => view.do({ kind: "breakpoint", node }),
  });
}

/**
 * @param {View} view its stage is there
 * @param {any} picture
 * @returns {Playback}
 */
export function playbackOf(view, { map, total, forward = [], engine }) {
  return new Playback(view.model, {
    ...{
      first: Math.min(0, 1 - forward.length),
      total,
      ready: engine?.queue?.[0] ?? "",
      say: view.say,
      graph: view.stage.graph,
    },
    pause: () => view.tools.controls.pause(),
    changed: () => view.update(),
    within: map ? withinCards(map) : withinGroups(view.groups),
  });
}

/**
 * @param {View} view its stage is there
 * @param {any} picture
 * @param {AbortSignal} signal
 * @returns {CodeView}
 */
export function codeOf(view, { code, forward = [] }, signal) {
  return new CodeView({
    ...{ code, forward, say: view.say, signal },
    select: (ids) => view.select(ids.find((id) => view.stage.picture.boxes.has(id)) ?? "", true),
    change: (stops) => view.set("shown_stops", stops),
    folded: () => view.resized(),
  });
}
