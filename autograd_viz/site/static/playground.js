// The playground: a program on the left, its backward pass on the right. A link holds the program and the step.

import { Editor } from "./editor.js";
import { MOST_LINK, packed, unpacked } from "./link.js";
import { Runner } from "./runner.js";

/** @type {{ words: Record<string, Record<string, string>>, examples: Record<string, string>, parts: Record<string, string>, sizes: Record<string, number> }} */
const data = JSON.parse(document.getElementById("data")?.textContent ?? "");
const MOST_PRINTED = 120_000; // letters that the page keeps
const FIRST = ["pyodide/pyodide.asm.wasm.gz", "pyodide/python_stdlib.zip", "autograd_viz.zip"];
const at = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const asked = new URLSearchParams(location.hash.slice(1));
if (asked.has("embed")) document.body.classList.add("embed"); // in someone's page: the program and its picture alone
let language = (asked.get("lang") || navigator.language).startsWith("zh") ? "zh" : "en";
let [step, began, ticking] = [/** @type {number | undefined} */ (undefined), 0, 0];
let isDamaged = false; // the link that was opened
/** @type {Record<string, string | number> & { word: string } | undefined} */
let said;

/** @param {string} word @param {Record<string, any>} [places] */
function text(word, places = {}) {
  return data.words[language][word].replace(/\{(\w+)\}/g, (_, name) => String(places[name] ?? ""));
}

/** @param {string} word @param {Record<string, any>} [places] @param {boolean} [isWrong] */
function say(word, places = {}, isWrong = false) {
  said = { word, ...places };
  at("status").textContent = text(word, places);
  at("status").classList.toggle("wrong", isWrong);
}

function speak() {
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  document.title = text("page_title");
  for (const el of document.querySelectorAll("[data-word]")) el.textContent = text(el.getAttribute("data-word") ?? "");
  for (const name of ["run", "stop"]) at(name).title = text(`${name}_program_tip`);
  at("share").title = text("share_tip");
  at("printed").setAttribute("aria-label", text("printed_label"));
  at("result").setAttribute("aria-label", text("result_label"));
  at("parts").replaceChildren(...Object.keys(data.parts).map(linked));
  const chosen = at("examples").value;
  at("examples").replaceChildren(...Object.keys(data.examples).map((name) => new Option(text(`example_${name}`), name)));
  at("examples").value = chosen || "chain";
  editor.name(text("editor_label"));
  if (said) at("status").textContent = text(said.word, said);
}

/** @param {string} part */
function linked(part) {
  const folder = language === "zh" ? "zh/" : "";
  return Object.assign(document.createElement("a"), {
    textContent: text(part),
    href: data.parts[part].replace("{folder}", folder),
  });
}

/** The link out of someone's page follows the program. */
async function leadOut() {
  if (asked.has("embed") && editor.text.length <= MOST_LINK) at("open").href = `index.html#code=${await packed(editor.text)}`;
}

async function opened() {
  const link = new URLSearchParams(location.hash.slice(1));
  const [code, moment] = [link.get("code"), Number.parseInt(link.get("step") ?? "", 10)];
  step = Number.isSafeInteger(moment) && Math.abs(moment) < 1e6 ? moment : undefined;
  isDamaged = false;
  const example = link.get("example") ?? "chain";
  at("examples").value = Object.hasOwn(data.examples, example) ? example : "chain";
  if (!code) return data.examples[at("examples").value];
  try {
    return await unpacked(code);
  } catch {
    isDamaged = true;
    return data.examples.chain;
  }
}

