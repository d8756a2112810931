// A second drawing over the picture, in its coordinates: what is selected, breakpoints, the node that failed.

import { svgElement } from "./draw.js";

/** @typedef {import("./picture.js").Box} Box */
/** @typedef {import("./words.js").Say} Say */

const RADIUS = 8; // px of a breakpoint
const RING = 3; // px from a box to the ring around it: a label on an arrow begins not much further away

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
    this.svg.addEventListener("keydown", (event) => {
      if ((event.key === "Enter" || event.key === " ") && act(event)) event.preventDefault();
    }, { signal });
  }

  /**
   * There are other boxes, or they stand elsewhere.
   * @param {string} viewBox
   */
  renew(viewBox) {
    this.svg.setAttribute("viewBox", viewBox);
    for (const [id, dot] of this.dots) if (!this.boxes.has(id)) dot.remove();
    const known = this.dots;
    this.dots = new Map();
    for (const box of this.boxes.values()) if (isNode(box)) this.dots.set(box.id, known.get(box.id) ?? this.dot(box));
    for (const [id, dot] of this.dots) {
      const box = /** @type {Box} */ (this.boxes.get(id));
      for (const circle of dot.children) for (const side of /** @type {const} */ (["x", "y"])) circle.setAttribute(`c${side}`, String(box[side] + 4));
    }
    this.select(this.reachable);
  }

  /** @param {Box} box */
  dot(box) {
    const { say, title } = this.context;
    const made = svgElement("g", { class: "av-dot", role: "button", tabindex: -1, "aria-pressed": String(this.pressed.has(box.id)), "data-node": box.id });
    made.setAttribute("aria-label", `${say("breakpoint")}: ${title(box.id)}`);
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
