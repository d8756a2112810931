// A box of a short figure in full, in place, over its neighbours. Nothing is laid out anew.

import { Picture } from "./picture.js";

/** @typedef {import("./picture.js").Box} Box */
/** @typedef {import("../pass/history.js").Frame} Frame */
/** @typedef {{ x: number, y: number, width: number, height: number }} Edges */

const AWAY = 2; // px of the drawing between the box and the stage's edge

export class Peek {
  /**
   * @param {string} source SVG text of the full figure
   * @param {Picture} picture the short one
   */
  constructor(source, picture) {
    this.source = source;
    this.picture = picture;
    this.svg = /** @type {SVGSVGElement} */ (picture.svg.cloneNode(false));
    this.svg.classList.add("av-peek");
    this.svg.setAttribute("aria-hidden", "true"); // the panel says it
    /** @type {Picture | undefined} made when somebody looks */
    this.full = undefined;
  }

  /**
   * @param {string} id of a box; "" for none
   * @param {Frame[]} frames that have run
   * @param {Edges} seen in the coordinates of the drawing
   * @returns {Edges | undefined} where it stands
   */
  show(id, frames, seen) {
    const from = this.picture.boxes.get(id);
    this.svg.replaceChildren();
    if (!from) return undefined;
    this.full ??= new Picture(this.source);
    this.full.goto(frames);
    const [[element], box] = [this.full.at([id]), this.full.boxes.get(id)];
    if (!element || !box) return undefined;
    const [x, y] = standOver(from, box, seen);
    const copy = /** @type {Element} */ (element.cloneNode(true));
    copy.setAttribute("transform", `translate(${x} ${y})`);
    copy.classList.add("lit");
    this.svg.append(copy);
    return { x: box.x + x, y: box.y + y, width: box.w, height: box.h };
  }
}

/**
 * How far a box moves to stand over another, inside of what is seen.
 * @param {Box} from
 * @param {Box} box
 * @param {Edges} seen
 * @returns {[number, number]}
 */
export function standOver(from, box, seen) {
  const along = (
    /** @type {number} */ middle,
    /** @type {number} */ size,
    /** @type {number} */ low,
    /** @type {number} */ room,
  ) => Math.max(low + AWAY, Math.min(low + room - size - AWAY, middle - size / 2));
  const isNode = ["node", "accumulate"].includes(box.kind); // right of it and above it are numbers; above it is what is next
  const middle = isNode ? from.x + from.w - box.w / 2 : from.x + from.w / 2;
  const level = isNode ? from.y + box.h / 2 : from.y + from.h / 2;
  return [along(middle, box.w, seen.x, seen.width) - box.x, along(level, box.h, seen.y, seen.height) - box.y];
}
