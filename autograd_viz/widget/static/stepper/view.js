// A view of one picture: toolbar, sentence, stage and panel, joined to the model.

import { CodeView } from "../code/view.js";
import { gradientEnd, openBox, perform, uncover } from "./commands.js";
import { Controls } from "../toolbar/controls.js";
import { button, html } from "../shared/elements.js";
import { positionAt } from "../pass/forward.js";
import { wholeGroups, withinGroups } from "../pass/groups.js";
import { helpPopup } from "../toolbar/help.js";
import { Inspector } from "../panel/inspector.js";
import { goOn } from "./kept.js";
import { pressed } from "./key_actions.js";
import { listenToKeys } from "../toolbar/keys.js";
import { withinCards } from "../map/layout.js";
import { meanwhileOf, meanwhileText } from "../panel/meanwhile.js";
import { afterPaint } from "../shared/paint.js";
import { Pins } from "../panel/pins.js";
import { Reasons } from "../pass/reasons.js";
import { Said, put } from "../sentence/said.js";
import { Scales } from "../toolbar/scales.js";
import { Search } from "../toolbar/search.js";
import { Split } from "./split.js";
import { Stage } from "../stage/stage.js";
import { hideStill } from "../shared/still.js";
import { breakpointsOf, toggled } from "../pass/stops.js";
import { StopsMenu } from "../toolbar/stops_menu.js";
import { followTheme } from "../shared/theme.js";
import { viewBar } from "../toolbar/view_bar.js";
import { Playback } from "./playback.js";
import { Present, seenHeight } from "./present.js";
import { isStill, onPage } from "../shared/motion.js";
import { sayer } from "../shared/words.js";

/** @typedef {import("../pass/kernel.js").Model} Model */
/** @typedef {import("./kept.js").Kept} Kept */
/** @typedef {import("./commands.js").Command} Command */

let views = 0; // tells the ids of several widgets apart

/** The widget's view. */
export class View {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   * @param {any} picture
   * @param {Kept} [kept] from the view of the picture before
   */
  constructor(model, el, picture, kept) {
    this.model = model;
    this.abort = new AbortController();
    const signal = this.abort.signal;
    const { palettes, start, total, mark, words, document = { tensors: [] }, forward = [], engine, why, svg, groups, map, ready: readyNames } = picture;
    this.groups = wholeGroups(groups);
    this.reasons = new Reasons(why);
    this.given = { start, forward, engine, total, ready: readyNames ?? [] };
    this.say = sayer(words);
    this.selection = "";
    this.root = html("div", total ? "av-root" : "av-root av-unstepped");
    const act = (/** @type {Command} */ command) => this.do(command);
    const [say, first, ready] = [this.say, Math.min(0, 1 - forward.length), engine?.queue?.[0] ?? ""];
    this.built = false;
    this.stage = new Stage({
      svg, map, document, forward, ready, say, signal,
      select: (id) => this.select(id),
      open: (id) => openBox(this, id),
      toggle: (node) => this.do({ kind: "breakpoint", node }),
      hasFocus: () => this.root.matches(":focus-within"),
    });
    this.playback = new Playback(model, {
      first, total, say, graph: this.stage.graph, ready,
      pause: () => this.controls.pause(), changed: () => this.update(), within: map ? withinCards(map) : withinGroups(this.groups),
    });
    this.controls = new Controls({ first, total, say, signal, act: (a) => this.playback.act(a), goto: (step) => this.do({ kind: "goto", step }) });
    this.inspector = new Inspector({ words: words ?? {}, document, groups: this.groups, cards: this.stage.cards, act, signal });
    const next = () => this.stage.picture.visible(this.playback.next(engine));
    this.scales = new Scales({ cards: this.stage.cards, groups: this.groups, hasMap: Boolean(picture.has_map), say, act, next, signal });
    this.pins = new Pins({ say, change: (pins) => this.set("pins", pins), signal });
    this.code = new CodeView({
      code: picture.code, forward, say, signal,
      select: (ids) => this.select(ids.find((id) => this.stage.picture.boxes.has(id)) ?? "", true),
      change: (stops) => this.set("shown_stops", stops),
      folded: () => this.resized(),
    });
    this.stage.hover.told = (id) => this.code.point(id);
    this.split = new Split(this.stage.root, this.stage.map.root, this.inspector.root, say("panel"), () => this.resized(), signal);
    this.said = new Said(say, document, signal);
    if (this.groups.fixed && Object.keys(this.groups.closed).length) put(this.said.fixed, say("groups_fixed"));
    const title = (/** @type {string} */ id) => (this.stage.graph.nodes.has(id) ? this.stage.graph.label(id) : this.code.titleOf(id) || id);
    this.stops = new StopsMenu({ say, title, change: (stops) => this.set("shown_stops", stops), signal });
    this.help = helpPopup(say, signal);
    this.search = new Search({
      graph: this.stage.graph, say, signal, name: `av-${++views}`,
      hidden: this.groups.hidden,
      jump: (id) => (!map && this.groups.hidden.some(([known]) => known === id) ? uncover(this, id) : this.select(id, true)),
      leave: () => this.root.focus({ preventScroll: true }),
    });
    this.bar = viewBar((action) => pressed(this, action), say, signal);
    this.present = new Present(this.root, this.bar.present, (on) => this.presented(on), signal);
    this.panel = button("panel", say("panel"), () => this.togglePanel(), signal);
    this.at = NaN; // the step that is shown
    [this.isDue, this.isPanelDue, this.hasStepped, this.built] = [false, false, false, true];
    this.assemble(el);
    followTheme(this.root, palettes, signal, (palette) => this.stage.map.paint(palette));
    if (!total && !map) this.split.close(); // a picture, until somebody asks
    if (mark) hideStill(mark, this.root, model.widget_manager?.kernel !== undefined, signal);
    this.listen(el, signal);
    this.resized();
    if (kept) goOn(this, kept);
    this.show();
    this.stage.fitted(); // the first sentence stands there now
    if (picture.look || (kept?.chosen && !kept.at)) this.lookAt(picture.look || this.selection);
    if (picture.look && picture.look === next()) this.select(""); // the panel goes on with the steps
  }

