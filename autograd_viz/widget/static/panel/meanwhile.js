// What the notebook has done to the graph since it was drawn, behind the stepper's back: a line under the picture.

import { lineOf } from "./array_view.js";

/** @typedef {import("../pass/kernel.js").Model} Model */
/** @typedef {{ version: number, value: import("../shared/statistics.js").Value }} Rewritten a tensor that was changed in place, as it is now */
/**
 * @typedef {object} Meanwhile
 * @property {Record<string, import("../shared/draw.js").Lines>} overlay grads that the notebook has changed, as the picture writes them
 * @property {Record<string, string>} spoiled saved tensors that were changed in place ("stale") or freed, by address
 * @property {Record<string, Rewritten>} rewritten tensors whose data was changed in place, by id
 * @property {{ node?: string, values?: Record<string, import("../shared/statistics.js").Value> }} [pending] the edit that waits for its node
 */

const MOST_NAMED = 3;
const NOTHING = {};

/**
 * @param {Model} model
 * @returns {Meanwhile}
 */
export function meanwhileOf(model) {
  const [overlay, spoiled, rewritten, pending] = ["overlay", "spoiled", "rewritten", "pending"].map(
    (trait) => model.get(trait) ?? NOTHING,
  );
  return { overlay, spoiled, rewritten, pending };
}

/**
 * @param {Meanwhile} meanwhile
 * @param {import("../shared/words.js").Say} say
 * @param {(id: string) => string} labelOf
 */
export function meanwhileText({ overlay, spoiled, rewritten, pending = {} }, say, labelOf) {
  const edits = Object.values(pending.values ?? {})
    .map(lineOf)
    .join(", ");
  const lost = Object.values(spoiled);
  const changed = Object.keys(rewritten);
  const grads = Object.keys(overlay).map((at) => at.split(".")[0]);
  return [
    edits && say("edit_waits", { value: edits, node: labelOf(pending.node ?? "") }),
    grads.length && say("changed_outside", { tensors: few(grads, labelOf) }),
    lost.includes("stale") && say("spoiled_tip"),
    lost.includes("freed") && say("freed_tip"),
    changed.length && say("rewritten_tip", { tensors: few(changed, labelOf) }),
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * @param {string[]} ids
 * @param {(id: string) => string} labelOf
 */
function few(ids, labelOf) {
  return ids.slice(0, MOST_NAMED).map(labelOf).join(", ") + (ids.length > MOST_NAMED ? ", …" : "");
}
