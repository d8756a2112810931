// The stage, the map beside it, and the panel (below where there is little room, and closed at first), with a bar that moves.

import { html } from "../shared/elements.js";
import { onPage } from "../shared/motion.js";

const NARROW = 720; // px, below which the panel stands under the picture
const [LEAST, MOST, STEP] = [0.2, 0.7, 0.05]; // share of the width that the panel takes
const [SHARE, PANEL_WIDTH, BAR] = [0.34, 280, 9]; // its share at first; px of the narrowest panel, and of the bar

export class Split {
  /**
   * @param {HTMLElement} stage
   * @param {HTMLElement} map
   * @param {HTMLElement} panel
   * @param {string} label
   * @param {() => void} changed
   * @param {AbortSignal} signal
   */
  constructor(stage, map, panel, label, changed, signal) {
    this.panel = panel;
    this.stage = stage;
    this.map = map;
    this.changed = changed;
    this.share = SHARE;
    this.asked = false; // has a person opened or closed the panel?
    this.moved = false; // or moved the bar?
    this.root = html("div", "av-body");
    this.bar = html("div", "av-bar");
    this.bar.tabIndex = 0;
    const says = { role: "separator", "aria-orientation": "vertical", "aria-label": label };
    for (const [key, value] of Object.entries(says)) this.bar.setAttribute(key, value);
    this.bar.setAttribute("aria-valuemin", String(100 * LEAST));
    this.bar.setAttribute("aria-valuemax", String(100 * MOST));
    this.side = html("div", "av-side");
    this.side.append(panel);
    this.root.append(stage, map, this.bar, this.side);
    this.listen(signal);
    this.put(this.share);
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    this.bar.addEventListener("pointerdown", (event) => this.bar.setPointerCapture(event.pointerId), { signal });
    this.bar.addEventListener(
      "pointermove",
      (event) => {
        if (!this.bar.hasPointerCapture(event.pointerId)) return;
        const room = this.root.getBoundingClientRect();
        this.move((room.right - event.clientX) / room.width);
      },
      { signal },
    );
    this.bar.addEventListener(
      "keydown",
      (event) => {
        const way = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
        if (!way) return;
        event.preventDefault();
        this.move(this.share + way);
      },
      { signal },
    );
  }

  /** @param {number} share */
  move(share) {
    this.moved = true;
    this.put(share);
    this.changed();
  }

  /** @param {number} share */
  put(share) {
    this.share = Math.min(MOST, Math.max(LEAST, share));
    this.side.style.setProperty("--av-share", `${100 * this.share}%`);
    this.bar.setAttribute("aria-valuenow", String(Math.round(100 * this.share)));
  }

  get isOpen() {
    return !this.side.hidden;
  }

  close() {
    this.asked = true;
    this.show(false);
  }

  toggle() {
    this.asked = true;
    this.show(!this.isOpen);
    this.changed();
    const isBelow = this.root.classList.contains("av-narrow");
    if (this.isOpen && isBelow) onPage(this.side);
  }

  /** @param {boolean} open */
  show(open) {
    this.side.hidden = this.bar.hidden = !open;
  }

  /**
   * There is another width: the panel stands beside the picture only where this can still be read.
   * @param {number} needed px of the stage
   */
  resized(needed) {
    const width = this.root.clientWidth;
    if (!width) return;
    const isNarrow = width < NARROW || width < needed + PANEL_WIDTH + BAR;
    this.root.classList.toggle("av-narrow", isNarrow);
    if (!this.asked) this.show(!isNarrow);
    if (!this.moved && !isNarrow) this.put(Math.min(SHARE, Math.max(PANEL_WIDTH, width - needed - BAR) / width));
  }

  /** px that the stage and the map have: as many with the map as without it, or it would not go where all is seen. */
  get room() {
    const { stage, map } = this;
    return map.offsetWidth ? map.offsetLeft + map.offsetWidth - stage.offsetLeft : stage.offsetWidth;
  }

  /** Is the panel beside the picture? */
  get isBeside() {
    return this.isOpen && !this.root.classList.contains("av-narrow");
  }
}
