// A page of sliders without a kernel: runs along one leaf stand in it. A page around it with Python may answer instead.

import { followSystem } from "../page/system_theme.js";
import { renderExplore } from "./explore.js";

/** Answers with the recorded run whose value is next to the one that is asked for. */
class RecordedRuns {
  /** @param {any} data */
  constructor(data) {
    /** @type {Record<string, any>} */
    this.traits = { data, recorded: { ...data.recorded, answers: 0 } };
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    addEventListener("message", ({ source, data: told }) => {
      if (source !== window.parent || !told?.autogradVizMoved) return;
      if (told.autogradVizMoved.data) this.traits.data = { ...data, ...told.autogradVizMoved.data };
      this.answer(told.autogradVizMoved.recorded);
    });
  }

  /** @param {string} name */
  get(name) {
    return this.traits[name];
  }

  set() {}

  save_changes() {}

  /** @param {string} event @param {() => void} listener */
  on(event, listener) {
    if (event === "change:recorded") this.listeners.add(listener);
  }

  /** @param {string} _ @param {() => void} listener */
  off(_, listener) {
    this.listeners.delete(listener);
  }

  /** @param {any} run */
  answer(run) {
    this.traits.recorded = { ...run, answers: this.traits.recorded.answers + 1 };
    for (const listener of this.listeners) listener();
  }

  /** @param {any} question */
  send(question) {
    if (question.kind !== "move") return;
    const { data } = this.traits;
    if (data.is_live) return window.parent.postMessage({ autogradVizMove: question }, "*");
    const { leaf, element } = data.recorded.at;
    const wanted = question.values[leaf][element];
    const away = (/** @type {any} */ run) => Math.abs((run.values[leaf][element] ?? Infinity) - wanted);
    const nearest = data.runs.reduce((/** @type {any} */ best, /** @type {any} */ run) =>
      away(run) < away(best) ? run : best,
    );
    queueMicrotask(() => this.answer(nearest));
  }
}

const explorePlace = document.getElementById("av-stepper");
if (explorePlace) {
  const exploreData = JSON.parse(document.getElementById("av-recording")?.textContent ?? "{}");
  followSystem(exploreData.palettes);
  renderExplore({ model: /** @type {any} */ (new RecordedRuns(exploreData)), el: explorePlace });
  if (window !== window.top) document.body.classList.add("av-framed");
}
