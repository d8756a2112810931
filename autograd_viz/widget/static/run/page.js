// A saved run as a page of its own: its numbers stand in the page, light or dark follows the system.

import { followSystem } from "../page/system_theme.js";
import { renderRun } from "./run.js";

const runPlace = document.getElementById("av-stepper");
const runNumbers = JSON.parse(document.getElementById("av-recording")?.textContent ?? "{}");
followSystem(runNumbers.palettes ?? {});
if (runPlace)
  renderRun({
    model: { get: (/** @type {string} */ name) => (name === "data" ? runNumbers : {}), on() {}, off() {} },
    el: runPlace,
  });
