// The whole picture as small rectangles, with a frame around what is seen. Only where the picture does not fit.

import { html } from "./elements.js";

/** @typedef {import("./picture.js").Box} Box */
/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./viewport.js").Viewport} Viewport */

const WIDTH = 150; // px at most
const HEIGHT = 130;
const MOST_SEEN = 0.6; // share of the picture; where more is seen, a map would only stand in the way
/** @type {Record<string, string>} kind of box -> colour */
const COLOURS = { op: "brown-stroke", node: "blue-stroke", accumulate: "blue-stroke" };

/**
 * The size of the map of a picture: as large as there is room.
 * @param {{ width: number, height: number }} picture
 */
export function mapScale(picture) {
  return Math.min(WIDTH / picture.width, HEIGHT / picture.height);
}

export class Minimap {
  /**
   * @param {Picture} picture
   * @param {Viewport} viewport
   * @param {string} label
   * @param {AbortSignal} signal
   */
  constructor(picture, viewport, label, signal) {
    this.picture = picture;
    this.viewport = viewport;
    this.scale = mapScale(picture);
    this.root = html("div", "av-minimap");
    this.root.title = label;
    this.root.setAttribute("aria-hidden", "true"); // the keys of the picture do the same
    this.root.style.width = `${Math.max(12, picture.width * this.scale)}px`;
    this.root.style.height = `${Math.max(12, picture.height * this.scale)}px`;
    this.canvas = html("canvas", "");
    this.frame = html("div", "av-seen");
    this.spot = html("div", "av-spot");
    this.root.append(this.canvas, this.spot, this.frame);
    this.root.hidden = true;
    /** @type {Record<string, string>} colours, given: asking the page for them would style it in the middle of a step */
    this.palette = {};
    /** @type {Record<string, string> | undefined} in which it is drawn */
    this.drawn = undefined;
    const go = (/** @type {PointerEvent} */ event) => {
      if (!(event.buttons & 1)) return;
      const at = this.root.getBoundingClientRect();
      viewport.centre(picture.x + (event.clientX - at.left) / this.scale, picture.y + (event.clientY - at.top) / this.scale);
    };
    this.root.addEventListener("pointerdown", (event) => {
      this.root.setPointerCapture(event.pointerId);
      go(event);
    }, { signal });
    this.root.addEventListener("pointermove", go, { signal });
  }

  /** After every movement of the picture. */
  show() {
    const { viewport, scale } = this;
    const hidden = !viewport.room.width || viewport.share > MOST_SEEN;
    if (this.root.hidden !== hidden) this.root.hidden = hidden;
    if (hidden) return;
    this.draw();
    const { x, y, scale: zoom } = viewport.view;
    const by = scale / zoom;
    this.frame.style.transform = `translate(${-x * by}px, ${-y * by}px)`;
    this.frame.style.width = `${viewport.room.width * by}px`;
    this.frame.style.height = `${viewport.room.height * by}px`;
  }

  /**
   * Where the step is.
   * @param {Box | undefined} box
   */
  light(box) {
    this.spot.hidden = !box;
    if (!box) return;
    const { picture, scale } = this;
    const [x, y] = [(box.x + box.w / 2 - picture.x) * scale, (box.y + box.h / 2 - picture.y) * scale];
    this.spot.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** @param {Record<string, string>} palette */
  paint(palette) {
    this.palette = palette;
    this.show();
  }

  /** Once for each palette. */
  draw() {
    if (this.palette === this.drawn) return;
    this.drawn = this.palette;
    const sharp = globalThis.devicePixelRatio || 1;
    const { picture, scale } = this;
    this.canvas.width = Math.ceil(picture.width * scale * sharp);
    this.canvas.height = Math.ceil(picture.height * scale * sharp);
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.scale(scale * sharp, scale * sharp);
    const least = 1.5 / scale;
    for (const box of picture.boxes.values()) {
      const kind = COLOURS[box.kind] ?? "green-stroke";
      pen.fillStyle = this.palette[kind];
      pen.fillRect(box.x - picture.x, box.y - picture.y, Math.max(box.w, least), Math.max(box.h, least));
    }
  }
}
