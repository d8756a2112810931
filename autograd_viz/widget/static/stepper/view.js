// A view of one picture: toolbar, sentence, stage and panel, joined to the model.

import { gradientEnd, perform } from "./commands.js";
import { html } from "../shared/elements.js";
import { positionAt } from "../pass/forward.js";
import { wholeGroups } from "../pass/groups.js";
import { goOn } from "./kept.js";
import { pressed } from "./key_actions.js";
import { listenToKeys } from "../toolbar/keys.js";
import { meanwhileOf, meanwhileText } from "../panel/meanwhile.js";
import { Pins } from "../panel/pins.js";
import { Said, put } from "../sentence/said.js";
import { hideStill } from "../shared/still.js";
import { breakpointsOf, toggled } from "../pass/stops.js";
import { followTheme } from "../shared/theme.js";
import { scrolledHeight, seenHeight } from "./present.js";
import { isStill } from "../shared/motion.js";
import { sayer } from "../shared/words.js";
import { codeOf, playbackOf, stageOf } from "./parts.js";
import { roomsOf } from "./rooms.js";
import { Side } from "./side.js";
import { Tools } from "./tools.js";

/** @typedef {import("../pass/kernel.js").Model} Model */
/** @typedef {import("./kept.js").Kept} Kept */
/** @typedef {import("../stage/details.js").Details} Details */
/** @typedef {import("./commands.js").Command} Command */

/** The widget's view. */
export class View {
  /**
   * @param {Model} model
   * @param {HTMLElement} el
   * @param {any} picture
   * @param {{ details: Details, redraw: () => void }} drawn what is drawn of the picture, and how another detail comes
   * @param {Kept} [kept] from the view of the picture before
   */
  constructor(model, el, picture, { details, redraw }, kept) {
    this.model = model;
    this.details = details;
    this.redraw = redraw;
    this.abort = new AbortController();
    const signal = this.abort.signal;
    const {
      palettes,
      start,
      total,
      mark,
      words,
      document = { tensors: [] },
      forward = [],
      engine,
      groups,
      map,
      ready = [],
    } = picture;
    this.groups = wholeGroups(groups);
    this.given = { start, forward, engine, total, ready };
    this.say = sayer(words);
    this.selection = "";
    this.isStepped = total > 0 || forward.length > 0;
    this.root = html("div", this.isStepped ? "av-root" : "av-root av-unstepped");
    this.act = (/** @type {Command} */ command) => this.do(command);
    this.built = false;
    this.stage = stageOf(this, picture, signal);
    this.playback = playbackOf(this, picture);
    this.code = codeOf(this, picture, signal);
    this.stage.hover.told = (id) => {
      this.code.point(id);
      this.stage.open({ pointed: this.stage.graph.owner(id) });
    };
    this.side = new Side(this, picture, signal);
    this.pins = new Pins({ say: this.say, change: (pins) => this.set("pins", pins), signal });
    this.said = new Said(this.say, document, signal);
    if (this.groups.fixed && Object.keys(this.groups.closed).length) put(this.said.fixed, this.say("groups_fixed"));
    this.tools = new Tools(this, picture, signal);
    this.at = NaN; // the step that is shown
    this.hasStepped = false;
    [this.isDue, this.built] = [false, true];
    this.assemble(el);
    followTheme(this.root, palettes, signal, (palette) => this.stage.map.paint(palette));
    if (!this.isStepped && !map) this.side.split.close(); // a picture, until somebody asks
    if (mark) hideStill(mark, this.root, model.widget_manager?.kernel !== undefined, signal);
    this.listen(el, signal);
    this.goesOn = Boolean(kept);
    this.showOverlay();
    this.resized();
    if (kept) goOn(this, kept);
    this.show();
    this.stage.fitted(); // the first sentence stands there now
    if (picture.look || (kept?.chosen && !kept.at)) this.lookAt(picture.look || this.selection);
    if (picture.look && picture.look === this.nextBox()) this.select(""); // the panel goes on with the steps
  }

