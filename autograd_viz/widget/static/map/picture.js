// The map as a picture: cards that open in place, gradients as thick as they are, how much of each card has run.

import { cardsAround, placed, visibleCard } from "./layout.js";
import { Picture } from "../figure/picture.js";

/** @typedef {import("../shared/draw.js").Lines} Lines */
/** @typedef {import("./layout.js").MapData} MapData */
/** @typedef {import("./layout.js").Placed} Placed */
/** @typedef {import("../pass/history.js").Frame} Frame */

const [THINNEST, THICKEST] = [1.5, 9]; // px of a gradient's arrow
const [LEAST_POWER, MOST_POWER] = [-6, 2]; // log10 of the norms that are drawn so
const MOVE_MS = 200;

/**
 * px of an arrow: log10 of the norm (as maps/arrows.py).
 * @param {number} norm
 */
export function thickness(norm) {
  if (!Number.isFinite(norm) || norm === 0) return THINNEST;
  const share = (Math.log10(norm) - LEAST_POWER) / (MOST_POWER - LEAST_POWER);
  return THINNEST + (THICKEST - THINNEST) * Math.min(1, Math.max(0, share));
}

/**
 * An arrow from the bottom of a gap to its top, as an outline.
 * @param {number} x
 * @param {number} width
 * @param {number} gap
 */
export function upPath(x, width, gap) {
  const [size, half] = [Math.max(7, 1.6 * width), width / 2];
  const side = size / 1.6;
  return `M${x - half} ${gap}V${size}H${x - side}L${x} 0L${x + side} ${size}H${x + half}V${gap}Z`;
}

/**
 * The same arrow in another gap.
 * @param {string} path
 * @param {number} gap
 */
export function stretched(path, gap) {
  return path.replace(/^(M\S+ )[^V]+/, `$1${gap}`).replace(/V[^V]+Z$/, `V${gap}Z`);
}

export class MapPicture extends Picture {
  /**
   * @param {string} source
   * @param {MapData} map
   */
  constructor(source, map) {
    super(source);
    this.map = map;
    this.opened = new Set([map.root]);
    /** @type {Set<string>} cards whose parts the tree of modules hides; at first what is closed on the map */
    this.folded = new Set(Object.keys(map.frames).filter((id) => id !== map.root && !map.opened.includes(id)));
    /** @type {Map<string, Lines>} what stands at each address by now */
    this.written = new Map();
    /** @type {Map<string, number | null>} norms of flows */
    this.norms = new Map();
    /** @type {Map<string, number>} how long straight flows are */
    this.gaps = new Map();
    /** @type {Map<string, number>} how many nodes of each card have run */
    this.called = new Map();
    /** @type {Map<string, Element[]>} bars of turns, by flow */
    this.turns = new Map();
    this.knowTurns(this.svg);
    for (const id of map.opened) this.opened.add(id);
    for (const id of map.opened) this.fill(id);
    this.layOut(false);
  }

  /** @param {string} id */
  card(id) {
    return this.places.get(id)?.find((element) => element.classList.contains("card"));
  }

  /** @param {string} id */
  visible(id) {
    return id in this.map.cards ? visibleCard(this.map, this.opened, id) : id;
  }

  /** @param {string} id */
  kindOf(id) {
    if (this.opened.has(id)) return "frame";
    return this.map.cards[id].kind === "root" ? "result" : "card";
  }

  /** @param {string} id @returns {boolean} */
  canOpen(id) {
    return id in this.map.frames && id !== this.map.root;
  }

  /** @param {string} id */
  fold(id) {
    if (!this.folded.delete(id)) this.folded.add(id);
  }

  /**
   * The card beside another: the one above or below it, the one around it, the first in it.
   * @param {string} id
   * @param {import("../figure/neighbours.js").Direction} direction
   */
  neighbour(id, direction) {
    const drawn = [...this.boxes.keys()];
    const [at, above] = [drawn.indexOf(id), this.map.cards[id]?.above];
    if (at < 0) return drawn[0] ?? "";
    if (direction === "left") return above && above !== this.map.root ? above : id;
    if (direction === "right") return this.opened.has(id) ? drawn[at + 1] : id;
    return drawn[at + (direction === "up" ? -1 : 1)] ?? id;
  }

  /**
   * Open or close a card.
   * @param {string} id
   * @param {boolean} isOpen
   * @param {boolean} moving let the cards below move to their places
   */
  toggle(id, isOpen, moving) {
    if (!this.canOpen(id) || this.opened.has(id) === isOpen) return;
    if (isOpen) this.opened.add(id);
    else this.opened.delete(id);
    if (isOpen) this.folded.delete(id);
    if (isOpen) this.fill(id);
    this.layOut(moving);
  }

