// What the panel says of a card of the map, and the tree of all modules.

import { cardsAround } from "../map/layout.js";
import { buttonFor, listOf, noteOf, sectionOf } from "./look.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../map/layout.js").Card} Card */
/** @typedef {import("../map/picture.js").MapPicture} MapPicture */
/** @typedef {import("../shared/tree.js").Tree} Tree */

const MOST_LINES = 40; // parameters of one card
const MOST_MODULES = 400; // lines of the tree

/**
 * @param {Look} look
 * @param {MapPicture} picture
 * @param {string} id
 * @returns {Tree}
 */
export function cardPanel({ word }, picture, id) {
  const card = picture.map.cards[id];
  const title = tree("h3", { class: "av-i-title", tabindex: -1 }, [tree("bdi", {}, [card.path || card.title])]);
  const called = picture.called.get(id) ?? 0;
  const calls = word("card_called", { called, nodes: card.nodes });
  const facts = [card.name, card.about, ...card.badges, card.nodes && !picture.map.still && calls].filter(Boolean);
  const opens = picture.canOpen(id) && buttonFor(word(picture.opened.has(id) ? "collapse" : "expand"), { kind: "card", id });
  const figure = !picture.map.fixed && card.nodes > 0 && buttonFor(word("figure"), { kind: "figure", id });
  const goes = !picture.map.still && card.nodes > 0 && buttonFor(word("run_to"), { kind: "run_to", node: id });
  const stops = !picture.map.still && card.nodes > 0 && buttonFor(word("breakpoint"), { kind: "breakpoint", node: id });
  const around = cardsAround(picture.map, id).slice(1, -1).reverse();
  const ways = around.map((above) => buttonFor(picture.map.cards[above].title, { kind: "select", id: above }));
  const kinds = card.kinds.map(([name, count]) => tree("code", {}, [count > 1 ? `${name} × ${count}` : name]));
  const parts = [
    title,
    tree("p", { class: "av-i-subtitle" }, [facts.join(" · ")]),
    tree("p", { class: "av-i-deeds" }, [opens, figure, goes, stops]),
    card.lines.length > 0 && sectionOf("parameters", word("parameters"), parameterTable(word, picture, card)),
    kinds.length > 0 && sectionOf("members", word("members"), [listOf(kinds)]),
    ways.length > 0 && sectionOf("groups", word("groups"), [listOf(ways)]),
  ];
  return tree("div", { class: "av-i-panel" }, parts, { key: "panel of a card" });
}

/**
 * @param {import("../shared/words.js").Word} word
 * @param {MapPicture} picture
 * @param {Card} card
 * @returns {Tree[]}
 */
function parameterTable(word, picture, card) {
  const head = tree(
    "tr",
    {},
    ["parameter", "values", "gradient"].map((key) => tree("th", { scope: "col" }, [word(`card_${key}`)])),
  );
  const rows = card.lines.slice(0, MOST_LINES).map((line) => {
    const [said, role] = picture.written.get(`leaf:${line.leaf}`)?.[0]?.[0] ?? [line.said, line.odd ? "grad" : "link"];
    const cells = [
      tree("td", {}, [tree("bdi", {}, [line.name + line.shape])]),
      tree("td", {}, [line.norm]),
      tree("td", { class: `av-c-${role}` }, [said]),
    ];
    return tree("tr", {}, cells);
  });
  const more = card.lines.length - MOST_LINES;
  const table = tree("table", { class: "av-i-table av-i-parameters" }, [head, ...rows]);
  return more > 0 ? [table, noteOf(`… +${more}`)] : [table];
}

/**
 * All modules, each under the one around it; a press selects one.
 * @param {Look} look
 * @param {MapPicture} picture
 * @param {string | null} selected
 * @returns {Tree}
 */
export function moduleTree({ word }, picture, selected) {
  const { cards, root } = picture.map;
  const known = Object.entries(cards).filter(([id, card]) => id !== root && card.kind !== "ops" && card.kind !== "root");
  const isSeen = (/** @type {string} */ id) =>
    cardsAround(picture.map, id)
      .slice(1)
      .every((above) => !picture.folded.has(above));
  const seen = known.filter(([id]) => id === selected || isSeen(id));
  const lines = seen.slice(0, MOST_MODULES).map(([id, card]) => moduleLine(word, picture, id, card, id === selected));
  const more = seen.length - MOST_MODULES;
  const all = more > 0 ? [...lines, noteOf(`… +${more}`)] : lines;
  const summary = tree("summary", {}, [word("modules")]);
  return tree("details", { class: "av-i-modules" }, [summary, tree("ul", { class: "av-i-tree" }, all)], {
    key: "modules",
    once: { open: "" },
  });
}

/**
 * @param {import("../shared/words.js").Word} word
 * @param {MapPicture} picture
 * @param {string} id
 * @param {Card} card
 * @param {boolean} isSelected
 * @returns {Tree}
 */
function moduleLine(word, picture, id, card, isSelected) {
  const depth = cardsAround(picture.map, id).length - 2;
  const done = card.nodes > 0 && (picture.called.get(id) ?? 0) >= card.nodes;
  const alarm = picture.written.get(`alarm:${id}`)?.[0]?.[0]?.[0] ?? card.alarm ?? "";
  const facts = [card.name, card.kept, card.norm && `${word("card_gradient")} ${card.norm}`].filter(Boolean).join(" · ");
  const label = [
    tree("span", { class: "av-i-done", "aria-hidden": "true" }, [done ? "✓" : "·"]),
    tree("bdi", {}, [card.title]),
    tree("span", { class: "av-i-fact" }, [facts]),
    alarm && tree("span", { class: "av-c-grad" }, [alarm]),
  ];
  const attributes = { type: "button", class: "av-i-module", "aria-pressed": String(isSelected) };
  const line = tree("button", attributes, label, { message: { kind: "select", id } });
  return tree("li", { "data-depth": Math.min(depth, 6) }, [foldButton(word, picture, id, card), line], { key: id });
}

/**
 * What folds the modules in a module away; room for it where there are none.
 * @param {import("../shared/words.js").Word} word
 * @param {MapPicture} picture
 * @param {string} id
 * @param {Card} card
 * @returns {Tree}
 */
function foldButton(word, picture, id, card) {
  const inside = picture.map.frames[id]?.parts ?? [];
  if (!inside.some((part) => !["ops", "root"].includes(picture.map.cards[part].kind)))
    return tree("span", { class: "av-i-fold" });
  const isOpen = !picture.folded.has(id);
  const attributes = {
    type: "button",
    class: "av-i-fold",
    "aria-expanded": String(isOpen),
    "aria-label": `${word(isOpen ? "collapse" : "expand")} ${card.title}`,
  };
  return tree("button", attributes, [isOpen ? "▾" : "▸"], { message: { kind: "fold", id } });
}
