// Colours: a palette from Python becomes custom properties; light or dark follows the notebook.

/** @typedef {Record<string, string>} Palette */

/**
 * Is the notebook dark? JupyterLab says so on <body>; elsewhere the brightness of the inherited text tells.
 * @param {Element} element
 */
export function isDark(element) {
  const lab = document.body.dataset.jpThemeLight;
  if (lab) return lab === "false";
  const text = getComputedStyle(element).color;
  const [red, green, blue] = text.match(/\d+(\.\d+)?/g)?.map(Number) ?? [0, 0, 0];
  const most = text.startsWith("color(") ? 1 : 255; // marimo's colours are color(srgb …)
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 * most;
}

/**
 * Apply the fitting palette now and whenever the notebook's theme changes.
 * @param {HTMLElement} root
 * @param {Record<string, Palette>} palettes
 * @param {AbortSignal} signal
 * @param {(palette: Palette) => void} changed called after each change
 */
export function followTheme(root, palettes, signal, changed) {
  const apply = () => {
    const parent = root.parentElement ?? root;
    const palette = palettes[isDark(parent) ? "dark" : "light"] ?? Object.values(palettes)[0];
    for (const [role, colour] of Object.entries(palette)) root.style.setProperty(`--av-${role}`, colour);
    changed(palette);
  };
  apply();
  const observer = new MutationObserver(apply);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
  signal.addEventListener("abort", () => observer.disconnect());
}
