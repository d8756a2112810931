// The source line with the exact sub-expression marked.

import { tree } from "../shared/tree.js";

/** @typedef {import("../pass/program.js").Source} Source */
/** @typedef {import("../shared/tree.js").Tree} Tree */

/**
 * The text before, in and after the expression, without the indentation that all lines share. Columns count characters as
 * Python does, not the halves of surrogate pairs.
 * @param {Source} source
 * @returns {[string, string, string]}
 */
export function splitSource(source) {
  const lines = (source.text ?? "").split("\n").map((line) => [...line]);
  const indents = lines.filter((l) => l.join("").trim()).map((l) => l.findIndex((c) => c.trim()));
  const common = Math.min(source.column, ...indents);
  const [first, last] = [lines[0], lines[lines.length - 1]];
  const isOneLine = lines.length === 1;
  const before = first.slice(common, source.column).join("");
  const after = last.slice(Math.max(source.end_column, common)).join("");
  if (isOneLine) return [before, first.slice(source.column, source.end_column).join(""), after];
  const middle = lines.slice(1, -1).map((l) => l.slice(common).join(""));
  const inside = [first.slice(source.column).join(""), ...middle, last.slice(common, source.end_column).join("")];
  return [before, inside.join("\n"), after];
}

/**
 * "model.py", or "" for a notebook cell, whose file name says nothing to a person.
 * @param {string} file
 */
export function fileName(file) {
  if (/ipykernel_|^<ipython-input|^<stdin>|marimo.*cell/i.test(file)) return "";
  return file.split(/[\\/]/).pop() ?? "";
}

/**
 * @param {Source | undefined} source
 * @param {import("../shared/words.js").Word} word
 * @returns {Tree[]}
 */
export function sourceView(source, word) {
  if (!source) return [tree("p", { class: "av-i-note" }, [word("no_source")])];
  const line = word("source_line", { line: source.line });
  const name = fileName(source.file);
  const place = tree("p", { class: "av-i-note", title: source.file }, [name && tree("bdi", {}, [name]), name && ", ", line]);
  if (!source.text) return [place];
  const [before, inside, after] = splitSource(source);
  const code = tree("code", {}, [before, tree("mark", {}, [inside]), after]);
  return [tree("pre", { class: "av-i-code", tabindex: 0, "aria-label": word("source") }, [code]), place];
}
