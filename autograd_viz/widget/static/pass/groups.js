// Groups: boxes that stand for many ops, which the kernel opens and closes.

/** @typedef {{ title: string, above: string }} OpenGroup `above` is the id of the open group around it, or "" */
/** @typedef {{ title: string, kinds: [name: string, count: number][] }} ClosedGroup `kinds` of its ops, the most frequent first */
/**
 * @typedef {object} Groups
 * @property {Record<string, OpenGroup>} opened
 * @property {Record<string, ClosedGroup>} closed
 * @property {Record<string, string>} of the innermost open group of a box
 * @property {Record<string, string>} leaves the innermost part of an AccumulateGrad: its leaf is first taken there
 * @property {[id: string, name: string, kind: string][]} hidden tensors and nodes in closed groups
 * @property {boolean} [fixed] there is no kernel that could draw another picture
 */

/** @type {Groups} */
const UNGROUPED = { opened: {}, closed: {}, of: {}, leaves: {}, hidden: [] };

/**
 * Groups as Python sends them, with nothing missing.
 * @param {Partial<Groups> | undefined} groups
 * @returns {Groups}
 */
export function wholeGroups(groups) {
  return { ...UNGROUPED, ...groups };
}

/**
 * The closed group that a box is, or "": its op is called as the group, its node "b" and that.
 * @param {Groups} groups
 * @param {string} id
 */
export function closedGroup(groups, id) {
  if (id in groups.closed) return id;
  return id.startsWith("b") && id.slice(1) in groups.closed ? id.slice(1) : "";
}

/**
 * The open groups that a box is in, the outermost first.
 * @param {Groups} groups
 * @param {string} id
 */
export function groupsAround(groups, id) {
  const around = [];
  for (let group = groups.of[id] ?? ""; group; group = groups.opened[group]?.above ?? "") around.unshift(group);
  return around;
}

/**
 * The groups that the call of a box belongs to, the innermost first; a closed one by the id of its node.
 * @param {Groups} groups
 * @param {string} id
 */
export function partsAround(groups, id) {
  const own = groups.leaves[id] ?? groups.of[id] ?? "";
  const inner = own in groups.opened || !own ? [] : [own];
  const opened = own in groups.opened ? own : (groups.of[own] ?? "");
  const around = [];
  for (let group = opened; group; group = groups.opened[group]?.above ?? "") around.push(group);
  return [...inner, ...around];
}

/**
 * Does the call of a box belong to a group?
 * @param {Groups} groups
 * @returns {import("./stops.js").Within}
 */
export function withinGroups(groups) {
  return (node, part) => node === part || partsAround(groups, node).includes(part);
}

/**
 * What the key for groups asks for: a closed group is opened, any other box has the group around it closed.
 * @param {Groups} groups
 * @param {string} id
 * @returns {{ kind: "expand" | "collapse", id: string } | null}
 */
export function toggledGroup(groups, id) {
  const closed = closedGroup(groups, id);
  const around = groupsAround(groups, id).at(-1);
  if (groups.fixed) return null;
  if (closed) return { kind: "expand", id: closed };
  return around ? { kind: "collapse", id: around } : null;
}
