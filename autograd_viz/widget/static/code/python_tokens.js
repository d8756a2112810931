// Python's keywords, strings, comments and numbers, line by line.

/** @typedef {{ kind: string, text: string }} Token `kind` is "", "keyword", "string", "comment" or "number" */

const KEYWORDS = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);
const PREFIX = "(?:[rRbBfFuUtT]{0,2})";
const TOKEN = new RegExp(
  [
    "(?<comment>#.*)",
    `(?<open>${PREFIX}(?:"""|'''))`,
    `(?<string>${PREFIX}(?:"(?:\\\\.|[^"\\\\])*"?|'(?:\\\\.|[^'\\\\])*'?))`,
    "(?<number>(?<![\\w.])(?:0[xXbBoO][\\da-fA-F_]+|(?:\\d[\\d_]*\\.?[\\d_]*|\\.\\d[\\d_]*)(?:[eE][+-]?\\d+)?[jJ]?))",
    "(?<word>[^\\W\\d]\\w*)",
  ].join("|"),
  "gu",
);

/**
 * The tokens of consecutive lines; a string of several lines goes on in the next.
 * @param {string[]} lines
 * @returns {Token[][]}
 */
export function tokensOf(lines) {
  let open = ""; // the quotes of a string that goes on
  return lines.map((line) => {
    const found = tokensOfLine(line, open);
    open = found.open;
    return found.tokens;
  });
}

/**
 * @param {string} line
 * @param {string} open
 */
function tokensOfLine(line, open) {
  /** @type {Token[]} */
  const tokens = [];
  let at = 0;
  const take = (/** @type {number} */ end, /** @type {string} */ kind) => {
    if (end > at) tokens.push({ kind, text: line.slice(at, end) });
    at = Math.max(at, end);
  };
  const close = (/** @type {string} */ quotes, /** @type {number} */ from) => {
    const end = line.indexOf(quotes, from);
    take(end < 0 ? line.length : end + 3, "string");
    return end < 0 ? quotes : "";
  };
  if (open) open = close(open, 0);
  TOKEN.lastIndex = at;
  for (let found = TOKEN.exec(line); found && !open; found = TOKEN.exec(line)) {
    const { comment, open: opened, string, number } = found.groups ?? {};
    const kind = comment
      ? "comment"
      : opened || string
        ? "string"
        : number
          ? "number"
          : KEYWORDS.has(found[0])
            ? "keyword"
            : "";
    if (!kind) continue;
    take(found.index, "");
    if (opened) open = close(opened.slice(-3), TOKEN.lastIndex);
    else take(TOKEN.lastIndex, kind);
    TOKEN.lastIndex = at;
  }
  take(line.length, "");
  return { tokens, open };
}
