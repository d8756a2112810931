// The widget: what anywidget calls. A new picture of the same pass gets a new view, which goes on from the one before.

import { keep } from "./kept.js";
import { keepRecorded } from "../pass/recorded.js";
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
  const leave = () => {
    view?.abort.abort();
    el.replaceChildren(); // ipywidgets keeps detached views alive
  };
  const redraw = () => {
    const kept = view && keep(view);
    leave();
    const picture = pictureOf(model);
    view = picture.svg ? new View(model, el, picture, kept) : undefined;
  };
  redraw();
  model.on("change:picture", redraw);
  return () => {
    model.off("change:picture", redraw);
    leave();
  };
}

export default { initialize, render };
