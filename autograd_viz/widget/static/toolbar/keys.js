// Keys: everything by keyboard while the widget has the focus; JupyterLab's own of one letter wait meanwhile.

import { FIELDS, isShortcut, suppressShortcuts } from "../shared/shortcuts.js";

/** @type {Record<string, string>} */
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
  c: "run",
  Enter: "open",
  e: "group",
  o: "step_over",
  t: "step_into",
  u: "step_out",
  m: "map",
  x: "breakpoint",
  "/": "search",
  0: "fit",
  1: "actual",
  "+": "zoom_in",
  "=": "zoom_in",
  "-": "zoom_out",
  d: "detail",
  i: "panel",
  l: "code",
  p: "present",
  "?": "help",
  Escape: "close",
};
/** @type {Record<string, string>} */
const SHIFTED = {
  ...{ ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" },
  ...{ W: "pan_up", A: "pan_left", S: "pan_down", D: "pan_right" },
};
/** @type {Record<string, string>} a clicker's keys; in a page they scroll, so they count only while it presents */
const PRESENTED = { PageDown: "next", PageUp: "back", b: "blank", ".": "blank" };
const PRESSED = "button, summary, a, [role=button], [role=option]"; // Enter and Space are theirs

/** @type {[keys: string, word: string][]} what the list of keys shows */
export const HELP = [
  ["→  n", "key_next"],
  ["←  b", "key_back"],
  ["PageDown  PageUp", "key_clicker"],
  ["b  .", "key_blank"],
  ["Home  r", "key_reset"],
  ["End  f", "key_finish"],
  ["Space", "key_play"],
  ["c", "key_run"],
  ["x", "key_breakpoint"],
  ["Enter", "key_run_to"],
  ["e", "key_group"],
  ["o", "key_over"],
  ["t", "key_into"],
  ["u", "key_out"],
  ["m", "key_map"],
  ["Shift + ← ↑ → ↓", "key_select"],
  ["/", "key_search"],
  ["+  −", "key_zoom"],
  ["0", "key_fit"],
  ["1", "key_actual"],
  ["Shift + W A S D", "key_pan"],
  ["d", "key_detail"],
  ["Ctrl + C", "key_copy"],
  ["i", "key_panel"],
  ["l", "key_code"],
  ["p", "key_present"],
  ["?", "key_help"],
  ["Esc", "key_close"],
];

/**
 * What a key press means, or "".
 * @param {{ key: string, shiftKey: boolean, ctrlKey: boolean, metaKey: boolean, altKey: boolean }} event
 * @param {boolean} [presents] does the widget fill the window?
 */
export function meaning(event, presents = false) {
  if (event.ctrlKey || event.metaKey || event.altKey) return "";
  if (presents && event.key in PRESENTED) return PRESENTED[event.key];
  return (event.shiftKey && SHIFTED[event.key]) || (KEYS[event.key] ?? "");
}

/**
 * Ctrl+C where no text is selected takes the picture.
 * @param {ClipboardEvent} event
 */
function copiesPicture(event) {
  const target = event.composedPath()[0];
  if (!getSelection()?.isCollapsed || (target instanceof Element && target.matches(FIELDS))) return false;
  event.preventDefault();
  return true;
}

/**
 * @param {HTMLElement} root
 * @param {(action: string) => void} act
 * @param {AbortSignal} signal
 */
export function listenToKeys(root, act, signal) {
  root.tabIndex = 0;
  suppressShortcuts(root, signal);
  root.addEventListener("copy", (event) => copiesPicture(event) && act("copy"), { signal });
  root.addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Tab" || isShortcut(event)) return;
      event.stopPropagation(); // JupyterLab would move the focus or run a shortcut
      const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
      const ownsKey = target.matches(FIELDS) || (target.matches(PRESSED) && (event.key === " " || event.key === "Enter"));
      const isPresented = root.classList.contains("av-presenting");
      const wakes = root.classList.contains("av-blank") ? "wake" : ""; // any key uncovers a covered window
      const action = meaning(event, isPresented) || wakes;
      if (isPresented && event.key === "F5") event.preventDefault(); // of a clicker; the page would be loaded again
      if (event.defaultPrevented || !action || (ownsKey && event.key !== "Escape")) return;
      event.preventDefault();
      act(action);
    },
    { signal },
  );
}
