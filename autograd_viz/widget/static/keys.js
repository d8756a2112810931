// Keys: the toolbar's actions by keyboard while the widget has the focus, and never JupyterLab's meanwhile.

/** @typedef {import("./controls.js").Action} Action */

/** @type {Record<string, Action>} */
const KEYS = {
  ArrowRight: "next",
  n: "next",
  ArrowLeft: "back",
  b: "back",
  Home: "reset",
  r: "reset",
  End: "finish",
  f: "finish",
  " ": "play",
};

/**
 * @param {HTMLElement} root
 * @param {(action: Action) => void} act
 * @param {AbortSignal} signal
 */
export function listenToKeys(root, act, signal) {
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true";
  root.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Tab") return;
      event.stopPropagation(); // JupyterLab would move the focus or run a shortcut
      const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
      const ownsKey = target.tagName === "SELECT" || target.tagName === "INPUT" || (target.tagName === "BUTTON" && event.key === " ");
      if (ownsKey || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
      event.preventDefault();
      act(KEYS[event.key]);
    },
    { signal },
  );
}
