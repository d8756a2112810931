// The stage: the picture that can be panned and zoomed, the marks over it, and the map beside it.

import { Beyond } from "./beyond.js";
import { READINGS, around, belowCode, heightFor, readable, readingOf } from "./camera.js";
import { html } from "../shared/elements.js";
import { Culling } from "./culling.js";
import { Detail } from "./detail.js";
import { copyPicture, fileOf, offer } from "./download.js";
import { hiddenAddresses, hiddenAt, positionAt } from "../pass/forward.js";
import { listenToHands } from "./gestures.js";
import { Graph } from "../pass/graph.js";
import { MapPicture } from "../map/picture.js";
import { Marks, tagged } from "./marks.js";
import { Minimap } from "./minimap.js";
import { Hover, towards } from "../figure/neighbours.js";
import { Peek } from "../figure/peek.js";
import { Picture } from "../figure/picture.js";
import { isStill, onPage } from "../shared/motion.js";
import { Viewport } from "./viewport.js";

/** @typedef {import("../pass/forward.js").Position} Position */
/** @typedef {import("../figure/neighbours.js").Direction} Direction */
/** @typedef {import("../pass/history.js").Frame} Frame */
/** @typedef {import("../shared/words.js").Say} Say */
/**
 * @typedef {object} StageContext
 * @property {string} svg
 * @property {string} full SVG text of the full figure, if `svg` is a shorter one
 * @property {boolean} opensCalled the box that a step has called opens in place
 * @property {import("../map/layout.js").MapData} [map]
 * @property {import("../pass/graph.js").Document} document
 * @property {Position[]} forward
 * @property {string} ready the node that runs first
 * @property {Say} say
 * @property {(id: string) => void} select
 * @property {(id: string) => void} open
 * @property {(node: string) => void} toggle a breakpoint
 * @property {AbortSignal} signal
 */

const [ZOOM, PAN] = [1.25, 80]; // of one press: a factor, and px
const [LOW, HIGH, LEAST_STAGE] = [200, 340, 620]; // px: the least height, that beside a panel, and the least width there
const SMALL = 480; // px of a stage, as on a phone: below it a minimap would take a quarter of the figure
const [FOOT, BORDERS] = [10, 4]; // px of the widget below the stage; of its borders, and of what is rounded in it

export class Stage {
  /** @param {StageContext} context */
  constructor({ svg, full, opensCalled, map, document, forward, ready, say, select, open, toggle, signal }) {
    this.forward = forward;
    this.text = svg;
    this.reading = READINGS.figure;
    this.cards = map ? new MapPicture(svg, map) : undefined;
    this.picture = this.cards ?? new Picture(svg);
    this.graph = new Graph(document, (id) => Boolean(map) || this.picture.boxes.has(id));
    this.root = html("div", "av-stage");
    const viewBox = this.picture.svg.getAttribute("viewBox") ?? "0 0 1 1";
    this.marks = new Marks(this.picture.boxes, viewBox, { say, title: (id) => this.graph.title(id), toggle, signal });
    const [sheet, over] = [html("div", "av-sheet"), html("div", "av-over")];
    this.beyond = new Beyond();
    this.peek = full ? new Peek(full, this.picture) : undefined;
    const layers = [this.picture.svg, ...(this.peek ? [this.peek.svg] : []), this.marks.next, this.marks.svg];
    this.viewport = new Viewport(this.root, sheet, layers, this.picture, () => this.moved());
    this.presents(false);
    this.culling = new Culling(this.picture, this.viewport);
    this.detail = new Detail(this.picture, this.viewport, (id) => this.graph.short(id));
    this.map = new Minimap(this.picture, this.viewport, say("minimap"), signal);
    over.append(this.marks.next, this.marks.svg);
    this.picture.svg.classList.add("av-picture");
    sheet.append(this.picture.svg, ...(this.peek ? [this.peek.svg] : []), over);
    this.root.append(sheet, this.beyond.root);
    this.hover = new Hover(this.picture, this.graph);
    const hands = {
      hover: (/** @type {string} */ at) => this.hover.over(at),
      click: (/** @type {string} */ at) => select(this.graph.owner(at)),
      toggle: (/** @type {string} */ id) => this.toggleCard(id),
      open: (/** @type {string} */ at) => open(this.graph.owner(at)),
    };
    listenToHands(this.root, this.viewport, hands, signal);
    this.root.addEventListener("pointermove", () => (this.hover.isResting = false), { signal });
    window.addEventListener("beforeprint", () => this.culling.all(), { signal });
    signal.addEventListener("abort", () => [this.viewport, this.hover].map((moving) => moving.still()));
    this.opensCalled = opensCalled;
    this.pointed = this.chosen = ""; // boxes that the pointer is at, and that are selected
    this.lit = this.called = this.due = this.failed = ""; // a box, what has run, the box of what is next, where a run broke off
    this.say = say;
    this.seen = ""; // for which amount of room the stage is made
    this.heightIn = (/** @type {number} */ most) => most; // px of what there is at most
    this.height = this.top = this.page = 0; // px, from the top of the widget, and of the page that a person sees at once
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
    this.beyond.show(this.viewport, this.picture.boxes.get(this.due));
  }

