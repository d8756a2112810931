// The stage: the picture that can be panned and zoomed, the marks over it, the map, and the buttons for all that.

import { button, html } from "./elements.js";
import { Culling } from "./culling.js";
import { Detail } from "./detail.js";
import { fileOf, offer } from "./download.js";
import { hiddenAddresses, hiddenAt, positionAt } from "./forward.js";
import { listenToHands } from "./gestures.js";
import { Graph } from "./graph.js";
import { MapPicture } from "./map_picture.js";
import { Marks } from "./marks.js";
import { Minimap } from "./minimap.js";
import { Hover, towards } from "./neighbours.js";
import { Picture } from "./picture.js";
import { Viewport, around } from "./viewport.js";

/** @typedef {import("./forward.js").Position} Position */
/** @typedef {import("./neighbours.js").Direction} Direction */
/** @typedef {import("./picture.js").Frame} Frame */
/** @typedef {import("./words.js").Say} Say */
/**
 * @typedef {object} StageContext
 * @property {string} svg
 * @property {import("./map_layout.js").MapData} [map]
 * @property {import("./graph.js").Document} document
 * @property {Position[]} forward
 * @property {string} ready the node that runs first
 * @property {Say} say
 * @property {(id: string) => void} select
 * @property {(id: string) => void} open
 * @property {(node: string) => void} toggle a breakpoint
 * @property {() => boolean} hasFocus
 * @property {AbortSignal} signal
 */

const ZOOM = 1.25; // of one press
const PAN = 80; // px of one press
const [LOW, HIGH, TALL, SHARE] = [240, 340, 760, 0.75]; // px: the least height, the least beside a panel, the most; most of the window

export class Stage {
  /** @param {StageContext} context */
  constructor({ svg, map, document, forward, ready, say, select, open, toggle, hasFocus, signal }) {
    this.forward = forward;
    this.cards = map ? new MapPicture(svg, map) : undefined;
    this.picture = this.cards ?? new Picture(svg);
    this.graph = new Graph(document, (id) => Boolean(map) || this.picture.boxes.has(id));
    this.root = html("div", "av-stage");
    const viewBox = this.picture.svg.getAttribute("viewBox") ?? "0 0 1 1";
    this.marks = new Marks(this.picture.boxes, viewBox, { say, title: (id) => this.graph.title(id), toggle, signal });
    const sheet = html("div", "av-sheet");
    this.viewport = new Viewport(this.root, sheet, [this.picture.svg, this.marks.svg], this.picture, () => this.moved());
    if (map) [this.viewport.legible, this.viewport.easy] = [0.9, 0.65]; // it is read like a page, from side to side
    this.culling = new Culling(this.picture, this.viewport);
    this.detail = new Detail(this.picture, this.viewport, (id) => this.graph.short(id));
    this.map = new Minimap(this.picture, this.viewport, say("minimap"), signal);
    const over = html("div", "av-over");
    over.append(this.marks.svg);
    this.picture.svg.classList.add("av-picture");
    sheet.append(this.picture.svg, over);
    this.root.append(sheet, this.viewButtons(say, signal), this.map.root);
    this.hover = new Hover(this.picture, this.graph);
    const hands = {
      hover: (/** @type {string} */ at) => this.hover.over(at),
      click: (/** @type {string} */ at) => select(this.graph.owner(at)),
      toggle: (/** @type {string} */ id) => this.toggleCard(id),
      open: (/** @type {string} */ at) => open(this.graph.owner(at)),
    };
    listenToHands(this.root, this.viewport, hasFocus, hands, signal);
    signal.addEventListener("abort", () => clearTimeout(this.viewport.resting));
    this.lit = this.called = ""; // the box that is lit; what has run
    this.failed = "";
    this.first = [ready, ...(document.roots ?? [])];
    /** @type {string[]} boxes, the most important first */
    this.watched = this.first;
    const first = this.first.map((id) => this.picture.visible(id)).flatMap((id) => this.picture.boxes.get(id) ?? []);
    this.viewport.first = first.length ? around(first) : undefined;
  }

  moved() {
    this.detail.show();
    this.culling.show();
    this.map.show();
    this.viewport.corner = this.map.size;
  }

  /**
   * @param {Say} say
   * @param {AbortSignal} signal
   */
  viewButtons(say, signal) {
    const group = html("div", "av-view");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", say("view"));
    const actual = button("actual", `${say("zoom")} 100 %`, () => this.act("actual"), signal);
    actual.textContent = "1:1";
    const names = ["zoom_out", "fit", "zoom_in", "download"];
    const [out, fit, into, down] = names.map((name) => button(name, say(name), () => this.act(name), signal));
    group.append(out, fit, actual, into, down);
    return group;
  }

