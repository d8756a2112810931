// Two passes side by side as a page of their own.

import { renderDiff } from "./diff.js";
import { followSystem } from "../page/system_theme.js";

const diffPlace = document.getElementById("av-stepper");
const diffData = JSON.parse(document.getElementById("av-recording")?.textContent ?? "{}");
followSystem(diffData.palettes ?? {});
if (diffPlace) renderDiff({ model: { get: () => diffData }, el: diffPlace });
for (const folded of document.querySelectorAll("details")) folded.open = true;
