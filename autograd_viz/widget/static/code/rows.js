// The code view as trees: the call stack, and the lines with their marks, values and breakpoints.

import { tokensOf } from "./python_tokens.js";
import { fileName } from "./source_line.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("./moments.js").Call} Call */
/** @typedef {import("./moments.js").CodeText} CodeText */
/** @typedef {import("./moments.js").Place} Place */
/** @typedef {import("./moments.js").Said} Said */
/** @typedef {import("../shared/tree.js").Tree} Tree */
/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {{ name: string, place: Place }} Lit a class, and the expression that has it */
/** @typedef {{ said: Said | null, hasRuns: boolean, canStop: boolean, stop: boolean, reachable: boolean, lit: Lit[] }} Row */
/** @typedef {{ kind: string, text: string, start: number, end: number }} Piece columns, in characters */

const ARROWS = { ran: "M1 1L9 5.5L1 10Z", next: "M1.5 1.8L8 5.5L1.5 9.2Z" }; // filled; hollow

export class CodeSheet {
  /**
   * A text, with its tokens; without the indentation that all lines share.
   * @param {CodeText} text
   */
  constructor(text) {
    const lines = text.lines.map(([, line]) => line);
    const indents = lines.filter((line) => line.trim()).map((line) => line.search(/\S/));
    this.numbers = text.lines.map(([number]) => number);
    this.indent = Math.min(...indents, 200);
    this.starts = lines.map((line) => Math.max(this.indent, line.search(/\S|$/)));
    this.pieces = tokensOf(lines).map((tokens, i) => piecesOf(tokens, this.starts[i]));
    this.plain = this.pieces.map((pieces) => pieces.map((piece) => spanOf(piece, "")));
  }

  /**
   * The spans of a line; those of an expression that is lit have its class.
   * @param {number} i
   * @param {Lit[]} lit
   */
  spans(i, lit) {
    const number = this.numbers[i];
    const here = lit.filter(({ place }) => place[1] <= number && number <= place[3]);
    if (!here.length) return this.plain[i];
    const ranges = here.map(({ name, place }) => ({
      name,
      start: place[1] === number ? place[2] : this.starts[i],
      end: place[3] === number ? place[4] : Infinity,
    }));
    const cuts = ranges.flatMap(({ start, end }) => [start, end]);
    return this.pieces[i]
      .flatMap((piece) => cutAt(piece, cuts))
      .map((piece) => {
        const names = ranges.filter(({ start, end }) => start <= piece.start && piece.end <= end).map(({ name }) => name);
        return spanOf(piece, names.join(" "));
      });
  }
}

/**
 * @param {import("./python_tokens.js").Token[]} tokens
 * @param {number} from column
 * @returns {Piece[]}
 */
function piecesOf(tokens, from) {
  let at = 0;
  const all = tokens.map(({ kind, text }) => {
    const start = at;
    at += [...text].length; // Python counts characters, not the halves of surrogate pairs
    return { kind, text, start, end: at };
  });
  return all.flatMap((piece) => cutAt(piece, [from])).filter((piece) => piece.start >= from);
}

/**
 * @param {Piece} piece
 * @param {number[]} columns
 * @returns {Piece[]}
 */
function cutAt(piece, columns) {
  const inside = [...new Set(columns)].filter((column) => piece.start < column && column < piece.end).sort((a, b) => a - b);
  const letters = [...piece.text];
  return [piece.start, ...inside].map((start, i) => {
    const end = inside[i] ?? piece.end;
    return { ...piece, start, end, text: letters.slice(start - piece.start, end - piece.start).join("") };
  });
}

/**
 * @param {Piece} piece
 * @param {string} lit
 */
function spanOf({ kind, text }, lit) {
  const names = [kind && `av-c-${kind === "number" ? "digits" : kind}`, lit].filter(Boolean).join(" ");
  return names ? tree(lit ? "mark" : "span", { class: names }, [text]) : text;
}

/**
 * @param {"ran" | "next"} kind
 * @returns {Tree}
 */
function markArrow(kind) {
  const path = tree("path", { d: ARROWS[kind] });
  return tree(
    "svg",
    { class: `av-c-arrow av-c-to-${kind}`, viewBox: "0 0 10 11", width: 10, height: 11, "aria-hidden": "true" },
    [path],
  );
}

/**
 * A line.
 * @param {CodeSheet} sheet
 * @param {number} i
 * @param {Row} row
 * @param {Say} say
 * @returns {Tree}
 */
