// The outputs beside the live view (widget.py, Note [Three outputs]) are hidden for as long as the view lives.

/**
 * @param {string} mark a class of the picture or text, letters, digits and hyphens; the page's begins with it
 * @param {HTMLElement} root of the view
 * @param {boolean} hasKernel without one the page can do more than the view, and hides it
 * @param {AbortSignal} signal
 */
export function hideStill(mark, root, hasKernel, signal) {
  if (!/^[\w-]+$/.test(mark)) return;
  const image = `.${mark}`;
  const hidden = hasKernel ? `${image}, .${mark}-page` : image;
  const style = document.createElement("style");
  style.textContent = `.jp-OutputArea-child:has(${hidden}), ${hidden} { display: none; }`;
  document.head.append(style);
  root.classList.toggle("av-live", hasKernel);
  signal.addEventListener("abort", () => style.remove());
}
