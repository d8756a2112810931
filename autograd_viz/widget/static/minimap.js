// The whole picture as small rectangles, with a frame around what is seen. Only where the picture does not fit.

import { html } from "./elements.js";

/** @typedef {import("./picture.js").Box} Box */
/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./viewport.js").Viewport} Viewport */

const WIDTH = 150; // px at most
const HEIGHT = 130;
const BESIDE = 8; // px between it and the edge of the stage, its border included
const LEAST_SIDE = 12; // px of a very long picture's short side, which is stretched to that
const MOST_SEEN = 0.6; // share of the picture; where more is seen, a map would only stand in the way
/** @type {Record<string, string>} kind of box -> colour */
const COLOURS = { op: "brown-stroke", card: "brown-stroke", frame: "brown-fill", result: "brown-stroke", node: "blue-stroke", accumulate: "blue-stroke" };

/**
 * Px of the map for one of the picture, across and down: as large as there is room.
 * @param {{ width: number, height: number }} picture
 * @returns {[across: number, down: number]}
 */
export function mapScale({ width, height }) {
  const scale = Math.min(WIDTH / width, HEIGHT / height);
  return [Math.max(scale, LEAST_SIDE / width), Math.max(scale, LEAST_SIDE / height)];
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
    /** @type {[number, number]} */
    this.scale = [1, 1];
    this.root = html("div", "av-minimap");
    this.root.title = label;
    this.root.setAttribute("aria-hidden", "true"); // the keys of the picture do the same
    this.canvas = html("canvas", "");
    this.frame = html("div", "av-seen");
    this.spot = html("div", "av-spot");
    this.root.append(this.canvas, this.spot, this.frame);
    this.root.hidden = true;
    /** @type {Record<string, string>} colours, given: asking the page for them would style it in the middle of a step */
    this.palette = {};
    /** @type {Record<string, string> | undefined} in which it is drawn */
    this.drawn = undefined;
    this.measure();
    const go = (/** @type {PointerEvent} */ event) => {
      if (!(event.buttons & 1)) return;
      const at = this.root.getBoundingClientRect();
      const [across, down] = this.scale;
      viewport.centre(picture.x + (event.clientX - at.left) / across, picture.y + (event.clientY - at.top) / down);
    };
    this.root.addEventListener("pointerdown", (event) => {
      this.root.setPointerCapture(event.pointerId);
      go(event);
    }, { signal });
    this.root.addEventListener("pointermove", go, { signal });
  }

  /** As large as the picture asks for. */
  measure() {
    const { picture, root } = this;
    this.scale = mapScale(picture);
    this.drawn = undefined;
    root.style.width = `${picture.width * this.scale[0]}px`;
    root.style.height = `${picture.height * this.scale[1]}px`;
  }

  /** How much of the stage's corner it covers. */
  get size() {
    const { picture, scale, root } = this;
    if (root.hidden) return { width: 0, height: 0 };
    return { width: picture.width * scale[0] + 2 * BESIDE, height: picture.height * scale[1] + 2 * BESIDE };
  }

  /** After every movement of the picture. */
  show() {
    const { viewport, scale } = this;
    const hidden = !viewport.room.width || viewport.share > MOST_SEEN;
    if (this.root.hidden !== hidden) this.root.hidden = hidden;
    if (hidden) return;
    this.draw();
    const { x, y, scale: zoom } = viewport.view;
    const [across, down] = [scale[0] / zoom, scale[1] / zoom];
    this.frame.style.transform = `translate(${-x * across}px, ${-y * down}px)`;
    this.frame.style.width = `${viewport.room.width * across}px`;
    this.frame.style.height = `${viewport.room.height * down}px`;
  }

  /**
   * Where the step is.
   * @param {Box | undefined} box
   */
  light(box) {
    this.spot.hidden = !box;
    if (!box) return;
    const { picture, scale } = this;
    const [x, y] = [(box.x + box.w / 2 - picture.x) * scale[0], (box.y + box.h / 2 - picture.y) * scale[1]];
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
    this.canvas.width = Math.ceil(picture.width * scale[0] * sharp);
    this.canvas.height = Math.ceil(picture.height * scale[1] * sharp);
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.scale(scale[0] * sharp, scale[1] * sharp);
    const [w, h] = [1.5 / scale[0], 1.5 / scale[1]]; // px of the smallest box
    for (const box of picture.boxes.values()) {
      const kind = COLOURS[box.kind] ?? "green-stroke";
      pen.fillStyle = this.palette[kind];
      if (box.kind === "frame") pen.globalAlpha = 0.3;
      pen.fillRect(box.x - picture.x, box.y - picture.y, Math.max(box.w, w), Math.max(box.h, h));
      pen.globalAlpha = 1;
    }
  }
}
