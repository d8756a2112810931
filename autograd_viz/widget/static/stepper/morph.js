// From one detail of a figure to another: each box goes from where it stood to where it stands.

import { isStill } from "../shared/motion.js";

/** @typedef {import("../stage/stage.js").Stage} Stage */

const [MORPH_MS, MOST_MORPHED] = [240, 150]; // of the movement; boxes

/**
 * Where the boxes of a stage stand in it now, and how those of the next one get there.
 * @param {Stage} before
 * @returns {(after: Stage) => void}
 */
export function morph({ picture, viewport: { view } }) {
  const stood = new Map(
    [...picture.boxes].map(([id, { x, y, w }]) => [
      id,
      { x: (x - picture.x) * view.scale + view.x, y: (y - picture.y) * view.scale + view.y, w: w * view.scale },
    ]),
  );
  return (after) => {
    const { view: now } = after.viewport;
    if (isStill() || stood.size > MOST_MORPHED) return;
    for (const [id, box] of after.picture.boxes) {
      const from = stood.get(id);
      const [element] = after.picture.places.get(id) ?? [];
      if (!from || !element) continue;
      const [x, y] = [(from.x - now.x) / now.scale + after.picture.x, (from.y - now.y) / now.scale + after.picture.y];
      const scale = from.w / (box.w * now.scale);
      const start = `translate(${x - box.x * scale}px, ${y - box.y * scale}px) scale(${scale})`;
      element.animate(
        [
          { transform: start, transformOrigin: "0 0" },
          { transform: "none", transformOrigin: "0 0" },
        ],
        { duration: MORPH_MS, easing: "ease-out" },
      );
    }
    for (const arrow of after.picture.svg.querySelectorAll(":scope > :is(.arrow, .label, .line)"))
      arrow.animate([{ opacity: 0 }, { opacity: 0 }, {}], MORPH_MS);
  };
}
