// The picture: laid out once by Python, stepped here by rewriting the few words that a step changes.

import { Beats } from "./beats.js";
import { writeLines } from "../shared/draw.js";
import { partsOf } from "./pieces.js";

/** @typedef {import("../shared/draw.js").Lines} Lines */
/** @typedef {import("../pass/history.js").Frame} Frame */
/** @typedef {{ id: string, kind: string, colour?: string, x: number, y: number, w: number, h: number }} Box */
/** @typedef {import("./pieces.js").Piece} Piece */

/**
 * SVG text as an element of this document.
 * @param {string} source
 * @returns {SVGSVGElement}
 */
function parsed(source) {
  return /** @type {any} */ (document.adoptNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement));
}

export class Picture {
  /** @param {string} source the SVG text */
  constructor(source) {
    const { head, pieces } = partsOf(source);
    this.svg = parsed(head);
    /** @type {Map<string, Element[]>} the elements at an address, as far as they are made */
    this.places = new Map();
    /** @type {Map<string, Piece[]>} the pieces in which an address is still text */
    this.waiting = new Map();
    /** @type {Piece[]} what may be left out of a large picture; none of a small one */
    this.pieces = pieces;
    /** @type {Map<string, Box>} tensors, ops and nodes */
    this.boxes = new Map();
    for (const element of this.svg.querySelectorAll("[data-at]")) this.know(element);
    this.belowLabels = document.createComment("");
    this.svg.insertBefore(this.belowLabels, this.svg.querySelector(":scope > .label, :scope > .code"));
    for (const piece of pieces) this.expect(piece, this.belowLabels.nextSibling);
    /** @type {Frame[]} what is shown */
    this.shown = [];
    this.beats = new Beats(this);
    /** @type {Map<string, Element[]>} class -> the elements that have it from us */
    this.marked = new Map();
    /** @type {Map<Element, Element[] | Lines>} what is written under an overlay: the elements from the start, or lines */
    this.under = new Map();
    /** @type {Record<string, Lines>} */
    this.overlay = {};
    const [x, y, width, height] = (this.svg.getAttribute("viewBox") ?? "0 0 1 1").split(" ").map(Number);
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height;
  }

