// The stage and the panel beside it (below it where there is little room), with a bar between that moves.

import { html } from "./elements.js";

const NARROW = 720; // px, below which the panel stands under the picture
const [LEAST, MOST, STEP] = [0.2, 0.7, 0.05]; // share of the width that the panel takes

export class Split {
  /**
   * @param {HTMLElement} stage
   * @param {HTMLElement} panel
   * @param {string} label
   * @param {() => void} changed
   * @param {AbortSignal} signal
   */
  constructor(stage, panel, label, changed, signal) {
    this.panel = panel;
    this.changed = changed;
    this.share = 0.34;
    this.root = html("div", "av-body");
    this.bar = html("div", "av-bar");
    this.bar.tabIndex = 0;
    const says = { role: "separator", "aria-orientation": "vertical", "aria-label": label };
    for (const [key, value] of Object.entries(says)) this.bar.setAttribute(key, value);
    this.bar.setAttribute("aria-valuemin", String(100 * LEAST));
    this.bar.setAttribute("aria-valuemax", String(100 * MOST));
    this.side = html("div", "av-side");
    this.side.append(panel);
    this.root.append(stage, this.bar, this.side);
    this.listen(signal);
    this.move(this.share);
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    this.bar.addEventListener("pointerdown", (event) => this.bar.setPointerCapture(event.pointerId), { signal });
    this.bar.addEventListener("pointermove", (event) => {
      if (!this.bar.hasPointerCapture(event.pointerId)) return;
      const room = this.root.getBoundingClientRect();
      this.move((room.right - event.clientX) / room.width);
    }, { signal });
    this.bar.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
      if (!way) return;
      event.preventDefault();
      this.move(this.share + way);
    }, { signal });
  }

  /** @param {number} share */
  move(share) {
    this.share = Math.min(MOST, Math.max(LEAST, share));
    this.side.style.setProperty("--av-share", `${100 * this.share}%`);
    this.bar.setAttribute("aria-valuenow", String(Math.round(100 * this.share)));
    this.changed();
  }

  get isOpen() {
    return !this.side.hidden;
  }

  toggle() {
    this.side.hidden = this.bar.hidden = this.isOpen;
    this.changed();
  }

  /**
   * The widget has another width.
   * @param {number} width
   */
  resized(width) {
    this.root.classList.toggle("av-narrow", width > 0 && width < NARROW);
  }

  /** Is the panel beside the picture? */
  get isBeside() {
    return this.isOpen && !this.root.classList.contains("av-narrow");
  }
}
