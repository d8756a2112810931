// When things are done: what a person waits for is painted before anything else is worked on.

/**
 * In a task of its own, when the next frame has been painted.
 * @param {() => void} then
 */
export function afterPaint(then) {
  requestAnimationFrame(() => setTimeout(then));
}
