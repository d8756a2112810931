// JupyterLab's shortcuts of one letter or arrow wait while the focus is within the widget.

export const FIELDS = "input, select, textarea, [contenteditable]";
const WAIT = "data-lm-suppress-shortcuts";

/**
 * A shortcut of the page around, as Ctrl+S; what is pressed in a field is the field's.
 * @param {KeyboardEvent} event
 */
export function isShortcut(event) {
  const target = event.composedPath()[0];
  return (event.ctrlKey || event.metaKey) && !(target instanceof HTMLElement && target.matches(FIELDS));
}

/**
 * Notebook 7 looks at the pressed element first and in the capture phase, so the pressed button has the attribute, too.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
export function suppressShortcuts(root, signal) {
  root.toggleAttribute(WAIT, true);
  const before = (/** @type {KeyboardEvent} */ event) => {
    const pressed = event.composedPath()[0];
    root.toggleAttribute(WAIT, !isShortcut(event));
    if (pressed instanceof HTMLElement && root.contains(pressed)) pressed.toggleAttribute(WAIT, !isShortcut(event));
  };
  window.addEventListener("keydown", before, { signal, capture: true });
}