  /**
   * Letters for a room full of people, or for one.
   * @param {boolean} presented
   */
  presents(presented) {
    this.presented = presented;
    const [near, far] = this.cards ? [READINGS.map, READINGS.map_presented] : [READINGS.figure, READINGS.figure_presented];
    this.reading = presented ? far : near;
    Object.assign(this.viewport, { reading: this.readingOf(this.text), own: false });
  }

  /** Presented, no detail is whole with large letters: all of it, with smaller ones. @param {boolean} tight */
  tighten(tight) {
    if (this.presented && !this.cards) this.viewport.reading = this.readingOf(this.text, tight);
  }

  /** At which scales a picture is read here. @param {string} svg @param {boolean} [tight] */
  readingOf(svg, tight = false) {
    return this.cards ? this.reading : readingOf(tight && this.presented ? READINGS.figure_tight : this.reading, svg);
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
      download: () => offer(new Blob([fileOf(this.picture, this.root)], { type: "image/svg+xml" }), "autograd.svg"),
      copy: () => void copyPicture(fileOf(this.picture, this.root), this.picture, this.root),
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
    const [{ boxes }, from] = [this.picture, this.picture.boxes.get(id)];
    if (!from) return boxes.has(this.lit) ? this.lit : (boxes.keys().next().value ?? "");
    const beside = [...this.graph.neighbours(id)].flatMap((other) => boxes.get(other) ?? []);
    return towards(from, beside, direction)?.id ?? id;
  }

