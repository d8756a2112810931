// Hands on the stage: drag to pan, Ctrl and the wheel or two fingers to zoom, hover, click, double click.
//
// A drag that begins on a text selects it where there is nothing to pan to: where the picture is whole; elsewhere with Alt.

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
 * The wheel alone is the page's own scrolling.
 * @param {HTMLElement} stage
 * @param {Viewport} viewport
 * @param {AbortSignal} signal
 */
function listenToWheel(stage, viewport, signal) {
  stage.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const room = stage.getBoundingClientRect();
      const by = event.deltaY * (event.deltaMode === 1 ? LINE : 1) * (event.ctrlKey ? 0.01 : 0.002); // a pinch has small deltas
      viewport.zoom(Math.exp(-Math.max(-1, Math.min(1, by))), event.clientX - room.left, event.clientY - room.top);
    },
    { signal, passive: false },
  );
}

/**
 * Two fingers zoom, whatever the page would do with them. One scrolls the page until the stage was tapped, and again from a press
 * elsewhere on.
 * @param {HTMLElement} stage
 * @param {Viewport} viewport
 * @param {AbortSignal} signal
 * @returns {() => boolean} are there two fingers?
 */
function listenToFingers(stage, viewport, signal) {
  /** @type {Map<number, { x: number, y: number }>} */
  const fingers = new Map();
  const pinch = () => {
    const [a, b] = [...fingers.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, distance: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
  };
  const put = (/** @type {PointerEvent} */ event) => fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  stage.addEventListener("pointerdown", (event) => event.pointerType === "touch" && put(event), { signal });
  stage.addEventListener(
    "pointermove",
    (event) => {
      if (!fingers.has(event.pointerId)) return;
      const before = fingers.size === 2 ? pinch() : undefined;
      put(event);
      if (!before) return;
      const [now, room] = [pinch(), stage.getBoundingClientRect()];
      viewport.zoom(now.distance / before.distance, before.x - room.left, before.y - room.top);
      viewport.pan(now.x - before.x, now.y - before.y);
    },
    { signal },
  );
  for (const name of /** @type {const} */ (["pointerup", "pointercancel"]))
    stage.addEventListener(name, (event) => fingers.delete(event.pointerId), { signal });
  const hold = (/** @type {TouchEvent} */ event) => event.touches.length > 1 && event.cancelable && event.preventDefault();
  stage.addEventListener("click", () => stage.classList.add("av-tapped"), { signal });
  const left = (/** @type {Event} */ event) => !event.composedPath().includes(stage) && stage.classList.remove("av-tapped");
  window.addEventListener("pointerdown", left, { signal, capture: true });
  stage.addEventListener("touchstart", hold, { signal, passive: false });
  return () => fingers.size > 1;
}

/**
 * Does a finger that goes up or down scroll the page? The browser takes it away soon, but not at once.
 * @param {PointerEvent} event
 * @param {HTMLElement} stage
 */
function isPages({ pointerType }, { classList }) {
  return pointerType === "touch" && (classList.contains("av-whole") || !classList.contains("av-tapped"));
}

/**
 * Does a press begin to select text?
 * @param {PointerEvent} event
 * @param {HTMLElement} stage
 */
function selectsText({ target, pointerType, altKey }, stage) {
  if (pointerType !== "mouse" || !(target instanceof Element && target.closest("text"))) return false;
  stage.classList.toggle("av-selecting", altKey);
  return altKey || stage.classList.contains("av-whole");
}

/**
 * @param {HTMLElement} stage
 * @param {Viewport} viewport
 * @param {Hands} hands
 * @param {AbortSignal} signal
 */
function listenToPointer(stage, viewport, hands, signal) {
  const hasTwo = listenToFingers(stage, viewport, signal);
  /** @type {{ x: number, y: number, id: number, at: string, moved: boolean, selects: boolean } | null} */
  let held = null;
  const options = { signal };
  stage.addEventListener(
    "pointerdown",
    (event) => {
      if (event.button !== 0 || (event.target instanceof Element && event.target.closest("button, [role=button], .av-minimap")))
        return;
      const opens = event.target instanceof Element ? event.target.closest("[data-opens]")?.getAttribute("data-opens") : null;
      const at = opens ? `open:${opens}` : addressOf(event.target);
      held = { x: event.clientX, y: event.clientY, id: event.pointerId, at, moved: false, selects: selectsText(event, stage) };
    },
    options,
  );
  stage.addEventListener(
    "pointermove",
    (event) => {
      if (hasTwo()) held = null;
      if (!held || event.pointerId !== held.id) return;
      const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
      if (!held.moved && Math.hypot(dx, dy) < SLACK) return;
      if (held.selects) return void (held.moved = true);
      if (isPages(event, stage) && Math.abs(dx) <= Math.abs(dy)) return void (held.moved = true);
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
 * @param {Hands} hands
 * @param {AbortSignal} signal
 */
export function listenToHands(stage, viewport, hands, signal) {
  listenToWheel(stage, viewport, signal);
  listenToPointer(stage, viewport, hands, signal);
}
