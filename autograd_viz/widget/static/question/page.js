// A saved question as a page of its own.

import { followSystem } from "../page/system_theme.js";
import { renderQuestion } from "./question.js";
import { QuestionModel } from "./model.js";

const questionBody = document.getElementById("av-stepper");
if (questionBody) {
  const model = new QuestionModel(JSON.parse(document.getElementById("av-recording")?.textContent ?? ""));
  followSystem(model.get("asked").palettes);
  renderQuestion({ model, el: questionBody });
}