  /** @param {HTMLElement} el */
  assemble(el) {
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", this.say("aria_widget"));
    this.root.append(...this.tools.roots, this.said.root, this.pins.root, this.code.around(this.side.split.root));
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
    for (const element of [el, this.side.split.root]) resized.observe(element);
    const lowered = new ResizeObserver(() => this.stage.lowered());
    lowered.observe(this.said.root);
    requestAnimationFrame(() => this.resized()); // in a scrolling notebook JupyterLab holds an observer back
    /** @type {Record<string, () => void>} */
    const heard = { step: () => this.playback.moved(), recorded: () => this.playback.heard() };
    for (const trait of [
      "complete",
      "error",
      "error_node",
      "printed",
      "did",
      "frames",
      "shown_stops",
      "pins",
      "effect",
      "stopped",
      "overlay",
      "pending",
      "spoiled",
      "rewritten",
    ])
      heard[trait] = () => this.update();
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
    this.stage.open({ chosen: id });
    if (jump) this.stage.jump(id);
    this.said.chosen.textContent = id ? this.stage.graph.label(id) : "";
    this.tools.stops.select(gradientEnd(this, id));
    this.side.show();
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

  /** The box of what runs next. */
  nextBox() {
    return this.stage.picture.visible(this.playback.next(this.given.engine));
  }

  // -- what is shown ----------------------------------------------------------------------------------------------------

  resized() {
    if (!this.built || this.abort.signal.aborted) return;
    const [
      {
        stage,
        side: { split },
      },
      seen,
    ] = [this, seenHeight(this.root)];
    const rooms = roomsOf(this, seen);
    const page = `${rooms[0].width} ${seen} ${this.said.hasMore} ${stage.presented}`;
    if (!this.goesOn && this.details.choose(page, (svg, tight) => stage.readingOf(svg, tight).whole, ...rooms))
      return this.redraw();
    const { isBeside, isTight } = this.details;
    stage.tighten(isTight);
    this.said.keepRoom(!isBeside);
    this.code.keep(isBeside ? this.said.formulas.root : null);
    this.code.resized(this.root.clientWidth, seen, (how) => stage.fits(how, split.root.clientWidth, seen), isTight);
    split.resized(stage.needed(split.root.clientWidth, seen));
    this.tools.panel.setAttribute("aria-expanded", String(split.isOpen));
    const isBelow = !this.isStepped && !stage.presented && scrolledHeight(this.root) > 0;
    stage.resized(split.room, seen, split.isBeside, isBelow);
    stage.follow();
  }

  /** @param {boolean} on */
  presented(on) {
    this.stage.presents(on);
    this.said.fit(on);
    this.resized();
    this.stage.hover.rest();
    this.side.show();
    if (!on) this.root.scrollIntoView({ block: "nearest" });
  }

  /** Another detail of the figure. */
  turnDetail() {
    if (this.details.names.length < 2) return;
    this.details.turn();
    this.redraw();
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
    this.tools.controls.show(playback.step, playback.atEnd, playback.playing);
    put(this.said.stopped, playback.stopped);
    put(this.said.did, playback.did);
    put(this.said.error, playback.gone ? say("kernel_gone") : this.model.get("error"));
    put(this.said.printed, this.model.get("printed") ?? "");
    this.showStops();
    this.pins.show(this.model.get("pins") ?? [], playback.frames, playback.step);
    this.code.show(playback);
    this.showOverlay();
    this.said.fit(this.stage.presented);
    this.side.showSoon();
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
    this.tools.stops.show(stops);
    this.stage.marks.stops(breakpointsOf(stops).map((node) => this.code.boxOf(node)));
    this.stage.fail(this.model.get("error_node") ?? "");
  }

  showOverlay() {
    const meanwhile = meanwhileOf(this.model);
    this.stage.picture.lay(meanwhile.overlay);
    const had = this.said.hasMore;
    put(
      this.said.drift,
      meanwhileText(meanwhile, this.say, (id) => this.stage.graph.label(id)),
    );
    if (had !== this.said.hasMore) this.resized();
  }
}