  /** @param {Element} element */
  know(element) {
    const at = /** @type {string} */ (element.getAttribute("data-at"));
    const known = this.places.get(at);
    if (known) known.push(element);
    else this.places.set(at, [element]);
    const outline = element.querySelector(":scope > .outline");
    if (!outline || at.startsWith("ctx:")) return;
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(outline.getAttribute(name)));
    this.boxes.set(at, { id: at, kind: element.classList[0], colour: element.classList[1], x, y, w, h });
  }

  /**
   * A piece that is not made yet: a place where it will stand.
   * @param {Piece} piece
   * @param {ChildNode | null} above what stands above all labels
   */
  expect(piece, above) {
    piece.place = document.createComment("");
    this.svg.insertBefore(piece.place, piece.kind === "label" ? above : this.belowLabels);
    if (piece.box) this.boxes.set(piece.box.id, piece.box);
    for (const at of piece.addresses) {
      const known = this.waiting.get(at);
      if (known) known.push(piece);
      else this.waiting.set(at, [piece]);
    }
  }

  /**
   * Make pieces, all at once; they stay away until they are near.
   * @param {Piece[]} pieces
   */
  make(pieces) {
    const wanted = pieces.filter((piece) => !piece.element);
    if (!wanted.length) return;
    const made = [
      ...parsed(`<svg xmlns="${this.svg.namespaceURI}">${wanted.map((piece) => piece.text).join("")}</svg>`).children,
    ];
    for (const [i, piece] of wanted.entries()) {
      piece.element = made[i];
      piece.text = "";
      for (const element of [made[i], ...made[i].querySelectorAll("[data-at]")]) {
        this.know(element);
        const lines = piece.writes.get(/** @type {string} */ (element.getAttribute("data-at")));
        if (lines) this.put(element, lines);
      }
      for (const at of piece.addresses) {
        const others = this.waiting.get(at)?.filter((other) => other !== piece) ?? [];
        if (others.length) this.waiting.set(at, others);
        else this.waiting.delete(at);
      }
    }
  }

  /**
   * The elements at some addresses.
   * @param {Iterable<string>} addresses
   */
  at(addresses) {
    const all = [...addresses];
    this.make([...new Set(all.flatMap((at) => this.waiting.get(at) ?? []))]);
    return all.flatMap((at) => this.places.get(at) ?? []);
  }

  /**
   * Write the state after some steps.
   * @param {Frame[]} frames those steps
   * @returns {boolean} one more step than before and nothing else
   */
  goto(frames) {
    this.beats.stop();
    let same = 0;
    while (same < Math.min(this.shown.length, frames.length) && this.shown[same] === frames[same]) same++;
    const forward = same === this.shown.length && frames.length === same + 1;
    for (const frame of this.shown.slice(same).reverse()) this.write(frame, 1);
    for (const frame of frames.slice(same)) this.write(frame, 2);
    this.shown = frames.slice();
    return forward;
  }

  /**
   * @param {Frame} frame
   * @param {1 | 2} which 1: as it was before, 2: as it is after
   */
  write(frame, which) {
    for (const change of frame.changes) {
      for (const piece of this.waiting.get(change[0]) ?? []) piece.writes.set(change[0], change[which]);
      for (const element of this.places.get(change[0]) ?? []) {
        if (this.under.has(element)) this.under.set(element, change[which]);
        else this.put(element, change[which]);
      }
    }
  }

  /**
   * Write what stands at an address.
   * @param {Element} element
   * @param {Lines} lines
   */
  put(element, lines) {
    if (!element.classList.contains("arrow")) writeLines(element, lines);
  }

  /**
   * The box that is drawn for an id.
   * @param {string} id
   */
  visible(id) {
    return id;
  }

  /**
   * Give a class to these elements and to no others.
   * @param {string} name
   * @param {Element[]} elements
   */
  mark(name, elements) {
    const [before, now] = [this.marked.get(name) ?? [], new Set(elements)];
    const had = new Set(before);
    for (const element of before) if (!now.has(element)) element.classList.remove(name);
    for (const element of elements) if (!had.has(element)) element.classList.add(name);
    this.marked.set(name, elements);
  }

  /**
   * The arrows whose gradients a node will receive: those with a number; all of them where none has one, at a root.
   * @param {string[]} addresses of the arrows that lead to it
   */
  expectGradients(addresses) {
    const arrows = addresses.map((at) => this.places.get(at) ?? []);
    const sent = arrows.filter((all) => all.some((element) => element.classList.contains("label") && element.textContent));
    this.mark("arriving", (sent.length ? sent : arrows).flat());
  }

  /**
   * Light a box, and what a step has changed.
   * @param {string} id
   * @param {string[]} fresh
   */
  light(id, fresh) {
    const elements = this.at(fresh);
    this.mark("lit", this.at([id]));
    this.mark("fresh", elements);
    for (const element of elements) {
      if (element.parentNode === this.svg && element.classList.contains("arrow")) this.belowLabels.before(element); // over other arrows
    }
  }

  /**
   * Write over rows at every step, until told otherwise.
   * @param {Record<string, Lines>} overlay address -> lines
   */
  lay(overlay) {
    if (overlay === this.overlay) return;
    this.overlay = overlay;
    const over = new Map(Object.entries(overlay).flatMap(([at, lines]) => this.rows(at).map((row) => [row, lines])));
    for (const [row, below] of this.under) {
      if (over.has(row)) continue;
      this.under.delete(row);
      if (below.length && below[0] instanceof Element) row.replaceChildren(.../** @type {Element[]} */ (below));
      else writeLines(row, /** @type {Lines} */ (below));
    }
    for (const [row, lines] of over) {
      if (!this.under.has(row)) this.under.set(row, [...row.children]);
      writeLines(row, lines);
    }
    this.mark("drift", [...over.keys()]);
  }

  /** @param {string} at */
  rows(at) {
    return this.at([at]).filter((element) => !element.classList.contains("arrow"));
  }

  /**
   * Move a step's numbers.
   * @param {Frame} frame
   */
  run(frame) {
    this.beats.start(frame);
  }
}