export function codeRow(sheet, i, { said, hasRuns, canStop, stop, reachable, lit }, say) {
  const line = sheet.numbers[i];
  const isAfterGap = i > 0 && line > sheet.numbers[i - 1] + 1;
  const names = ["av-c-line", said?.ran && "av-c-has-ran", said?.next && "av-c-is-next", isAfterGap && "av-c-after-gap"];
  const tab = reachable ? 0 : -1;
  const stopping = {
    class: "av-c-number",
    type: "button",
    tabindex: tab,
    "aria-pressed": String(stop),
    "aria-label": say("code_stop", { line }),
  };
  const message = { kind: "line", line };
  const number = canStop
    ? tree("button", { ...stopping, title: say("code_stop", { line }) }, [String(line)], { message: { kind: "stop", line } })
    : tree("span", { class: "av-c-number" }, [String(line)]);
  const indent = tree("span", { class: "av-c-indent" }, [" ".repeat(sheet.starts[i] - sheet.indent)]);
  const spans = sheet.spans(i, lit);
  const rest = hasRuns
    ? [tree("span", { class: "av-c-code", role: "button", tabindex: tab }, spans, { message }), noteOfLine(said, say)]
    : [tree("span", { class: "av-c-code" }, spans)];
  const marks = [said?.ran && markArrow("ran"), said?.next && markArrow("next")];
  const parts = [number, ...marks, indent, tree("span", { class: "av-c-rest" }, rest)];
  return tree("li", { class: names.filter(Boolean).join(" ") }, parts, { key: String(line) });
}

/**
 * What stands at the end of a line: marks, the turn, the value, the gradient.
 * @param {Said | null} said
 * @param {Say} say
 */
function noteOfLine(said, say) {
  const [turn, turns] = said?.run.turn ?? [1, 1];
  const node = said && !said.run.op && "AccumulateGrad\u00a0"; // a leaf's line itself does not run
  const mark = (/** @type {"ran" | "next"} */ kind) =>
    tree("span", { class: `av-c-mark av-c-mark-${kind}` }, [node, say(kind === "ran" ? "code_ran" : "code_next")]);
  return tree("span", { class: "av-c-note" }, [
    said?.ran && mark("ran"),
    said?.next && mark("next"),
    turns > 1 && tree("span", { class: "av-c-turn" }, [say("code_turn", { turn, turns })]),
    said?.value && tree("span", { class: "av-c-value" }, [said.value]),
    said?.arrived && tree("span", { class: "av-c-grad", title: say("code_grad") }, ["∂\u00a0", said.arrived]),
  ]);
}

/**
 * What a text is called: "Block.forward", "cell" for a notebook's cell, "train.py".
 * @param {CodeText} text
 * @param {Say} say
 */
function titleOfText({ file, function: called, owner }, say) {
  const name = owner && called ? `${owner}.${called}` : called && `${called}()`;
  return name || fileName(file) || say("code_cell");
}

/**
 * The modules that are being called, the outermost first; a click on one shows its line.
 * @param {Call[]} calls
 * @param {CodeText[]} texts
 * @param {number} shown the text that is shown
 * @param {Say} say
 * @returns {Tree}
 */
export function callStack(calls, texts, shown, say) {
  const rows = calls.map(({ path, name, place }, i) => {
    const text = place && texts[place[0]];
    const file = text ? fileName(text.file) : "";
    const called = text ? titleOfText(text, say) : "";
    const line = text && (file ? `${file}:${place[1]}` : say("source_line", { line: place[1] }));
    const where = called === file ? line : `${called} ${line}`;
    const said = [
      tree("b", {}, [path || name || say("code_caller")]),
      path && name && ` ${name}`,
      where && " ",
      where && tree("span", { class: "av-c-where" }, [where]),
    ];
    const inside = text
      ? tree("button", { type: "button", class: "av-c-call", "aria-current": String(place[0] === shown) }, said, {
          message: { kind: "text", text: place[0], line: place[1] },
        })
      : tree("span", { class: "av-c-call" }, said);
    return tree("li", {}, [inside], { key: String(i) });
  });
  return tree("ol", { class: "av-c-stack", "aria-label": say("code_stack") }, rows, { key: "stack" });
}

/**
 * All texts, if there are several.
 * @param {CodeText[]} texts
 * @param {number} shown
 * @param {Say} say
 * @returns {Tree | null}
 */
export function textTabs(texts, shown, say) {
  if (texts.length < 2) return null;
  const tabs = texts.map((text, i) =>
    tree(
      "button",
      { type: "button", class: "av-c-tab", "aria-pressed": String(i === shown), title: text.file },
      [titleOfText(text, say)],
      { message: { kind: "text", text: i, line: 0 } },
    ),
  );
  return tree("div", { class: "av-c-tabs", role: "group", "aria-label": say("code_texts") }, tabs, { key: "tabs" });
}
