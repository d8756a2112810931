// What the kernel records arrives piece by piece, and is kept once for each model, whether or not a view is open.

/** @typedef {import("./history.js").Frame} Frame */
/** @typedef {import("./kernel.js").Model} Model */
/**
 * @typedef {object} Piece
 * @property {number} [from] where it begins; what was known from there on no longer holds
 * @property {Frame[]} [frames]
 * @property {number} [answers] how many questions are answered by now
 */

/** @param {Model} model */
export function keepRecorded(model) {
  const keep = () => {
    /** @type {Piece} */
    const piece = model.get("recorded") ?? {};
    const { from = 0, frames } = piece;
    if (!frames) return;
    const known = /** @type {Frame[]} */ (model.get("frames"));
    if (from > known.length) {
      model.send({ kind: "frames" }); // the pieces before were sent when there was no page
      return;
    }
    known.length = from; // in place: what is set in a model is sent to Python, which has it already
    for (const frame of frames) known.push(frame);
    delete piece.frames; // a saved notebook has them once
  };
  model.on("change:recorded", keep);
  keep();
}
