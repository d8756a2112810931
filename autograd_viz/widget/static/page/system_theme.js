// A page of its own is light or dark as the reader's system.

/** @param {Record<string, unknown>} palettes */
export function followSystem(palettes) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () =>
    document.body.classList.toggle("av-dark", "dark" in palettes && (system.matches || !("light" in palettes)));
  system.addEventListener("change", apply);
  apply();
}
