// Elements of the page.

import { svgElement } from "./draw.js";

/** @type {Record<string, string>} icons as path data in a 16 x 16 square */
const ICONS = {
  reset: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11 3v10L4 8z",
  next: "M5 3v10l7-5z",
  finish: "M11 3h2v10h-2zM3 3v10l7-5z",
  play: "M3 3v10l5-5zM8 3v10l5-5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  run: "M2 3v10l6-5zM12 4.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z",
  stops: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM5 7v2h6V7z",
  fit: "M2 2h5v2H4v3H2zM9 2h5v5h-2V4H9zM2 9h2v3h3v2H2zM12 9h2v5H9v-2h3z",
  zoom_in: "M7 3h2v4h4v2H9v4H7V9H3V7h4z",
  zoom_out: "M3 7h10v2H3z",
  detail: "M2 2h12v5H2zM3.5 3.5v2h9v-2zM2 9h8v2H2zM2 12h5v2H2z",
  download: "M7 2h2v5h3l-4 4-4-4h3zM3 12h10v2H3z",
  copy: "M2 2h9v2H4v7H2zM5 5h9v9H5zM6.5 6.5v6h6v-6z",
  code: "M5.5 3.5l1.2 1.2L3.4 8l3.3 3.3-1.2 1.2L1 8zM10.5 3.5L9.3 4.7 12.6 8l-3.3 3.3 1.2 1.2L15 8z",
  present: "M1 2h14v9H9v1.5h2.5V14h-7v-1.5H7V11H1zM2.5 3.5v6h11v-6z",
  panel: "M2 3h12v10H2zM3.5 4.5v7h5v-7z",
};

/** @param {string} name */
export function icon(name) {
  const drawing = svgElement("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
  drawing.append(svgElement("path", { d: ICONS[name], fill: "currentColor", "fill-rule": "evenodd" }));
  return drawing;
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {string} className
 * @param {string} [text]
 */
export function html(tag, className, text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/**
 * A button with an icon, or a word if there is no such icon.
 * @param {string} name
 * @param {string} label
 * @param {() => void} press
 * @param {AbortSignal} signal
 */
export function button(name, label, press, signal) {
  const made = html("button", `av-button av-${name}`);
  made.type = "button";
  made.title = label;
  made.setAttribute("aria-label", label);
  if (name in ICONS) made.append(icon(name));
  made.addEventListener("click", () => made.ariaDisabled !== "true" && press(), { signal });
  return made;
}

/**
 * A checkbox with its label.
 * @param {string} text
 * @param {(checked: boolean) => void} change
 * @param {AbortSignal} signal
 */
export function checkbox(text, change, signal) {
  const label = html("label", "av-check");
  const box = html("input", "");
  box.type = "checkbox";
  box.addEventListener("change", () => change(box.checked), { signal });
  label.append(box, text);
  return { label, box };
}

/**
 * What ends a view: its listeners go, and its element is empty, because ipywidgets keeps detached views alive.
 * @param {{ abort: AbortController }} view
 * @param {HTMLElement} el
 */
export function endOf(view, el) {
  return () => {
    view.abort.abort();
    el.replaceChildren();
  };
}