  /** @param {HTMLElement} el */
  assemble(el) {
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", this.say("aria_widget"));
    this.panel.setAttribute("aria-expanded", "true");
    this.controls.root.append(this.scales.root, this.search.root, this.bar.root, this.stops.opener, this.code.opener, this.panel, this.help.opener);
    const around = this.code.around(this.split.root);
    this.root.append(this.controls.root, this.stops.popup.root, this.help.root, this.said.root, this.pins.root, around);
    el.classList.add("av-host");
    el.append(this.root);
  }

  /**
   * @param {HTMLElement} el
   * @param {AbortSignal} signal
   */
  listen(el, signal) {
    listenToKeys(this.root, (action) => pressed(this, action), signal);
    const resized = new ResizeObserver(() => this.resized());
    for (const element of [el, this.split.root]) resized.observe(element);
    const lowered = new ResizeObserver(() => this.stage.lowered());
    lowered.observe(this.said.root);
    requestAnimationFrame(() => this.resized()); // in a scrolling notebook JupyterLab holds an observer back
    /** @type {Record<string, () => void>} */
    const heard = { step: () => this.playback.moved(), recorded: () => this.playback.heard() };
    for (const trait of ["complete", "error", "error_node", "printed", "did", "frames", "shown_stops", "pins", "effect", "stopped", "overlay", "pending", "spoiled", "rewritten"]) heard[trait] = () => this.update();
    for (const trait in heard) this.model.on(`change:${trait}`, heard[trait]);
    signal.addEventListener("abort", () => {
      for (const observer of [resized, lowered]) observer.disconnect();
      for (const trait in heard) this.model.off(`change:${trait}`, heard[trait]);
      this.playback.rest();
    });
  }

  // -- what the user does -----------------------------------------------------------------------------------------------

  /** @param {Command} command what a person asks for */
  do(command) {
    perform(this, command);
  }

  /**
   * @param {string} id
   * @param {boolean} [jump] bring it into sight
   */
  select(id, jump = false) {
    this.selection = id;
    this.stage.marks.select(id);
    if (jump) this.stage.jump(id);
    this.said.chosen.textContent = id ? this.stage.graph.label(id) : "";
    this.stops.select(gradientEnd(this, id));
    this.inspect();
  }

  /**
   * What a search has found in a group: it stays in sight, though the step is elsewhere.
   * @param {string} id
   */
  lookAt(id) {
    this.select(id, true);
    this.stage.viewport.away = true;
  }

  /** @param {string} node */
  toggleStop(node) {
    if (this.stage.graph.nodes.has(node)) this.set("shown_stops", toggled(this.playback.stops, { kind: "node", node }));
  }

  /**
   * @param {string} trait
   * @param {any} value
   */
  set(trait, value) {
    this.model.set(trait, value);
    this.model.save_changes();
    this.update();
  }

