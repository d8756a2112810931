// The whole picture as small rectangles, with a frame around what is seen. It stands beside the stage, where the picture is not whole.

import { html } from "../shared/elements.js";

/** @typedef {import("../figure/picture.js").Box} Box */
/** @typedef {import("../figure/picture.js").Picture} Picture */
/** @typedef {import("./viewport.js").Viewport} Viewport */

const [SLIM, WIDTH, HEIGHT] = [48, 80, 260]; // px at most: the width for a high picture, and for a wide one; the height
const GAP = 4; // px between it and the stage
const LEAST_SIDE = 12; // px of a very long picture's short side, which is stretched to that
const EDGED = 5; // px of the map; a smaller box is all edge
const COLOURS = ["green", "yellow", "brown", "blue"];

/**
 * Px of the map for one of the picture, across and down: as large as there is room.
 * @param {{ width: number, height: number }} picture
 * @returns {[across: number, down: number]}
 */
export function mapScale({ width, height }) {
  const scale = Math.min((width < height ? SLIM : WIDTH) / width, HEIGHT / height);
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
    this.wanted = false; // is there a place for it?
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
    this.root.addEventListener(
      "pointerdown",
      (event) => {
        this.root.setPointerCapture(event.pointerId);
        go(event);
      },
      { signal },
    );
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

  /** px that it takes beside the stage. */
  get width() {
    return this.picture.width * this.scale[0] + GAP;
  }

  /** After every movement of the picture. */
  show() {
    const { viewport, scale } = this;
    if (this.root.hidden === this.wanted) this.root.hidden = !this.wanted;
    if (!this.wanted || !viewport.room.width) return;
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
      const colour = COLOURS.includes(box.colour ?? "") ? box.colour : "brown";
      const place = /** @type {const} */ ([box.x - picture.x, box.y - picture.y, Math.max(box.w, w), Math.max(box.h, h)]);
      const isFilled = box.kind === "frame" || (box.w > EDGED / scale[0] && box.h > EDGED / scale[1]);
      pen.fillStyle = pen.strokeStyle = this.palette[`${colour}-stroke`];
      if (isFilled) pen.fillStyle = this.palette[`${colour}-fill`];
      pen.lineWidth = 1 / Math.max(...scale);
      if (box.kind === "frame") pen.globalAlpha = 0.3;
      pen.fillRect(...place);
      pen.globalAlpha = 1;
      if (isFilled) pen.strokeRect(...place);
    }
  }
}
