// What stays when a picture of the same pass takes the place of another: the selection, the focus, the place in sight.

import { closedGroup, groupsAround } from "../pass/groups.js";

/** @typedef {import("../pass/groups.js").Groups} Groups */
/** @typedef {import("./view.js").View} View */
/** @typedef {import("../figure/picture.js").Box} Box */
/** @typedef {import("../stage/camera.js").View} Stood where a picture stands */
/** @typedef {{ isOpen: boolean, asked: boolean, code: boolean | undefined, presents: boolean, hadFocus: boolean, chosen: string, anchor: string, groups: Groups, view: Stood, top: number, own: boolean, details: import("../stage/details.js").Details, at: { x: number, y: number } | undefined }} Kept */

/**
 * What the view of the next picture goes on from.
 * @param {View} of
 * @returns {Kept}
 */
export function keep(of) {
  const {
    stage,
    side: { split },
    tools,
  } = of;
  const [chosen, anchor] = [of.selection, of.selection || stage.lit];
  const scope = /** @type {Document | ShadowRoot} */ (of.root.getRootNode());
  const hadFocus = of.root.contains(scope.activeElement);
  const { view, own } = stage.viewport;
  const [code, presents] = [of.code.chosen, tools.present.isOn];
  return {
    isOpen: split.isOpen,
    asked: split.asked,
    code,
    presents,
    hadFocus,
    chosen,
    anchor,
    groups: of.groups,
    view,
    top: stage.root.offsetTop,
    own,
    details: of.details,
    at: cornerOf(stage, anchor),
  };
}

/**
 * @param {View} from
 * @param {Kept} kept
 */
export function goOn(from, kept) {
  const { boxes } = from.stage.picture;
  const anchor = successor(kept.anchor, boxes, kept.groups, from.groups);
  if (kept.presents) from.tools.present.show(true);
  if (kept.code !== undefined && kept.code !== from.code.isOpen) from.code.toggle();
  from.side.split.asked = kept.asked;
  if (kept.asked && kept.isOpen !== from.side.split.isOpen) from.side.split.show(kept.isOpen);
  from.goesOn = false; // presented or not, as before: now its detail is chosen
  from.resized();
  if (kept.chosen) from.select(successor(kept.chosen, boxes, kept.groups, from.groups), !kept.at);
  const to = cornerOf(from.stage, anchor);
  const isSeen = kept.details === from.details && !kept.own && from.stage.viewport.isWhole; // all of another detail
  if (to && kept.at && !isSeen)
    from.stage.viewport.stand(lifted(anchored(kept.view, kept.at, to), kept.top - from.stage.root.offsetTop));
  from.stage.viewport.away = Boolean(kept.chosen && to && kept.at); // what was selected stays where it is
  if (kept.hadFocus) from.root.focus({ preventScroll: true });
}

/**
 * @param {Stood} view
 * @param {number} px that the stage begins higher than before, since rules now stand beside it
 */
function lifted(view, px) {
  return { ...view, y: view.y + px };
}

/**
 * The corner of a box, from the picture's.
 * @param {import("../stage/stage.js").Stage} stage
 * @param {string} id
 */
function cornerOf({ picture }, id) {
  const box = picture.boxes.get(id);
  return box && { x: box.x - picture.x, y: box.y - picture.y };
}

/**
 * The box that stays where it is when another picture comes: what is there in both, else what has taken its place.
 * @param {string} id what was selected or lit
 * @param {Map<string, Box>} boxes of the new picture
 * @param {Groups} before
 * @param {Groups} after
 */
export function successor(id, boxes, before, after) {
  if (boxes.has(id)) return id;
  const closed = closedGroup(before, id);
  const side = closed === id ? "op" : "node";
  if (closed) return [...boxes.values()].find((b) => b.kind === side && groupsAround(after, b.id).includes(closed))?.id ?? "";
  return (
    groupsAround(before, id)
      .flatMap((group) => [group, `b${group}`])
      .find((box) => boxes.has(box)) ?? ""
  );
}

/**
 * The view in which a box of the new picture stands where another stood in the old one.
 * @param {Stood} view of the old picture
 * @param {{ x: number, y: number }} from the old box, from the old picture's corner
 * @param {{ x: number, y: number }} to the new one, from the new picture's corner
 * @returns {Stood}
 */
export function anchored(view, from, to) {
  return { ...view, x: view.x + (from.x - to.x) * view.scale, y: view.y + (from.y - to.y) * view.scale };
}
