// What is next, said at the edge of the stage behind which it is: only where a stage is too small to show it.

import { html } from "../shared/elements.js";

/** @typedef {import("../figure/picture.js").Box} Box */
/** @typedef {import("./viewport.js").Viewport} Viewport */

export class Beyond {
  constructor() {
    this.root = html("div", "av-beyond");
    this.root.setAttribute("aria-hidden", "true"); // the sentence says it
    this.root.hidden = true;
    this.text = "";
  }

  /**
   * @param {Viewport} viewport
   * @param {Box | undefined} box of what is next
   */
  show(viewport, box) {
    const isHidden = !box || !viewport.room.width || viewport.sees(box);
    if (this.root.hidden !== isHidden) this.root.hidden = isHidden;
    if (isHidden) return;
    const { view, room, picture } = viewport;
    const [x, y] = [(box.x - picture.x) * view.scale + view.x, (box.y - picture.y) * view.scale + view.y];
    const arrow = y < 0 ? "↑" : y + box.h * view.scale > room.height ? "↓" : x < 0 ? "←" : "→";
    this.root.textContent = `${this.text} ${arrow}`;
    this.root.classList.toggle("av-above", y < 0);
  }
}
