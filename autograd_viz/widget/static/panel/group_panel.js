// What the panel says of groups: what is in a closed one, and which open ones a box is in.

import { closedGroup, groupsAround } from "../pass/groups.js";
import { buttonFor, listOf, sectionOf } from "./look.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("../pass/groups.js").Groups} Groups */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../shared/tree.js").Tree} Tree */

/**
 * Of the box of a closed group: which ops are in it, and a button that opens it.
 * @param {Look} look
 * @param {Groups} groups
 * @param {string} id
 * @returns {Tree[]}
 */
export function groupPanel({ word }, groups, id) {
  const group = closedGroup(groups, id);
  const kinds = groups.closed[group]?.kinds ?? [];
  const lines = kinds.map(([name, count]) => tree("code", {}, [count > 1 ? `${name} × ${count}` : name]));
  const opener = groups.fixed ? [] : [buttonFor(word("expand"), { kind: "expand", id: group })];
  return [...opener, sectionOf("members", word("members"), [listOf(lines)])];
}

/**
 * Of the box of a group or card: the node in it that ran last, with its formulas, and the one that runs next.
 * @param {Look} look
 * @param {string} id
 * @param {import("../pass/stops.js").Within} within
 * @returns {Tree[]}
 */
export function memberPanel({ word, history, ran, ready, step }, id, within) {
  const last = history.current;
  const hasRun = step > 0 && ran && last && within(last.node, id);
  const next = step >= 0 && ready[0]?.[1] && within(ready[0][0], id) ? ready[0][1] : "";
  const formulas = (hasRun ? (last.formulas ?? []) : []).map(({ input, text }) =>
    tree("code", { class: "av-i-member-formula" }, [`grad_${input} = ${text}`]),
  );
  const parts = [
    hasRun && tree("p", {}, [word("ran_inside", { node: ran })]),
    ...formulas,
    next && tree("p", {}, [word("next_inside", { node: next })]),
  ];
  const there = parts.filter(Boolean);
  return there.length ? [tree("div", { class: "av-i-member" }, there, { key: "member" })] : [];
}

/**
 * Of a box in open groups: their names, each of which closes its group.
 * @param {Look} look
 * @param {Groups} groups
 * @param {string} id
 * @returns {Tree[]}
 */
export function pathPanel({ word }, groups, id) {
  const around = groupsAround(groups, id);
  if (!around.length) return [];
  const lines = around.map((group) => {
    const { title } = groups.opened[group];
    return groups.fixed
      ? tree("code", {}, [title])
      : buttonFor(`${word("collapse")}: ${title}`, { kind: "collapse", id: group });
  });
  return [sectionOf("groups", word("groups"), [listOf(lines)])];
}
