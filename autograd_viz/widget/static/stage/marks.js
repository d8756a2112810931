// A second drawing over the picture, in its coordinates: what is selected, what is next, breakpoints, the node that failed.

import { svgElement } from "../shared/draw.js";

/** @typedef {import("../figure/picture.js").Box} Box */
/** @typedef {import("../shared/words.js").Say} Say */

const RADIUS = 8; // px of a breakpoint
const RING = 3; // px from a box to the ring around it: a label on an arrow begins not much further away
const DUE = 7; // px to the ring of what is next: both can be seen
const [TAG, LETTER] = [16, 0.602 * 11.4]; // px of the height of its tag, and of a letter's width

/**
 * A box with the ring and the tag of what is next.
 * @param {import("./camera.js").Rect} box
 * @returns {import("./camera.js").Rect}
 */
export function tagged({ x, y, w, h }) {
  return { x: x - DUE - 2, y: y - TAG, w: w + 2 * DUE + 4, h: h + TAG + DUE + 2 };
}

export class Marks {
  /**
   * @param {Map<string, Box>} boxes
   * @param {string} viewBox
   * @param {{ say: Say, title: (id: string) => string, toggle: (node: string) => void, signal: AbortSignal }} context
   */
  constructor(boxes, viewBox, { say, title, toggle, signal }) {
    this.boxes = boxes;
    this.context = { say, title };
    this.svg = svgElement("svg", { viewBox, class: "av-marks", role: "group" });
    this.svg.setAttribute("aria-label", say("breakpoints"));
    this.ring = svgElement("rect", { class: "av-ring", rx: 14, visibility: "hidden" });
    this.next = svgElement("svg", { viewBox, class: "av-due", visibility: "hidden", "aria-hidden": "true" }); // with nothing else to lay out
    this.next.append(
      svgElement("rect", { class: "av-due-ring", rx: 18 }),
      svgElement("rect", { class: "av-due-tag", height: TAG, rx: 4 }),
    );
    this.next.append(svgElement("text", { "text-anchor": "end", "font-size": 11.4 }));
    this.nextBox = this.nextText = "";
    this.alarm = svgElement("g", { class: "av-alarm", visibility: "hidden", "aria-hidden": "true" });
    this.alarm.append(svgElement("circle", { r: 13 }), svgElement("text", { "text-anchor": "middle", y: 7, "font-size": 20 }));
    this.alarm.children[1].textContent = "!";
    /** @type {Map<string, SVGElement>} */
    this.dots = new Map();
    this.svg.append(this.ring, this.alarm);
    /** @type {Set<string>} */
    this.pressed = new Set();
    /** @type {Set<string>} */
    this.dimmed = new Set();
    this.reachable = "";
    this.renew(viewBox);
    const act = (/** @type {Event} */ event) => {
      const dot = event.target instanceof Element ? event.target.closest(".av-dot") : null;
      const node = dot?.getAttribute("data-node");
      if (node) toggle(node);
      return Boolean(node);
    };
    this.svg.addEventListener("click", act, { signal });
    this.svg.addEventListener(
      "keydown",
      (event) => {
        if ((event.key === "Enter" || event.key === " ") && act(event)) event.preventDefault();
      },
      { signal },
    );
  }

  /**
   * There are other boxes, or they stand elsewhere.
   * @param {string} viewBox
   */
  renew(viewBox) {
    for (const svg of [this.svg, this.next]) svg.setAttribute("viewBox", viewBox);
    for (const [id, dot] of this.dots) if (!this.boxes.has(id)) dot.remove();
    const known = this.dots;
    this.dots = new Map();
    for (const box of this.boxes.values()) if (isNode(box)) this.dots.set(box.id, known.get(box.id) ?? this.dot(box));
    for (const [id, dot] of this.dots) {
      const box = /** @type {Box} */ (this.boxes.get(id));
      for (const circle of dot.children)
        for (const side of /** @type {const} */ (["x", "y"])) circle.setAttribute(`c${side}`, String(box[side] + 4));
    }
    const nodes = [...this.dots.keys()];
    const names = toldApart(nodes.map((id) => this.context.title(id)));
    nodes.forEach((id, k) => this.dots.get(id)?.setAttribute("aria-label", `${this.context.say("breakpoint")}: ${names[k]}`));
    this.select(this.reachable);
    this.due(this.nextBox, this.nextText);
  }

  /** @param {Box} box */
  dot(box) {
    const made = svgElement("g", {
      class: "av-dot",
      role: "button",
      tabindex: -1,
      "aria-pressed": String(this.pressed.has(box.id)),
      "data-node": box.id,
    });
    made.append(svgElement("circle", { r: RADIUS + 6, class: "av-reach" }), svgElement("circle", { r: RADIUS }));
    this.alarm.before(made);
    return made;
  }

