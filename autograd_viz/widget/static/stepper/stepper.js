// The widget: what anywidget calls. A new picture of the same pass gets a new view, which goes on from the one before; so does
// another detail of it.

import { keep } from "./kept.js";
import { morph } from "./morph.js";
import { keepRecorded } from "../pass/recorded.js";
import { Details } from "../stage/details.js";
import { View } from "./view.js";

/** @typedef {import("../pass/kernel.js").Model} Model */

/**
 * The picture: as text from a kernel, as it is in a page.
 * @param {Model} model
 */
function pictureOf(model) {
  const picture = model.get("picture");
  return typeof picture === "string" ? JSON.parse(picture) : picture;
}

/** @param {{ model: Model }} context */
function initialize({ model }) {
  keepRecorded(model);
}

/** @param {{ model: Model, el: HTMLElement }} context */
function render({ model, el }) {
  /** @type {View | undefined} */
  let view;
  /** @type {Details} */
  let details;
  let isLeft = false;
  const leave = () => {
    view?.abort.abort();
    el.replaceChildren(); // ipywidgets keeps detached views alive
  };
  const draw = (/** @type {any} */ picture) => {
    const kept = view && keep(view);
    leave();
    view = picture.svg ? new View(model, el, picture, { details, redraw: () => queueMicrotask(again) }, kept) : undefined;
  };
  /** Another detail of the same picture. */
  const again = () => {
    if (isLeft || !view) return;
    const settle = morph(view.stage);
    draw(pictureOf(model));
    settle(view.stage);
  };
  const redraw = () => {
    const picture = pictureOf(model);
    const before = details;
    details = new Details(picture);
    if (before) details.goOn(before);
    draw(picture);
  };
  redraw();
  model.on("change:picture", redraw);
  return () => {
    isLeft = true;
    model.off("change:picture", redraw);
    leave();
  };
}

export default { initialize, render };
