// A saved stepper as a page of its own: its recording stands in the page, light or dark follows the system.

import { FileModel } from "./file_model.js";
import { followSystem } from "../page/system_theme.js";
import stepper from "./stepper.js";

/** @param {HTMLElement} el */
function openRecording(el) {
  const model = new FileModel(JSON.parse(document.getElementById("av-recording")?.textContent ?? ""));
  followSystem(model.get("picture").palettes);
  stepper.render({ model, el });
  // the page around it, if there is one, may make a link to this step
  model.on("change:step", (step) => window !== window.parent && window.parent.postMessage({ autogradVizStep: step }, "*"));
  if (window === window.top)
    el.querySelector("button")?.focus({ preventScroll: true }); // keys work at once
  else document.body.classList.add("av-framed");
}

const pageBody = document.getElementById("av-stepper");
if (pageBody) openRecording(pageBody);
