// A panel is a pure function to a tree of plain objects; only what differs from the tree before is written to the page,
// so that focus, scroll position and what a person has opened or typed survive a step.

/** @typedef {{ kind: string, [field: string]: any }} Message */
/** @typedef {string | Tree | null | undefined | false} Child */
/**
 * @typedef {object} Tree
 * @property {string} tag
 * @property {Record<string, string | number>} attributes
 * @property {(string | Tree)[]} children
 * @property {string} [key] what makes it the same element at the next step; else tag and place
 * @property {Message} [message] what a click on it asks for
 * @property {Record<string, string>} [once] attributes at birth that are the person's afterwards
 */

const SVG_SPACE = "http://www.w3.org/2000/svg";
/** @type {WeakMap<Node, Tree>} what each element shows now */
const shown = new WeakMap();

/**
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {Child[]} [children]
 * @param {{ key?: string, message?: Message, once?: Record<string, string> }} [extra]
 * @returns {Tree}
 */
export function tree(tag, attributes = {}, children = [], extra = {}) {
  const there = /** @type {(string | Tree)[]} */ (children.filter((c) => c !== null && c !== undefined && c !== false));
  return { tag, attributes, children: there, ...extra };
}

/**
 * All text of a tree, in reading order.
 * @param {string | Tree} part
 * @returns {string}
 */
export function treeText(part) {
  return typeof part === "string" ? part : part.children.map(treeText).join("");
}

/**
 * The message of the innermost element with one, from `target` outwards.
 * @param {Element | null} target
 * @returns {Message | undefined}
 */
export function messageAt(target) {
  for (let at = target; at; at = at.parentElement) {
    const message = shown.get(at)?.message;
    if (message) return message;
  }
  return undefined;
}

/**
 * Make the children of `parent` show `parts`.
 * @param {Element} parent
 * @param {(string | Tree)[]} parts
 */
export function patch(parent, parts) {
  let at = parent.firstChild;
  for (const part of parts) {
    const same = isShowing(at, part) ? at : laterTwin(at, part);
    if (same) {
      while (at !== same) at = dropped(parent, /** @type {ChildNode} */ (at));
      renew(same, part);
      at = same.nextSibling;
    } else {
      parent.insertBefore(born(part, parent), at);
    }
  }
  while (at) at = dropped(parent, at);
}

/**
 * @param {Element} parent
 * @param {ChildNode} child
 */
function dropped(parent, child) {
  const next = child.nextSibling;
  parent.removeChild(child);
  return next;
}

/**
 * A keyed element further on: what stands before it has gone.
 * @param {ChildNode | null} at
 * @param {string | Tree} part
 */
function laterTwin(at, part) {
  if (typeof part === "string" || part.key === undefined) return null;
  for (let other = at?.nextSibling ?? null; other; other = other.nextSibling) if (isShowing(other, part)) return other;
  return null;
}

/**
 * @param {Node | null} node
 * @param {string | Tree} part
 */
function isShowing(node, part) {
  if (!node) return false;
  if (typeof part === "string") return node.nodeType === 3;
  const before = shown.get(node);
  return before?.tag === part.tag && before.key === part.key;
}

/**
 * @param {string | Tree} part
 * @param {Element} parent
 * @returns {Node}
 */
function born(part, parent) {
  if (typeof part === "string") return document.createTextNode(part);
  const inside = part.tag === "svg" || parent.namespaceURI === SVG_SPACE;
  const made = inside ? document.createElementNS(SVG_SPACE, part.tag) : document.createElement(part.tag);
  for (const [name, value] of Object.entries(part.once ?? {})) made.setAttribute(name, value);
  for (const [name, value] of Object.entries(part.attributes)) made.setAttribute(name, String(value));
  for (const child of part.children) made.appendChild(born(child, made));
  shown.set(made, part);
  return made;
}

/**
 * @param {Node} node
 * @param {string | Tree} part
 */
function renew(node, part) {
  if (typeof part === "string") {
    if (node.nodeValue !== part) node.nodeValue = part;
    return;
  }
  const element = /** @type {Element} */ (node);
  const before = /** @type {Tree} */ (shown.get(element));
  if (before === part) return;
  for (const name of Object.keys(before.attributes)) if (!(name in part.attributes)) element.removeAttribute(name);
  for (const [name, value] of Object.entries(part.attributes)) {
    if (before.attributes[name] !== value) element.setAttribute(name, String(value));
  }
  shown.set(element, part);
  patch(element, part.children);
}
