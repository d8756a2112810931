// Which drawn lines of code belong to which statement. A statement is wrapped over several lines, so they are put together again.

/** @typedef {import("./graph.js").Statement} Statement */
/** @typedef {import("./graph.js").Graph} Graph */

const CUT = "…"; // the last line of a statement that is too long to be shown

/** @param {string} text */
const bare = (text) => text.replace(/\s+/g, "");

/**
 * Statements in the order of the drawn lines: for each line the index of its statement, or -1.
 * @param {string[]} lines
 * @param {Statement[]} statements
 */
export function statementsOfLines(lines, statements) {
  const left = new Map(statements.map((s, i) => [i, bare(s.text)]));
  const words = lines.map(bare);
  const found = lines.map(() => -1);
  let line = 0;
  while (line < lines.length) {
    const [index, count] = longest(words, line, left);
    for (let i = line; i < line + count; i++) found[i] = index;
    if (count) left.delete(index);
    line += Math.max(1, count);
  }
  return found;
}

/**
 * The first statement that starts at a line, and over how many lines it goes.
 * @param {string[]} lines without spaces
 * @param {number} start
 * @param {Map<number, string>} statements
 * @returns {[number, number]}
 */
function longest(lines, start, statements) {
  for (const [index, text] of statements) {
    let taken = "";
    for (let i = start; i < lines.length && (text.startsWith(taken + lines[i]) || lines[i] === CUT); i++) {
      taken += lines[i];
      if (taken === text || lines[i] === CUT) return [index, i - start + 1];
    }
  }
  return [-1, 0];
}

/**
 * The tensors whose statements an op belongs to: its results, or those made on the same line.
 * @param {string | null | undefined} op
 * @param {Graph} graph
 * @returns {Set<string>}
 */
export function tensorsOfOp(op, graph) {
  const made = op ? graph.ops.get(op) : undefined;
  if (!made) return new Set();
  const statements = (graph.document.statements ?? []).filter((s) => (s.kind ?? "make") === "make").map((s) => s.tensor);
  const own = statements.filter((t) => made.outputs.includes(t));
  const line = made.source?.line;
  const same = statements.filter((t) => line !== undefined && graph.tensors.get(t)?.source?.line === line);
  return new Set(own.length ? own : same);
}