  togglePanel() {
    this.split.toggle();
    this.inspect();
  }

  // -- what is shown ----------------------------------------------------------------------------------------------------

  resized() {
    if (!this.built) return;
    const [{ stage, split }, seen] = [this, seenHeight(this.root)];
    this.code.resized(this.root.clientWidth, seen, (how) => stage.fits(how, split.root.clientWidth, seen), stage.picture.boxes.size);
    split.resized(stage.needed(split.root.clientWidth, seen));
    this.panel.setAttribute("aria-expanded", String(split.isOpen));
    stage.resized(split.room, seen, split.isBeside);
    stage.follow();
  }

  /** @param {boolean} on */
  presented(on) {
    this.stage.presents(on);
    this.resized();
    if (!on) this.root.scrollIntoView({ block: "nearest" });
  }

  /** Show what is now, once for all that changes in a task: a press sets several traits. */
  update() {
    if (!this.built || this.isDue) return;
    this.isDue = true;
    queueMicrotask(() => {
      this.isDue = false;
      if (!this.abort.signal.aborted) this.show();
    });
  }

  show() {
    const { playback, say } = this;
    this.showStep();
    this.root.classList.toggle("av-asked", playback.kernel.asked);
    playback.playing &&= !playback.atEnd;
    this.said.hush(playback.playing && playback.pause() < 1000);
    this.controls.show(playback.step, playback.atEnd, playback.playing);
    put(this.said.stopped, playback.stopped);
    put(this.said.did, playback.did);
    put(this.said.error, playback.gone ? say("kernel_gone") : this.model.get("error"));
    put(this.said.printed, this.model.get("printed") ?? "");
    this.showStops();
    this.pins.show(this.model.get("pins") ?? [], playback.frames, playback.step);
    this.code.show(playback);
    this.showOverlay();
    this.inspectSoon();
  }

  /** The panel follows the picture: it is read later, and costs as much. */
  inspectSoon() {
    if (this.isPanelDue) return;
    this.isPanelDue = true;
    afterPaint(() => {
      this.isPanelDue = false;
      if (this.abort.signal.aborted) return;
      this.inspect();
      if (this.hasStepped && this.root.matches(":focus-within")) onPage(this.stage.root);
      this.hasStepped = false;
    });
  }

  /** The picture and what is said, if the step or what is recorded of it is another. */
  showStep() {
    const { step, frames } = this.playback;
    const done = step > 0 ? frames.slice(0, step) : [];
    const last = done.at(-1);
    if (this.at === step && last === this.stage.picture.shown.at(-1)) return;
    this.stage.picture.beats.pause = this.playback.playing ? this.playback.pause() : 1000;
    this.stage.show(done, step, this.playback.next(this.given.engine), !isStill());
    this.hasStepped ||= !Number.isNaN(this.at) && this.at !== step;
    const { forward, start } = this.given;
    const lastOp = this.at < 0 && step === 0 ? forward.at(-1)?.sentence : ""; // the forward pass has been replayed to its end
    this.at = step;
    const sentence = last?.sentence ?? positionAt(forward, step)?.sentence ?? [lastOp, start].filter(Boolean).join(" ");
    this.said.step(sentence, done);
    this.stage.picture.beats.lightRules(this.said.formulas.rules);
  }

  showStops() {
    const { stops } = this.playback;
    this.stops.show(stops);
    this.stage.marks.stops(breakpointsOf(stops).map((node) => this.code.boxOf(node)));
    this.stage.fail(this.model.get("error_node") ?? "");
  }

  showOverlay() {
    const meanwhile = meanwhileOf(this.model);
    this.stage.picture.lay(meanwhile.overlay);
    put(this.said.drift, meanwhileText(meanwhile, this.say, (id) => this.stage.graph.label(id)));
  }

  inspect() {
    if (!this.split.isOpen) return;
    const { step, frames } = this.playback;
    const { engine, total } = this.given;
    const stops = breakpointsOf(this.playback.stops);
    const [complete, pending] = [this.model.get("complete"), this.model.get("pending")];
    const meanwhile = meanwhileOf(this.model);
    const why = this.reasons.after(this.stage.picture.shown);
    const selection = this.selection || this.model.get("error_node"); // where a run broke off
    const debug = { pins: this.model.get("pins"), effect: this.model.get("effect"), ran: frames[step - 1]?.ran, ready: frames[step - 1]?.ready ?? this.given.ready };
    this.inspector.show({ step, frames, selection, startEngine: engine, why, complete, total, stops, pending, meanwhile, ...debug });
  }
}
