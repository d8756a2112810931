// Hands on the stage: drag to pan, wheel to zoom, hover, click, double click.

/** @typedef {import("./viewport.js").Viewport} Viewport */
/**
 * @typedef {object} Hands
 * @property {(at: string) => void} hover address under the pointer, or ""
 * @property {(at: string) => void} click
 * @property {(at: string) => void} open double click
 * @property {(id: string) => void} toggle a click on what opens a card
 */

const SLACK = 4; // px that a click may move
const LINE = 16; // px of a line, for wheels that count in lines

/**
 * @param {EventTarget | null} target
 * @returns {string}
 */
function addressOf(target) {
  const element = target instanceof Element ? target.closest("[data-at]") : null;
  return element?.getAttribute("data-at") ?? "";
}

/**
 * @param {HTMLElement} stage
 * @param {Viewport} viewport
 * @param {() => boolean} hasFocus
 * @param {AbortSignal} signal
 */
function listenToWheel(stage, viewport, hasFocus, signal) {
  stage.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey && !hasFocus()) return; // the page's own scrolling
      event.preventDefault();
      const room = stage.getBoundingClientRect();
      const by = event.deltaY * (event.deltaMode === 1 ? LINE : 1) * (event.ctrlKey ? 0.01 : 0.002); // a pinch has small deltas
      viewport.zoom(Math.exp(-Math.max(-1, Math.min(1, by))), event.clientX - room.left, event.clientY - room.top);
    },
    { signal, passive: false },
  );
}

/**
 * @param {HTMLElement} stage
 * @param {Viewport} viewport
 * @param {Hands} hands
 * @param {AbortSignal} signal
 */
function listenToPointer(stage, viewport, hands, signal) {
  /** @type {{ x: number, y: number, id: number, at: string, moved: boolean } | null} */
  let held = null;
  const options = { signal };
  stage.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0 || (event.target instanceof Element && event.target.closest("button, [role=button], .av-minimap")))
        return;
      const opens = event.target instanceof Element ? event.target.closest("[data-opens]")?.getAttribute("data-opens") : null;
      const at = opens ? `open:${opens}` : addressOf(event.target);
      held = { x: event.clientX, y: event.clientY, id: event.pointerId, at, moved: false };
    },
    options,
  );
  stage.addEventListener(
    "pointermove",
    (event) => {
      if (!held || event.pointerId !== held.id) return;
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.moved && Math.hypot(dx, dy) < SLACK) return;
      if (!held.moved) stage.setPointerCapture(held.id);
      stage.classList.add("av-dragged");
      held = { ...held, x: event.clientX, y: event.clientY, moved: true };
      viewport.pan(dx, dy);
    },
    options,
  );
  const pressed = (/** @type {string} */ at) => (at.startsWith("open:") ? hands.toggle(at.slice(5)) : hands.click(at));
  const release = (/** @type {PointerEvent} */ event) => {
    if (held && !held.moved && event.type === "pointerup") pressed(held.at);
    held = null;
    stage.classList.remove("av-dragged");
  };
  for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) stage.addEventListener(name, release, options);
  stage.addEventListener(
    "dblclick",
    (event) => {
      if (!(event.target instanceof Element && event.target.closest("[data-opens]"))) hands.open(addressOf(event.target));
    },
    options,
  );
  stage.addEventListener("pointerover", (event) => !held && hands.hover(addressOf(event.target)), options);
  stage.addEventListener("pointerleave", () => hands.hover(""), options);
}

/**
 * @param {HTMLElement} stage
 * @param {Viewport} viewport
 * @param {() => boolean} hasFocus
 * @param {Hands} hands
 * @param {AbortSignal} signal
 */
export function listenToHands(stage, viewport, hasFocus, hands, signal) {
  listenToWheel(stage, viewport, hasFocus, signal);
  listenToPointer(stage, viewport, hands, signal);
}