  /** @param {string} id */
  select(id) {
    const box = this.boxes.get(id);
    this.ring.setAttribute("visibility", box ? "visible" : "hidden");
    if (box) place(this.ring, box, RING);
    this.dots.get(this.reachable)?.setAttribute("tabindex", "-1");
    this.dots.get(id)?.setAttribute("tabindex", "0"); // one stop of the Tab key, not one for each node
    this.reachable = id;
  }

  /**
   * A ring and a tag on what is next.
   * @param {string} id
   * @param {string} text
   */
  due(id, text) {
    const box = this.boxes.get(id);
    [this.nextBox, this.nextText] = [id, text];
    this.next.setAttribute("visibility", box ? "visible" : "hidden");
    if (!box) return;
    const [ring, tag, word] = /** @type {any} */ (this.next.children);
    const most = Math.max(4, Math.floor((box.w + 24) / LETTER) - 1);
    const said = text.length > most ? text.replace(/ \(.*$/, "") : text; // its name alone, rather than half a bracket
    const shown = said.length > most ? `${said.slice(0, most - 1)}…` : said;
    const [width, right, top] = [(columnsOf(shown) + 1) * LETTER, box.x + box.w - 2, box.y - TAG + 3];
    place(ring, box, DUE);
    for (const [name, value] of Object.entries({ x: right - width, y: top, width })) tag.setAttribute(name, String(value));
    for (const [name, value] of Object.entries({ x: right - LETTER / 2, y: top + 12 })) word.setAttribute(name, String(value));
    word.textContent = shown;
  }

  /**
   * A box has opened in place: its breakpoint goes to its corner, unless a hand is on the way to it; those that it covers go.
   * @param {string} own its node
   * @param {import("../figure/peek.js").Edges} [edges] of the box; undefined: none is open
   */
  opened(own, edges) {
    for (const [id, dot] of this.dots) {
      const box = /** @type {Box} */ (this.boxes.get(id));
      const [x, y] = [box.x - (edges?.x ?? Infinity), box.y - (edges?.y ?? Infinity)];
      const isOwn = id === own && edges !== undefined;
      const isUnder = edges !== undefined && x > -RADIUS && y > -RADIUS && x < edges.width && y < edges.height;
      if (isOwn) dot.setAttribute("transform", `translate(${-x} ${-y})`);
      else dot.removeAttribute("transform");
      dot.classList.toggle("av-covered", isUnder && !isOwn && own !== "");
    }
  }

  /** @param {string[]} nodes */
  stops(nodes) {
    if (nodes.length === this.pressed.size && nodes.every((node) => this.pressed.has(node))) return;
    const now = new Set(nodes);
    for (const node of [...this.pressed, ...now]) this.dots.get(node)?.setAttribute("aria-pressed", String(now.has(node)));
    this.pressed = now;
  }

  /** @param {Set<string>} hidden addresses of what does not exist yet */
  dim(hidden) {
    for (const node of this.dimmed) if (!hidden.has(node)) this.dots.get(node)?.classList.remove("dim");
    for (const node of hidden) this.dots.get(node)?.classList.add("dim");
    this.dimmed = hidden;
  }

  /** @param {string} node */
  fail(node) {
    const box = this.boxes.get(node);
    this.alarm.setAttribute("visibility", box ? "visible" : "hidden");
    if (box) this.alarm.setAttribute("transform", `translate(${box.x + box.w - 4} ${box.y + 4})`);
  }
}

/**
 * Names of which no two are the same: those that are alike are numbered.
 * @param {string[]} names
 */
export function toldApart(names) {
  /** @type {Map<string, number>[]} how often each is there, and how often it was met */
  const [all, met] = [new Map(), new Map()];
  for (const name of names) all.set(name, (all.get(name) ?? 0) + 1);
  return names.map((name) => {
    const count = all.get(name) ?? 1;
    met.set(name, (met.get(name) ?? 0) + 1);
    return count > 1 ? `${name}, ${met.get(name)} / ${count}` : name;
  });
}

/**
 * Columns of a monospace text.
 * @param {string} text
 */
function columnsOf(text) {
  return [...text].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 2 : 1), 0);
}

/** @param {Box} box */
function isNode(box) {
  return ["node", "accumulate", "card", "frame"].includes(box.kind);
}

/**
 * @param {SVGElement} rect
 * @param {Box} box
 * @param {number} around px
 */
function place(rect, box, around) {
  const sides = { x: box.x - around, y: box.y - around, width: box.w + 2 * around, height: box.h + 2 * around };
  for (const [name, value] of Object.entries(sides)) rect.setAttribute(name, String(value));
}
