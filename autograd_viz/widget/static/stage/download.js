// The picture as it is now, as a file of its own: what the style sheet says of each element is written into it.

import { html } from "../shared/elements.js";

/** @typedef {import("../figure/picture.js").Picture} Picture */

const DRAWN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight", "text-decoration-line"];
const UNSAID = ["none", "normal", "400", ""]; // what says nothing; of fill and stroke "none" is said
const HIDDEN = ".card.open > .rows, .card.open > .behind, .card:not(.open) > .inside"; // of a map
const MOVING = `.runner, .way:not(.line), .av-name, ${HIDDEN}`; // numbers on their way, the ways, and the names of boxes seen from far
const [KEPT, LIT] = [10_000, 600]; // ms until the browser has taken the file; in which it is seen that a picture was copied
const [SHARP, MOST_PIXELS] = [2, 8000]; // pixels of a file for one of a picture; of its longer side

/**
 * A copy with all that is not drawn at the moment because it is out of sight.
 * @param {Picture} picture
 */
function copyOf(picture) {
  picture.make(picture.pieces);
  /** @type {Map<ChildNode | null, Element | null>} */
  const away = new Map(picture.pieces.map((piece) => [piece.place, piece.element]));
  const copy = /** @type {SVGElement} */ (picture.svg.cloneNode(false));
  for (const node of picture.svg.childNodes) copy.append((away.get(node) ?? node).cloneNode(true));
  for (const element of copy.querySelectorAll(MOVING)) element.remove();
  copy.classList.remove("av-far", "hovering");
  return copy;
}

/**
 * What an element looks like, as attributes.
 * @param {Element} element in the page
 * @returns {[name: string, value: string][]}
 */
function looks(element) {
  const style = getComputedStyle(element);
  const isDrawn = ["path", "rect", "circle", "text", "tspan"].includes(element.tagName);
  const said = (isDrawn ? DRAWN : []).map((name) => /** @type {[string, string]} */ ([name, style.getPropertyValue(name)]));
  const wanted = said.filter(([name, value]) => name === "fill" || !UNSAID.includes(value));
  if (style.opacity !== "1") wanted.push(["opacity", style.opacity]);
  return wanted.map(([name, value]) => [name.replace("-line", ""), value]);
}

/**
 * The picture as the text of an SVG file that needs no style sheet.
 * @param {Picture} picture
 * @param {Element} stage in which the style sheet holds
 */
export function fileOf(picture, stage) {
  const copy = copyOf(picture);
  stage.append(copy);
  const all = [...copy.querySelectorAll("*")].map((element) => ({ element, attributes: looks(element) })); // read first, then write
  copy.remove();
  for (const { element, attributes } of all) {
    for (const name of element.getAttributeNames())
      if (name === "class" || name.startsWith("data-")) element.removeAttribute(name);
    for (const [name, value] of attributes) element.setAttribute(name, value);
    if (element.tagName === "text") element.setAttributeNS("http://www.w3.org/XML/1998/namespace", "xml:space", "preserve");
  }
  for (const name of ["class", "style"]) copy.removeAttribute(name);
  for (const name of /** @type {const} */ (["width", "height"])) copy.setAttribute(name, String(picture[name]));
  return new XMLSerializer().serializeToString(copy);
}

/**
 * Let the browser save a file.
 * @param {Blob} file
 * @param {string} name of the file
 */
export function offer(file, name) {
  const link = html("a", "");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
}

/**
 * How many pixels of a file there are for one of a picture: two, or as many as a canvas holds.
 * @param {{ width: number, height: number }} picture
 */
export function sharpness({ width, height }) {
  return Math.min(SHARP, MOST_PIXELS / Math.max(width, height));
}

/**
 * @param {string} text of an SVG file
 * @param {{ width: number, height: number }} picture
 * @param {string} ground its colour
 * @returns {Promise<Blob>}
 */
async function pngOf(text, picture, ground) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(text)}`; // a saved page's policy knows no blob
  await image.decode();
  const [canvas, by] = [html("canvas", ""), sharpness(picture)];
  [canvas.width, canvas.height] = [Math.ceil(picture.width * by), Math.ceil(picture.height * by)];
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.fillStyle = ground;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((go, fail) => canvas.toBlob((file) => (file ? go(file) : fail(new Error("no picture"))), "image/png"));
}

/**
 * Put the picture on the clipboard; as a file where the page may not do that.
 * @param {string} text of an SVG file
 * @param {{ width: number, height: number }} picture
 * @param {Element} stage which lights up when it is there
 */
export async function copyPicture(text, picture, stage) {
  const made = pngOf(text, picture, getComputedStyle(stage).backgroundColor);
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
    stage.classList.add("av-copied");
    setTimeout(() => stage.classList.remove("av-copied"), LIT);
  } catch {
    offer(await made, "autograd.png");
  }
}
