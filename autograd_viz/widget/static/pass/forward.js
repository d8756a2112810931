// Positions before 0: the forward pass replayed op by op, by dimming what does not exist yet.

/** @typedef {import("./graph.js").Graph} Graph */
/**
 * @typedef {object} Position
 * @property {string | null} op the box of what has just run; none at the first position
 * @property {string} ran the op itself
 * @property {string} sentence
 * @property {string[]} made ids of what came into being with it
 */

/**
 * What happened at a position, or null from 0 on.
 * @param {Position[]} forward positions -F to 0
 * @param {number} step
 */
export function positionAt(forward, step) {
  return step < 0 ? (forward[step + forward.length - 1] ?? null) : null;
}

/**
 * The ids of what does not exist yet at a position.
 * @param {Position[]} forward
 * @param {number} step
 */
export function hiddenAt(forward, step) {
  if (step >= 0) return [];
  return forward.slice(step + forward.length).flatMap((position) => position.made);
}

/**
 * The addresses of hidden boxes and of the arrows that touch them.
 * @param {Iterable<string>} hidden
 * @param {Graph} graph
 */
export function hiddenAddresses(hidden, graph) {
  /** @type {Set<string>} */
  const addresses = new Set();
  for (const id of hidden) {
    addresses.add(id);
    for (const at of graph.touching.get(id) ?? []) addresses.add(at);
  }
  return addresses;
}