async function share() {
  if (editor.text.length > MOST_LINK) return say("too_long", {}, true);
  const moment = step === undefined ? "" : `&step=${step}`;
  history.replaceState(null, "", `#code=${await packed(editor.text)}${moment}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("shared");
  } catch {
    say("share_failed");
  }
}

/** @param {{ kind: string, page: string }} thing */
function framed({ kind, page }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = text(kind === "stepper" ? "stepper_frame" : "picture_frame");
  if (kind === "svg") {
    const image = `<img alt="" src="data:image/svg+xml;base64,${btoa(unescape(encodeURIComponent(page)))}">`;
    frame.srcdoc = `<!doctype html>${image}`;
  } else frame.srcdoc = page;
  return frame;
}

/** @param {any} result */
function show({ shown, error, said: sentence }) {
  at("result").replaceChildren(...shown.map(framed));
  if (sentence) at("result").append(Object.assign(document.createElement("p"), { textContent: sentence }));
  if (!error && isDamaged) return say("bad_link", {}, true);
  if (!error) return say("ran", { seconds: ((performance.now() - began) / 1000).toFixed(1) });
  editor.mark(error.line, [error.text, error.advice].filter(Boolean).join("\n"));
  if (error.line) say("failed", { line: error.line }, true);
  else say("failed_somewhere", {}, true);
  if (!error.line) print(error.traceback);
}

/** @param {string} more */
function print(more) {
  at("printed").hidden = false;
  at("printed").textContent = (at("printed").textContent + more).slice(0, MOST_PRINTED);
}

const mb = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1);
const first = Object.entries(data.sizes).filter(([name]) => FIRST.includes(name) || name.startsWith("pyodide/numpy"));
const all = first.reduce((sum, [, size]) => sum + size, 0);

/** @type {Record<string, (message: any) => void>} */
const HEAR = {
  loaded: ({ done }) => {
    at("progress").value = Math.min(1, done / all);
    if (!began || runner.waiting) say("loading", { done: mb(Math.min(done, all)), all: mb(all) });
  },
  starting: () => say("starting"),
  ready: () => void (at("progress").hidden = true),
  running: () => {
    began = performance.now();
    say("running");
    ticking = setInterval(() => {
      const seconds = Math.round((performance.now() - began) / 1000);
      if (seconds > 4) say("running_long", { seconds });
    }, 1000);
  },
  loading: ({ names }) => {
    clearInterval(ticking);
    at("printed").textContent = "";
    const wanted = names.includes("scipy") ? [...names, "openblas"] : names;
    const sizes = Object.entries(data.sizes).filter(([file]) =>
      wanted.some((/** @type {string} */ n) => file.startsWith(`pyodide/${n}`)),
    );
    say("loading_more", { names: names.join(", "), all: mb(sizes.reduce((sum, [, size]) => sum + size, 0)) });
  },
  printed: ({ text: more }) => print(String(more)),
  ran: ({ result }) => show(result),
  answered: ({ at: place, answer }) =>
    document.querySelectorAll("iframe")[place]?.contentWindow?.postMessage({ autogradVizMoved: answer }, "*"),
  stopped: () => {
    at("result").replaceChildren(); // it is of a program before
    say("stopped");
  },
  died: ({ error }) => say(runner.current.isReady || began ? "died" : "no_python", { error }, true),
};

function changed() {
  step = undefined;
  leadOut();
}

const editor = new Editor(at("editor"), { run, changed });
const runner = new Runner(data.sizes, (message) => {
  if (!Object.hasOwn(HEAR, message.kind)) return;
  if (["ran", "stopped", "died"].includes(message.kind)) {
    clearInterval(ticking);
    at("stop").disabled = true;
  }
  HEAR[message.kind](message);
});

function run() {
  isDamaged = false;
  start();
}

function start() {
  at("printed").textContent = "";
  at("printed").hidden = true;
  editor.mark(null, "");
  runner.run({ program: editor.text, step, language });
  at("stop").disabled = false; // what ran before has been stopped
}

async function open() {
  editor.text = await opened();
  leadOut();
  start();
}

at("run").addEventListener("click", run);
at("stop").addEventListener("click", () => runner.stop());
at("share").addEventListener("click", share);
at("language").addEventListener("click", () => {
  language = language === "en" ? "zh" : "en";
  speak();
  if (!runner.isBusy) run();
});
at("examples").addEventListener("change", () => {
  step = undefined;
  editor.text = data.examples[at("examples").value];
  run();
});
// a stepper in a frame says where it is, for the link; sliders in a frame ask the program
addEventListener("message", ({ source, data: told }) => {
  const place = [...document.querySelectorAll("iframe")].findIndex((frame) => frame.contentWindow === source);
  const isOurs = place >= 0;
  if (isOurs && told?.autogradVizMove) void runner.ask(place, told.autogradVizMove);
  if (isOurs && Number.isSafeInteger(told?.autogradVizStep)) step = told.autogradVizStep;
});
addEventListener("hashchange", open);

at("progress").hidden = false;
speak();
if (location.protocol === "file:") say("no_file", {}, true);
else {
  say("loading", { done: "0.0", all: mb(all) });
  open();
}