  /**
   * What a key or a button of the stage means; false if it is none of its.
   * @param {string} action
   */
  act(action) {
    const { viewport } = this;
    /** @type {Record<string, () => void>} */
    const acts = {
      fit: () => viewport.fit(),
      actual: () => viewport.actual(),
      zoom_in: () => viewport.zoom(ZOOM),
      zoom_out: () => viewport.zoom(1 / ZOOM),
      download: () => offer(fileOf(this.picture, this.root), "autograd.svg"),
      pan_up: () => viewport.pan(0, PAN),
      pan_down: () => viewport.pan(0, -PAN),
      pan_left: () => viewport.pan(PAN, 0),
      pan_right: () => viewport.pan(-PAN, 0),
    };
    acts[action]?.();
    return action in acts;
  }

  /**
   * The neighbour of a box in a direction; without a box, where the step is.
   * @param {string} id
   * @param {Direction} direction
   */
  neighbour(id, direction) {
    if (this.cards) return this.cards.neighbour(id || this.lit, direction);
    const { boxes } = this.picture;
    const from = boxes.get(id);
    if (!from) return boxes.has(this.lit) ? this.lit : (boxes.keys().next().value ?? "");
    const beside = [...this.graph.neighbours(id)].flatMap((other) => boxes.get(other) ?? []);
    return towards(from, beside, direction)?.id ?? id;
  }

  /**
   * Open a card of a map, or close it.
   * @param {string} id
   */
  toggleCard(id) {
    const { cards } = this;
    if (!cards?.canOpen(id)) return false;
    cards.toggle(id, !cards.opened.has(id), !matchMedia("(prefers-reduced-motion: reduce)").matches);
    this.renew();
    return true;
  }

  /** Boxes have come, gone, or moved. */
  renew() {
    this.marks.renew(this.picture.svg.getAttribute("viewBox") ?? "0 0 1 1");
    this.map.measure();
    this.viewport.renew();
    this.lit = this.picture.visible(this.called);
    this.picture.light(this.lit, []);
    this.map.light(this.picture.boxes.get(this.lit));
  }

  /** @param {string} id */
  jump(id) {
    if (this.cards?.uncover(id)) this.renew();
    const box = this.picture.boxes.get(id);
    if (!box) return;
    this.viewport.own = true; // what was looked for stays in sight when the room changes
    this.viewport.reveal(box);
  }

  /**
   * Show a step.
   * @param {Frame[]} frames those that have run
   * @param {number} step
   * @param {boolean} moving let the numbers run
   */
  show(frames, step, moving) {
    const { picture, graph } = this;
    const frame = frames.at(-1);
    const forward = picture.goto(frames);
    const position = positionAt(this.forward, step);
    this.called = frame?.node ?? position?.op ?? "";
    this.lit = picture.visible(this.called);
    picture.light(this.lit, frame?.fresh ?? []);
    const hidden = hiddenAddresses(hiddenAt(this.forward, step), graph);
    picture.mark("dim", picture.at(hidden));
    this.marks.dim(hidden);
    if (forward && moving && frame) picture.run(frame);
    this.watched = this.watchedAt(step);
    this.follow();
  }

  /**
   * The corner of a box, from the picture's.
   * @param {string} id
   */
  cornerOf(id) {
    const box = this.picture.boxes.get(id);
    return box && { x: box.x - this.picture.x, y: box.y - this.picture.y };
  }

  follow() {
    this.map.light(this.picture.boxes.get(this.lit));
    const [box, ...others] = this.watched.flatMap((id) => this.picture.boxes.get(id) ?? []);
    if (box) this.viewport.follow(box, others);
  }

  /**
   * What a person looks at: what has run, and the leaf that it changed; before the first step of a pass, what runs next, and the root.
   * @param {number} step
   */
  watchedAt(step) {
    if (step === 0) return this.first.map((id) => this.picture.visible(id));
    const next = this.forward[step + this.forward.length]?.op;
    return this.lit ? [this.lit, this.graph.nodes.get(this.lit)?.variable ?? ""] : [next ?? ""];
  }

  /** @param {string} node */
  fail(node) {
    if (node === this.failed) return;
    this.failed = node;
    this.picture.mark("failed", this.picture.at([node]));
    this.marks.fail(node);
  }

  /**
   * There is another amount of room.
   * @param {number} width of the stage in px
   * @param {boolean} beside there is a panel beside it
   */
  resized(width, beside) {
    const { picture, viewport } = this;
    const wanted = picture.height * Math.min(1, Math.max(0.6, width / picture.width));
    const height = Math.min(Math.max(wanted, beside ? HIGH : Math.min(LOW, picture.height)), TALL, SHARE * innerHeight);
    this.root.style.height = `${Math.round(height)}px`;
    viewport.resized();
  }
}
