// What moves by itself moves only for who has not asked for less.

/** Has a person asked for less motion? */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/**
 * Scroll the page so far that all of an element is seen.
 * @param {HTMLElement} element
 */
export function onPage(element) {
  element.scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" });
}