  /**
   * Open a card of a map, or close it.
   * @param {string} id
   */
  toggleCard(id) {
    if (!this.cards?.canOpen(id)) return false;
    this.cards.toggle(id, !this.cards.opened.has(id), !isStill());
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

  /** @param {{ pointed?: string, chosen?: string }} of boxes of a short figure that open in place, if there is no better one */
  open(of) {
    Object.assign(this, of);
    this.peekNow();
  }

  /** What is pointed at, else what is selected, else what has been called, in full; the last only where no values are seen. */
  peekNow() {
    const { graph } = this;
    const { view, room, picture } = this.viewport;
    const [x, y] = [picture.x - view.x / view.scale, picture.y - view.y / view.scale];
    const seen = { x, y, width: room.width / view.scale, height: room.height / view.scale };
    const id = this.pointed || this.chosen || (this.opensCalled ? this.lit : "");
    const isGroup = Boolean((graph.nodes.get(id) ?? graph.ops.get(id))?.members); // in full it says no more
    if (this.peek) this.marks.opened(this.pointed ? "" : id, this.peek.show(isGroup ? "" : id, this.picture.shown, seen));
  }

  /** @param {string} id */
  jump(id) {
    if (this.cards?.uncover(id)) this.renew();
    const box = this.picture.boxes.get(id);
    if (!box) return;
    this.viewport.come(box);
    if (this.root.isConnected) onPage(this.root);
  }

  /**
   * Show a step.
   * @param {Frame[]} frames those that have run
   * @param {number} step
   * @param {string} next what runs next
   * @param {boolean} moving let the numbers run
   */
  show(frames, step, next, moving) {
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
    this.showDue(step < 0 ? (this.forward[step + this.forward.length]?.op ?? "") : next);
    this.watched = this.watchedAt(step);
    this.follow();
    this.peekNow();
  }

  /** @param {string} next what runs next */
  showDue(next) {
    this.due = next && this.picture.visible(next);
    this.picture.mark("due", this.picture.at([this.due]));
    this.picture.expectGradients(this.graph.into(this.due));
    this.beyond.text = this.say("next_tag", { name: this.graph[this.cards ? "short" : "label"](this.due) });
    this.marks.due(this.due, this.beyond.text);
  }

  follow() {
    this.map.light(this.picture.boxes.get(this.lit));
    const seen = this.watched.flatMap((id) => this.picture.boxes.get(id) ?? []);
    const [box, ...others] = seen.map((box) => (box.id === this.due ? tagged(box) : box));
    if (box) this.viewport.follow(box, others);
    this.beyond.show(this.viewport, this.picture.boxes.get(this.due)); // another box may be next where nothing moves
  }

  /**
   * What a person looks at: what has run, what is next, and the leaf that was changed; before the first step of a pass, the root;
   * before the first op, what it takes.
   * @param {number} step
   */
  watchedAt(step) {
    if (step === 0) return this.first.map((id) => this.picture.visible(id));
    if (!this.lit) return [this.due, ...(this.graph.ops.get(this.due)?.inputs ?? []).flatMap(({ tensor }) => tensor ?? [])];
    return [this.lit, this.due, this.graph.nodes.get(this.lit)?.variable ?? ""];
  }

  /** @param {string} node */
  fail(node) {
    if (node === this.failed) return;
    this.failed = node;
    this.picture.mark("failed", this.picture.at([node]));
    this.marks.fail(node);
  }

  /**
   * px of the stage in which a picture is read with ease; a picture too wide for it does not ask for more.
   * @param {number} width what there is
   * @param {number} seen px of the page that a person sees at once
   */
  needed(width, seen) {
    const { picture, viewport } = this;
    const needed = picture.width * viewport.reading.easy + BORDERS;
    const map = width < SMALL || this.fits("whole", needed, seen) ? 0 : this.map.width;
    return needed * 0.75 > width ? LEAST_STAGE : Math.min(needed + map, width);
  }

  /** px of its height at most. @param {number} seen */
  most(seen) {
    return Math.max(LOW, seen - this.root.offsetTop - FOOT);
  }

  /** Does what stands above it take more room? The picture stays where it is on the page. */
  lowered() {
    const px = this.fitted();
    if (!px) return;
    this.viewport.lowered(px);
    this.follow();
  }

  /** Make it lower by what stands above it now; presented, as high as the window lets it be. @returns {number} px that it loses */
  fitted() {
    const px = this.root.offsetTop - this.top;
    if (!this.seen || !px) return 0;
    const lost = this.presented ? this.height - this.heightIn(this.most(this.page)) : px;
    if (this.height - lost < LOW) return 0;
    this.top += px;
    this.height -= lost;
    this.root.style.height = `${this.height}px`;
    return lost;
  }

  /** Is all of it read at once, or a map from side to side? @param {"large" | "whole" | "wide"} how @param {number} width @param {number} seen */
  fits(how, width, seen) {
    const [{ picture, cards }, { whole, easy }] = [this, this.viewport.reading];
    const [wide, high] = [(width - BORDERS) / picture.width, (this.most(seen) - BORDERS) / picture.height];
    if (how === "wide") return Boolean(cards) && wide >= easy && this.most(seen) > 1.5 * HIGH;
    return Math.min(wide, high) >= (how === "large" ? Math.max(whole, easy) : whole);
  }

  /** Is nothing of it out of sight when it opens? @param {number} width @param {number} height px of the stage */
  seesAll(width, height) {
    const { picture, viewport } = this;
    const { scale } = readable(picture, { width, height }, viewport.first, viewport.reading);
    return picture.width * scale <= width + 1 && picture.height * scale <= height + 1;
  }

  /**
   * There is another amount of room.
   * @param {number} width of the stage and the map in px
   * @param {number} seen px of the page that a person sees at once
   * @param {boolean} beside there is a panel beside it
   * @param {boolean} [below] it stands below its code, and nothing over it will grow
   */
  resized(width, seen, beside, below = false) {
    const { picture, viewport } = this;
    const room = `${width} ${seen} ${beside} ${below} ${picture.height} ${viewport.reading.easy}`;
    if (!width || room === this.seen) return;
    this.seen = room;
    this.page = seen;
    this.top = this.root.offsetTop;
    const most = this.most(seen);
    this.map.wanted = width >= SMALL && !this.seesAll(width - BORDERS, most - BORDERS);
    const least = beside ? HIGH : Math.min(LOW, picture.height);
    const reading = below ? belowCode(viewport.reading, picture, seen) : viewport.reading;
    const wanted = (/** @type {number} */ most) => heightFor(picture, width - BORDERS, most - BORDERS, reading) + BORDERS;
    this.heightIn = (/** @type {number} */ most) => Math.round(Math.min(most, Math.max(wanted(most), least)));
    this.height = this.heightIn(most);
    this.root.style.height = `${this.height}px`;
    this.map.show();
    viewport.resized();
  }
}
