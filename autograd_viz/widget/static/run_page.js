// A saved run as a page of its own: its numbers stand in the page, light or dark follows the system.

import { renderRun } from "./run.js";

const runPlace = document.getElementById("av-stepper");
const runNumbers = JSON.parse(document.getElementById("av-recording")?.textContent ?? "{}");
const runSystem = matchMedia("(prefers-color-scheme: dark)");
const followRunSystem = () => document.body.classList.toggle("av-dark", runSystem.matches);
runSystem.addEventListener("change", followRunSystem);
followRunSystem();
if (runPlace) renderRun({ model: { get: (/** @type {string} */ name) => (name === "data" ? runNumbers : {}), on() {}, off() {} }, el: runPlace });
