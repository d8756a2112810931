// The picture beside the live view (widget.py, Note [Two outputs]) is hidden for as long as the view lives.

/**
 * @param {string} mark a class of the picture, letters, digits and hyphens
 * @param {AbortSignal} signal
 */
export function hideStill(mark, signal) {
  if (!/^[\w-]+$/.test(mark)) return;
  const image = `img[src*="${mark}"]`;
  const style = document.createElement("style");
  style.textContent = `.jp-OutputArea-child:has(${image}), ${image} { display: none; }`;
  document.head.append(style);
  signal.addEventListener("abort", () => style.remove());
}
