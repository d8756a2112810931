// A small window that a button opens: the stops, the keys.

import { html } from "./elements.js";

export class Popup {
  /**
   * @param {HTMLButtonElement} opener
   * @param {string} label
   * @param {AbortSignal} signal
   */
  constructor(opener, label, signal) {
    this.opener = opener;
    this.root = html("div", "av-popup");
    this.root.setAttribute("role", "dialog");
    this.root.setAttribute("aria-label", label);
    this.root.tabIndex = -1;
    this.root.hidden = true;
    opener.setAttribute("aria-haspopup", "dialog");
    opener.setAttribute("aria-expanded", "false");
    opener.addEventListener("click", () => this.toggle(), { signal });
    this.root.addEventListener(
      "focusout",
      (event) => {
        const to = /** @type {Node | null} */ (event.relatedTarget);
        if (to && !this.root.contains(to) && to !== opener) this.show(false);
      },
      { signal },
    );
  }

  get isOpen() {
    return !this.root.hidden;
  }

  toggle() {
    if (this.close()) return;
    this.show(true);
    if (this.isOpen)
      /** @type {HTMLElement} */ (this.root.querySelector("input, button") ?? this.root).focus({ preventScroll: true });
  }

  /** @param {boolean} open */
  show(open) {
    this.root.hidden = !open;
    this.opener.setAttribute("aria-expanded", String(open));
  }

  /** Close it and give the focus back; false if it was closed. */
  close() {
    if (!this.isOpen) return false;
    this.show(false);
    this.opener.focus({ preventScroll: true });
    return true;
  }
}
