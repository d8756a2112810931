// What a person asks of a view: run, open, select, stop, edit.

import { closedGroup, toggledGroup } from "../pass/groups.js";
import { repinned } from "../panel/pins.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {{ kind: string, id?: string, node?: string, tensor?: string, index?: number, how?: string, text?: string, step?: number, pin?: import("../panel/pins.js").Pin }} Command */

/** @type {Record<string, (view: View, command: Command) => void>} */
const ACTS = {
  select: (view, { id = "" }) => view.select(id, true),
  jump: (view, { id = "" }) => view.stage.jump(id),
  run_to: (view, { node = "" }) => view.playback.runTo(node),
  until: (view, { tensor = "" }) => view.playback.until(tensor),
  breakpoint: (view, { node = "" }) => view.toggleStop(node),
  card: (view, { id }) => toggleGroup(view, id),
  leave: (view, { id = "" }) => view.playback.leave(id),
  walk: (view, { id }) => view.playback.act(/** @type {import("../toolbar/controls.js").Action} */ (id)),
  pin: (view, { pin }) => pin && view.set("pins", repinned(view.model.get("pins") ?? [], pin)),
  effect: ({ playback }, command) => (playback.ahead === undefined ? playback.ask(command) : playback.change(command)), // it moves nothing
  goto: (view, { step = 0 }) => view.playback.jump(step),
};

/**
 * The kernel does what is not here: edit, undo_edit, expand, collapse, into.
 * @param {View} view
 * @param {Command} command
 */
export function perform(view, command) {
  const act = ACTS[command.kind];
  if (act) act(view, command);
  else view.playback.change(command);
}

/**
 * Where the gradient of a box arrives, as what a run can stop at; null for what stands for several nodes.
 * @param {View} view
 * @param {string} id
 * @returns {import("../pass/stops.js").Stop | null}
 */
export function gradientEnd(view, id) {
  const { graph, cards } = view.stage;
  const node = graph.nodes.has(id) ? id : [...graph.reachedBy(id)][0];
  if (cards || !node || closedGroup(view.groups, node)) return null;
  const leaf = graph.nodes.get(node)?.variable;
  return { kind: "grad", node, name: graph.label(leaf ?? id) };
}

/**
 * Select what is in a closed group: it is opened.
 * @param {View} view
 * @param {string} id
 */
export function uncover(view, id) {
  perform(view, { kind: "expand", id: (view.selection = id) });
}

/**
 * The selected group, or where the step is.
 * @param {View} view
 * @param {string} [card]
 */
export function toggleGroup(view, card = view.selection || view.stage.lit) {
  const { stage, selection } = view;
  if (stage.cards) return stage.toggleCard(card) && selection && view.select(stage.picture.visible(selection));
  const command = toggledGroup(view.groups, selection || stage.lit);
  if (command) perform(view, command);
}

/**
 * Open a group; run to a node; until a gradient reaches a tensor; to where an op has run.
 * @param {View} view
 * @param {string} id
 */
export function openBox(view, id) {
  const { graph, forward, cards } = view.stage;
  if (cards) return cards.canOpen(id) ? toggleGroup(view) : view.tools.scales.figure(id);
  const group = closedGroup(view.groups, id);
  if (group) return view.groups.fixed ? undefined : perform(view, { kind: "expand", id: group });
  if (graph.nodes.has(id)) view.playback.runTo(id);
  else if (graph.tensors.has(id) && graph.reachedBy(id).size) view.playback.until(id);
  const index = forward.findIndex((position) => position.op === id);
  if (graph.ops.has(id) && index >= 0) perform(view, { kind: "goto", step: index + 1 - forward.length });
}
