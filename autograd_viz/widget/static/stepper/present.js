// Presenting: the widget fills the window, with large letters and without panels. In a popover it stands over all of the page,
// whatever clips the notebook's cells; a browser without popovers lets it fill the part of the page that it is in.

const MARGINS = 16; // px of a page around the widget
const LOWEST = 300; // px of a page; what is lower scrolls something else, or is a frame as high as what is in it
const [SHARE_OF_SCREEN, LEAST_SEEN] = [0.65, 400]; // of a screen, in such a frame; px

/** @type {boolean | undefined} is this page a frame that takes its height from what is in it? */
let isLoose;

/**
 * Does a frame take its height from what is in it? Such a frame is low at first; a page of its own never does.
 * @param {boolean} isFrame
 * @param {number} height px of the frame at first
 */
export function followsContent(isFrame, height) {
  return isFrame && height < LOWEST;
}

export class Present {
  /**
   * @param {HTMLElement} root
   * @param {HTMLButtonElement} button
   * @param {(on: boolean) => void} changed
   * @param {AbortSignal} signal
   */
  constructor(root, button, changed, signal) {
    this.root = root;
    this.button = button;
    this.changed = changed;
    signal.addEventListener("abort", () => this.show(false));
  }

  get isOn() {
    return this.root.classList.contains("av-presenting");
  }

  toggle() {
    this.show(!this.isOn);
  }

  /** @returns {boolean} false if it was not on */
  leave() {
    const was = this.isOn;
    this.show(false);
    return was;
  }

  /**
   * A key of a clicker covers the window; the next key, whichever it is, uncovers it.
   * @param {boolean} asked for that
   * @returns {boolean} the key has done so
   */
  blanks(asked) {
    const { classList } = this.root;
    const was = classList.contains("av-blank");
    classList.toggle("av-blank", asked && !was && this.isOn);
    return was || asked;
  }

  /** @param {boolean} on */
  show(on) {
    const { root } = this;
    if (on === this.isOn) return;
    const focused = /** @type {Document | ShadowRoot} */ (root.getRootNode()).activeElement;
    root.classList.toggle("av-presenting", on);
    root.classList.remove("av-blank");
    if (!on) root.removeAttribute("popover");
    else if ("showPopover" in root && root.isConnected) {
      root.setAttribute("popover", "manual");
      root.showPopover();
    }
    this.button.setAttribute("aria-pressed", String(on));
    this.changed(on);
    const inside = focused instanceof HTMLElement && root.contains(focused) ? focused : root;
    if (root.isConnected) inside.focus({ preventScroll: !on });
  }
}

/**
 * px of the page that a person sees at once: of the window, or of what scrolls in it.
 * @param {HTMLElement} root
 */
export function seenHeight(root) {
  if (root.classList.contains("av-presenting")) return innerHeight;
  const atFirst = Number(document.body.dataset.avHeight) || innerHeight; // a hidden frame has no height
  isLoose ??= atFirst ? followsContent(window.parent !== window, atFirst) : undefined;
  const seen = isLoose ? Math.max(LEAST_SEEN, SHARE_OF_SCREEN * screen.availHeight) : innerHeight - MARGINS;
  return Math.min(innerHeight, scrolledHeight(root)) || seen;
}

/**
 * px of what the widget scrolls in, as a cell in a notebook; 0 if that is the window.
 * @param {HTMLElement} root
 */
export function scrolledHeight(root) {
  let seen = 0;
  /** @type {Element | null} */
  let at = root.parentElement;
  while (at && at !== document.documentElement && at !== document.body) {
    const scrolls = /auto|scroll/.test(getComputedStyle(at).overflowY);
    if (scrolls && at.clientHeight >= LOWEST) seen = at.clientHeight;
    const scope = at.getRootNode();
    at = at.parentElement ?? (scope instanceof ShadowRoot ? scope.host : null);
  }
  return seen;
}
