// Playing over the graph by keyboard, and lighting what is joined to a box.

/** @typedef {import("../pass/graph.js").Graph} Graph */
/** @typedef {import("./picture.js").Box} Box */
/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {"left" | "right" | "up" | "down"} Direction */

const FEW = 400; // boxes; in a larger picture the others are not faded, which would paint everything anew
const HOVER_MS = 60; // a pointer that only passes by lights nothing
const DIM_MS = 600; // a pointer that rests fades what is not joined

/** @type {Record<Direction, [number, number]>} */
const WAYS = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] };

/**
 * The neighbour that lies in a direction: the nearest, those straight ahead before those aside.
 * @param {Box} from
 * @param {Box[]} neighbours
 * @param {Direction} direction
 * @returns {Box | null}
 */
export function towards(from, neighbours, direction) {
  const [ux, uy] = WAYS[direction];
  let best = null;
  let least = Infinity;
  for (const box of neighbours) {
    const [dx, dy] = [box.x + box.w / 2 - from.x - from.w / 2, box.y + box.h / 2 - from.y - from.h / 2];
    const ahead = dx * ux + dy * uy;
    const aside = Math.abs(dx * uy) + Math.abs(dy * ux);
    if (ahead > 0 && ahead + 2 * aside < least && aside < 6 * ahead) [best, least] = [box, ahead + 2 * aside];
  }
  return best;
}

/**
 * Boxes joined to what an address belongs to (for an arrow: both ends), and the arrows between.
 * @param {Graph} graph
 * @param {string} at
 * @returns {string[]} addresses
 */
export function joinedTo(graph, at) {
  const ends = graph.ends.get(at);
  if (ends) return [...ends, at];
  const id = graph.owner(at);
  if (!id) return [];
  return [id, ...graph.neighbours(id), ...(graph.touching.get(id) ?? [])];
}

export class Hover {
  /**
   * @param {Picture} picture
   * @param {Graph} graph
   */
  constructor(picture, graph) {
    this.picture = picture;
    this.graph = graph;
    this.at = "";
    /** @type {(id: string) => void} who else wants to know */
    this.told = () => {};
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.dimmer = undefined;
    this.isResting = false; // does the pointer only lie there?
  }

  /** The pointer points at nothing until it moves: in a hall it lies where it was left. */
  rest() {
    this.still();
    this.light("");
    this.isResting = true;
  }

  still() {
    clearTimeout(this.timer);
    clearTimeout(this.dimmer);
  }

  /** @param {string} at */
  over(at) {
    if (this.isResting) return;
    const here = this.graph.owner(at) || (this.graph.ends.has(at) ? at : "");
    clearTimeout(this.timer);
    if (here !== this.at) this.timer = setTimeout(() => this.light(here), HOVER_MS);
  }

  /** @param {string} at */
  light(at) {
    this.at = at;
    this.told(at);
    const joined = this.picture.at(joinedTo(this.graph, at));
    this.picture.mark("near", joined);
    clearTimeout(this.dimmer);
    this.picture.svg.classList.remove("hovering");
    const fades = joined.length > 0 && this.picture.boxes.size <= FEW;
    if (fades) this.dimmer = setTimeout(() => this.picture.svg.classList.add("hovering"), DIM_MS);
  }
}