  /**
   * Open all that a card stands in.
   * @param {string} id
   */
  uncover(id) {
    const around = cardsAround(this.map, id).slice(1).reverse();
    if (around.every((above) => this.opened.has(above))) return false;
    for (const above of around) {
      this.opened.add(above);
      this.fill(above);
    }
    this.layOut(false);
    return true;
  }

  /**
   * Make what is in a card, once.
   * @param {string} id
   */
  fill(id) {
    const card = this.card(id);
    if (!card || card.querySelector(":scope > .inside") || !(id in this.map.insides)) return;
    const text = `<svg xmlns="${this.svg.namespaceURI}"><g class="inside">${this.map.insides[id]}</g></svg>`;
    const made = new DOMParser().parseFromString(text, "image/svg+xml").documentElement.firstElementChild;
    const inside = /** @type {Element} */ (document.adoptNode(/** @type {Node} */ (made)));
    card.append(inside);
    this.knowTurns(inside);
    for (const element of inside.querySelectorAll("[data-at]")) {
      this.know(element);
      const at = /** @type {string} */ (element.getAttribute("data-at"));
      const lines = this.written.get(at);
      if (lines) this.put(element, lines);
      if (this.norms.has(at)) this.paintFlow(element, at);
      if (at in this.map.cards) this.paintDone(at);
    }
  }

  /**
   * Put everything in its place.
   * @param {boolean} moving
   */
  layOut(moving) {
    const where = placed(this.map, this.opened);
    this.boxes.clear();
    for (const [id, box] of where.boxes) if (id !== this.map.root) this.boxes.set(id, { id, kind: this.kindOf(id), ...box });
    [this.width, this.height] = [where.width, where.height];
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    for (const id of Object.keys(this.map.frames)) this.card(id)?.classList.toggle("open", this.opened.has(id));
    for (const { id, x, y, h } of where.cards) this.placeCard(id, x, y, h, moving);
    for (const flow of where.flows) this.placeFlow(flow, moving);
    const ground = this.svg.querySelector(":scope > .ground");
    ground?.setAttribute("height", String(this.height));
  }

  /**
   * @param {string} id
   * @param {number} x
   * @param {number} y
   * @param {number} h
   * @param {boolean} moving
   */
  placeCard(id, x, y, h, moving) {
    const card = this.card(id);
    if (!card) return;
    moveTo(card, x, y, moving);
    if (this.map.cards[id].kind === "root") return;
    const mark = card.querySelector(":scope > .opener > text");
    if (mark) mark.textContent = this.opened.has(id) ? "▾" : "▸";
    for (const rect of card.querySelectorAll(":scope > .outline, :scope > .tint")) growTo(rect, h, moving);
  }

  /**
   * @param {import("./layout.js").PlacedFlow} placed
   * @param {boolean} moving
   */
  placeFlow({ frame, id, begin, top, bottom, middle }, moving) {
    const element = this.places.get(id)?.[0];
    const { flows, right } = this.map.frames[frame];
    const flow = flows.find((f) => f.id === id);
    if (!element || !flow) return;
    const tip = element.querySelector(".tip");
    if (flow.lane === null) {
      const [down, gap] = [element.querySelector(".down"), bottom - begin];
      down?.setAttribute("d", `${/^M\S+/.exec(down.getAttribute("d") ?? "")?.[0] ?? "M0"} 0V${gap - 8}`);
      tip?.setAttribute("transform", `translate(0 ${gap})`);
      if (gap !== (this.gaps.get(id) ?? this.map.gap)) {
        this.gaps.set(id, gap);
        this.paintFlow(element, id);
      }
      return moveTo(element, 0, begin, moving);
    }
    const way = element.querySelector(".bypass");
    const start = /^M\S+/.exec(way?.getAttribute("d") ?? "")?.[0] ?? "M0";
    const [into, under] = [flow.into ?? null, flow.under ?? 8];
    const back = into === null ? `V${bottom + 12}H${right + 6}` : `V${bottom - 12}H${into}V${bottom - 8}`;
    way?.setAttribute("d", `${start} ${begin}V${top + under}H${flow.lane}${flow.target === -2 ? `V${bottom}` : back}`);
    element.querySelector(".upway")?.setAttribute("d", `M${flow.lane + 3.5} ${top + under}V${bottom}`);
    const at = into === null ? `translate(${right} ${bottom + 12})` : `translate(${into} ${bottom}) rotate(-90)`;
    tip?.setAttribute("transform", at);
    element.querySelector(".number")?.setAttribute("transform", `translate(0 ${middle})`);
  }

  // -- steps --------------------------------------------------------------------------------------------------------

