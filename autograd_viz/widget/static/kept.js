// What stays when a picture of the same pass takes the place of another: the selection, the focus, the place in sight.

import { anchored, successor } from "./groups.js";

/** @typedef {import("./groups.js").Groups} Groups */
/** @typedef {import("./view.js").View} View */
/** @typedef {{ isOpen: boolean, asked: boolean, code: boolean | undefined, presents: boolean, hadFocus: boolean, chosen: string, anchor: string, groups: Groups, view: import("./camera.js").View, own: boolean, at: { x: number, y: number } | undefined }} Kept */

/**
 * What the view of the next picture goes on from.
 * @param {View} of
 * @returns {Kept}
 */
export function keep(of) {
  const { stage, split } = of;
  const [chosen, anchor] = [of.selection, of.selection || stage.lit];
  const scope = /** @type {Document | ShadowRoot} */ (of.root.getRootNode());
  const hadFocus = of.root.contains(scope.activeElement);
  const { view, own } = stage.viewport;
  const [code, presents] = [of.code.chosen, of.present.isOn];
  return { isOpen: split.isOpen, asked: split.asked, code, presents, hadFocus, chosen, anchor, groups: of.groups, view, own, at: cornerOf(stage, anchor) };
}

/**
 * @param {View} from
 * @param {Kept} kept
 */
export function goOn(from, kept) {
  const { boxes } = from.stage.picture;
  const anchor = successor(kept.anchor, boxes, kept.groups, from.groups);
  if (kept.presents) from.present.show(true);
  if (kept.code !== undefined && kept.code !== from.code.isOpen) from.code.toggle();
  from.split.asked = kept.asked;
  if (kept.asked && kept.isOpen !== from.split.isOpen) from.split.show(kept.isOpen);
  from.resized();
  if (kept.chosen) from.select(successor(kept.chosen, boxes, kept.groups, from.groups), !kept.at);
  const to = cornerOf(from.stage, anchor);
  if (to && kept.at) from.stage.viewport.stand(anchored(kept.view, kept.at, to));
  from.stage.viewport.away = Boolean(kept.chosen && to && kept.at); // what was selected stays where it is
  if (kept.hadFocus) from.root.focus({ preventScroll: true });
}

/**
 * The corner of a box, from the picture's.
 * @param {import("./stage.js").Stage} stage
 * @param {string} id
 */
function cornerOf({ picture }, id) {
  const box = picture.boxes.get(id);
  return box && { x: box.x - picture.x, y: box.y - picture.y };
}
