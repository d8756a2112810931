// Lines of the full figure on few lines, as a figure in brief has them; brief_lines in writer.py writes the first ones alike.

/** @typedef {import("./draw.js").Lines} Lines */
/** @typedef {import("./draw.js").Run} Run */

/** @param {string} text as `tensor([1., 2.])` or `shape (3, 4)` */
export function briefValue(text) {
  const inside = text.startsWith("tensor(") ? text.slice(7).replace(/\)$/, "") : text;
  return inside.replace(/^shape /, "").replace(/\.(?!\d)/g, ".0");
}

/**
 * Two entries in a line: `self = 36.0  other = (3, 4)`.
 * @param {Lines} lines a line that begins with a space goes on with the entry before
 * @param {number} most columns of a value; a sum that is longer is its result
 * @param {string} short what stands for a value that is longer; "" if none is
 * @returns {Lines}
 */
export function briefLines(lines, most, short) {
  /** @type {Run[][]} */
  const entries = [];
  for (const line of lines) {
    const last = entries.at(-1);
    if (last && line[0][0].startsWith(" ")) last.push(...line);
    else entries.push([...line]);
  }
  const written = entries.map((entry) => briefEntry(entry, most, short));
  /** @type {Lines} */
  const pairs = [];
  for (let i = 0; i < written.length; i += 2)
    pairs.push(written[i + 1] ? [...written[i], ["  ", "text"], ...written[i + 1]] : written[i]);
  return pairs;
}

/**
 * @param {Run[]} entry
 * @param {number} most
 * @param {string} short
 * @returns {Run[]}
 */
function briefEntry([head, ...rest], most, short) {
  const last = rest.at(-1);
  if (!last) return [head];
  let value = briefValue(rest.map(([text]) => text.trim()).join(""));
  if (value.length > most && short) {
    value = value.split(" = ").at(-1) ?? "";
    if (value.length > most) value = short;
  }
  return [head, [value, last[1]]];
}
