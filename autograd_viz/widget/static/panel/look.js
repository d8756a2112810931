// What every panel is given, and the few parts that all of them are made of.

import { tree } from "../shared/tree.js";

/** @typedef {import("../shared/tree.js").Tree} Tree */
/** @typedef {import("../shared/tree.js").Child} Child */
/** @typedef {import("../shared/words.js").Word} Word */
/** @typedef {{ key: string, index: number }} Pointed the element of an array under the pointer or the arrow keys */
/**
 * @typedef {object} Look
 * @property {Word} word
 * @property {import("../pass/program.js").Program} program
 * @property {import("../pass/history.js").PassHistory} history
 * @property {number} step
 * @property {number} total
 * @property {boolean} complete
 * @property {Record<string, string>} why
 * @property {string[]} stops nodes with a breakpoint
 * @property {Pointed | null} pointed
 * @property {string | null} next the node that would run next
 * @property {Record<string, import("../shared/statistics.js").Value | null>} edits what a person has put in for it, by output
 * @property {Record<string, string>} spoiled saved tensors that were changed in place ("stale") or freed since, by address
 * @property {Record<string, import("../shared/draw.js").Lines>} overlay grads that the notebook has changed since, as the picture writes them
 * @property {import("./pins.js").Pin[]} pins gradients that stay in sight
 * @property {string} ran the node that ran last, if a box hides it
 * @property {[box: string, name: string][]} ready the first nodes that could run, if boxes hide some; a name only if hidden
 * @property {import("./edit_form.js").Draft} draft the edit that is being made
 * @property {Record<string, import("./meanwhile.js").Rewritten>} rewritten tensors whose data was changed in place since, by id
 */

export const MOST_LISTED = 16; // lines of a list

/**
 * Texts of the UI by key, {names} filled in; a key without a text stands for itself.
 * @param {Record<string, string>} words
 * @returns {Word}
 */
export function wordsOf(words) {
  return (key, fill = {}, otherwise = key) =>
    (words[key] ?? otherwise).replace(/\{(\w+)\}/g, (whole, name) => (name in fill ? String(fill[name]) : whole));
}

/**
 * @param {string} key
 * @param {string} title
 * @param {Child[]} children
 * @returns {Tree}
 */
export function sectionOf(key, title, children) {
  const heading = tree("h4", { class: "av-i-heading" }, [title]);
  return tree("section", { class: `av-i-section av-i-in-${key}` }, [heading, ...children], { key });
}

/**
 * A button that selects a node, tensor or op.
 * @param {Look} look
 * @param {string} id
 * @returns {Tree}
 */
export function linkTo(look, id) {
  const label = look.program.label(id, look.word("unnamed"));
  const message = { kind: "select", id };
  return tree("button", { type: "button", class: "av-i-link" }, [tree("bdi", {}, [label])], { message });
}

/**
 * A text with one {gap}, and a link in the gap.
 * @param {Look} look
 * @param {string} key
 * @param {string} gap
 * @param {string} id
 * @param {Record<string, string | number>} [fill]
 * @returns {Child[]}
 */
export function wordsAround(look, key, gap, id, fill = {}) {
  const [before, ...after] = look.word(key, fill).split(`{${gap}}`);
  return [before, linkTo(look, id), after.join("")];
}

/**
 * @param {string} text
 * @param {import("../shared/tree.js").Message} message
 * @param {Record<string, string | number>} [attributes]
 * @returns {Tree}
 */
export function buttonFor(text, message, attributes = {}) {
  return tree("button", { type: "button", class: "av-i-button", ...attributes }, [text], { message });
}

/** @param {Child[]} items one of the list's lines each @param {string} [tag] */
export function listOf(items, tag = "ul") {
  return tree(
    tag,
    { class: "av-i-list" },
    items.map((item) => tree("li", {}, [item])),
  );
}

/**
 * A list of at most so many lines, and how many more there are: a leaf may have a thousand senders.
 * @template T
 * @param {T[]} items
 * @param {(item: T, index: number) => Child} line
 * @param {string} [tag]
 * @returns {Child[]}
 */
export function shortList(items, line, tag = "ul") {
  const rest = items.length - MOST_LISTED;
  return [listOf(items.slice(0, MOST_LISTED).map(line), tag), rest > 0 && noteOf(`… +${rest}`)];
}

/** @param {string} text */
export function noteOf(text) {
  return tree("p", { class: "av-i-note" }, [text]);
}