  /**
   * @param {Frame & { norms?: [string, number | string | null, number | string | null][] }} frame
   * @param {1 | 2} which
   */
  write(frame, which) {
    super.write(frame, which);
    for (const change of frame.changes) this.written.set(change[0], change[which]);
    for (const norm of frame.norms ?? []) {
      const value = norm[which];
      this.norms.set(norm[0], value === null ? null : Number(value));
      for (const element of this.places.get(norm[0]) ?? []) this.paintFlow(element, norm[0]);
      for (const bar of this.turns.get(norm[0]) ?? []) this.paintTurn(bar);
    }
    for (const id of cardsAround(this.map, frame.node)) {
      this.called.set(id, (this.called.get(id) ?? 0) + (which === 2 ? 1 : -1));
      this.paintDone(id);
    }
  }

  /**
   * @param {Element} element
   * @param {Lines} lines
   */
  put(element, lines) {
    super.put(element, lines);
    const flow = /^g:(.*)$/.exec(element.getAttribute("data-at") ?? "")?.[1];
    const [up, way] = [".up", ".upway"].map((name) => flow && this.places.get(flow)?.[0]?.querySelector(name));
    const role = lines[0]?.[0]?.[1] ?? "link";
    if (up) up.setAttribute("class", `up f-${role}`);
    if (way) way.setAttribute("class", `upway s-${role}`);
  }

  /**
   * The gradient's arrow of a flow.
   * @param {Element} element
   * @param {string} id
   */
  paintFlow(element, id) {
    const up = /** @type {SVGElement | null} */ (element.querySelector(".up, .upway"));
    const norm = this.norms.get(id);
    if (!up) return;
    const gap = this.gaps.get(id) ?? this.map.gap;
    if (norm === undefined && up.classList.contains("up")) up.setAttribute("d", stretched(up.getAttribute("d") ?? "", gap));
    else if (norm === null || norm === undefined) up.setAttribute("visibility", "hidden");
    else {
      up.removeAttribute("visibility");
      if (up.classList.contains("upway")) up.setAttribute("stroke-width", String(thickness(norm) / 2));
      else up.setAttribute("d", upPath(Number(up.dataset.x), thickness(norm), gap));
    }
  }

  /** @param {Element} around where bars of turns may stand */
  knowTurns(around) {
    for (const bar of around.querySelectorAll("[data-turn]")) {
      for (const id of this.flowsOf(bar)) this.turns.set(id, [...(this.turns.get(id) ?? []), bar]);
      this.paintTurn(bar);
    }
  }

  /** @param {Element} bar */
  flowsOf(bar) {
    return (bar.getAttribute("data-turn") ?? "").split(" ").filter(Boolean);
  }

  /**
   * The gradient that has arrived at a turn.
   * @param {Element} bar
   */
  paintTurn(bar) {
    const norms = this.flowsOf(bar).map((id) => this.norms.get(id));
    if (norms.every((norm) => norm === undefined)) return; // as it was drawn
    const tall = norms.some((norm) => norm === undefined || norm === null)
      ? 0
      : 2 * thickness(Math.hypot(...norms.map(Number)));
    const bottom = Number(bar.getAttribute("y")) + Number(bar.getAttribute("height"));
    bar.setAttribute("y", String(bottom - tall));
    bar.setAttribute("height", String(tall));
  }

  /**
   * How much of a card has run.
   * @param {string} id
   */
  paintDone(id) {
    const { nodes = 0, w = 0 } = this.map.cards[id] ?? {};
    const bar = this.card(id)?.querySelector(":scope > .done");
    if (bar && nodes) bar.setAttribute("width", String((w * (this.called.get(id) ?? 0)) / nodes));
  }

  /** @param {string} id @param {string[]} fresh */
  light(id, fresh) {
    super.light(this.visible(id), fresh);
  }
}

/**
 * @param {Element} element
 * @param {number} x
 * @param {number} y
 * @param {boolean} moving from where it was
 */
function moveTo(element, x, y, moving) {
  const before = element.getAttribute("transform") ?? "";
  const after = `translate(${x} ${y})`;
  if (before === after) return;
  element.setAttribute("transform", after);
  const [bx, by] = /translate\((\S+) (\S+)\)/.exec(before)?.slice(1).map(Number) ?? [x, y];
  if (moving) animate(element, { transform: `translate(${bx - x}px, ${by - y}px)` }, { transform: "none" }, "add");
}

/**
 * @param {Element} rect
 * @param {number} height
 * @param {boolean} moving
 */
function growTo(rect, height, moving) {
  const before = rect.getAttribute("height") ?? "";
  if (Number(before) === height) return;
  rect.setAttribute("height", String(height));
  if (moving) animate(rect, { height: `${before}px` }, { height: `${height}px` });
}

/**
 * @param {Element} element
 * @param {Keyframe} from
 * @param {Keyframe} to
 * @param {CompositeOperation} [composite]
 */
function animate(element, from, to, composite = "replace") {
  element.animate?.([from, to], { duration: MOVE_MS, easing: "ease-out", composite });
}
