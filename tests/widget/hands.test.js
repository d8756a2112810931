// Hands on the stage, the height of a frame, names of marks, and what paper shows: with as little of a page as that takes.
import assert from "node:assert/strict";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { listenToHands } = await import(`${at}stage/gestures.js`);
const { Viewport } = await import(`${at}stage/viewport.js`);
const { Culling } = await import(`${at}stage/culling.js`);
const { Stage } = await import(`${at}stage/stage.js`);
const { READINGS } = await import(`${at}stage/camera.js`);
const { sharpness } = await import(`${at}stage/download.js`);
const { Marks, toldApart } = await import(`${at}stage/marks.js`);
const { Split } = await import(`${at}stepper/split.js`);
const { followsContent } = await import(`${at}stepper/present.js`);

/** An element of a picture: a text or not, at an address. */
class Target {
  constructor(address, isText) {
    Object.assign(this, { address, isText });
  }
  closest(selector) {
    return (selector === "text" && this.isText) || (selector === "[data-at]" && this.address) ? this : null;
  }
  getAttribute() {
    return this.address;
  }
}
globalThis.Element = Target;
globalThis.window = new EventTarget();

/** A stage that notes what hands do to it. */
function stageOf({ isWhole = false } = {}) {
  const [did, stage] = [[], new EventTarget()];
  const classes = new Set(isWhole ? ["av-whole"] : []);
  stage.classList = {
    add: (name) => classes.add(name),
    remove: (name) => classes.delete(name),
    contains: (name) => classes.has(name),
    toggle: (name, on) => (on ? classes.add(name) : classes.delete(name)),
  };
  stage.getBoundingClientRect = () => ({ left: 10, top: 20 });
  stage.setPointerCapture = () => {};
  const viewport = {
    zoom: (by, x, y) => did.push(["zoom", Number(by.toFixed(3)), x, y]),
    pan: (x, y) => did.push(["pan", x, y]),
  };
  const hands = { hover() {}, open() {}, toggle() {}, click: (id) => did.push(["click", id]) };
  listenToHands(stage, viewport, hands, new AbortController().signal);
  const send = (name, more = {}) => {
    const event = new Event(name, { cancelable: true });
    const given = { button: 0, pointerId: 1, pointerType: "mouse", clientX: 0, clientY: 0, altKey: false, target: new Target("t0", false), ...more };
    for (const [key, value] of Object.entries(given)) Object.defineProperty(event, key, { value });
    stage.dispatchEvent(event);
    return event.defaultPrevented;
  };
  return { did, send, classes };
}

test("the wheel alone is the page's own scrolling; with Ctrl or Cmd it zooms at the pointer", () => {
  const { did, send } = stageOf();
  const wheel = { deltaY: -100, deltaMode: 0, clientX: 60, clientY: 70 };
  assert.equal(send("wheel", { ...wheel, ctrlKey: false, metaKey: false }), false);
  assert.deepEqual(did, []);
  assert.equal(send("wheel", { ...wheel, ctrlKey: true, metaKey: false }), true);
  assert.equal(send("wheel", { ...wheel, ctrlKey: false, metaKey: true }), true);
  assert.deepEqual(did, [["zoom", 2.718, 50, 50], ["zoom", 1.221, 50, 50]]);
});

test("two fingers zoom around their middle and move with it, and click nothing", () => {
  const { did, send } = stageOf();
  const finger = (pointerId, clientX, clientY) => ({ pointerId, clientX, clientY, pointerType: "touch" });
  send("pointerdown", finger(1, 100, 100));
  send("pointerdown", finger(2, 200, 100));
  send("pointermove", finger(2, 300, 100));
  assert.deepEqual(did, [["zoom", 2, 140, 80], ["pan", 50, 0]]);
  send("pointerup", finger(2, 300, 100));
  send("pointermove", finger(1, 100, 160)); // the one that is left does nothing any more
  send("pointerup", finger(1, 100, 160));
  assert.equal(did.length, 2);
  assert.equal(send("touchstart", { touches: [1, 2] }), true); // the page does not scroll by two
  assert.equal(send("touchstart", { touches: [1] }), false);
});

test("one finger is the page's until the stage is tapped, and again from a press elsewhere on", () => {
  const { send, classes } = stageOf();
  send("pointerdown", { pointerType: "touch" });
  assert.ok(!classes.has("av-tapped"));
  send("click");
  assert.ok(classes.has("av-tapped"));
  window.dispatchEvent(new Event("pointerdown"));
  assert.ok(!classes.has("av-tapped"));
});

test("a drag pans, a press clicks", () => {
  const { did, send } = stageOf();
  const text = new Target("t0", true);
  send("pointerdown", { target: text });
  send("pointermove", { clientX: 30 });
  send("pointerup");
  send("pointerdown", { target: text });
  send("pointerup");
  assert.deepEqual(did, [["pan", 30, 0], ["click", "t0"]]);
});

test("where the picture is whole a drag over its text selects it, elsewhere with Alt", () => {
  const text = new Target("t0", true);
  for (const [isWhole, altKey] of [[true, false], [false, true]]) {
    const { did, send, classes } = stageOf({ isWhole });
    send("pointerdown", { target: text, altKey });
    send("pointermove", { clientX: 30 });
    send("pointerup");
    assert.deepEqual(did, []);
    assert.equal(classes.has("av-selecting"), altKey);
    send("pointerdown", { target: text });
    send("pointerup");
    assert.deepEqual(did, [["click", "t0"]]); // a press is a press
  }
});

test("beside its text a whole picture is dragged, and a finger selects nothing", () => {
  const { did, send } = stageOf({ isWhole: true });
  send("pointerdown");
  send("pointermove", { clientX: 30 });
  send("pointerup");
  send("pointerdown", { target: new Target("t0", true), pointerType: "touch" });
  send("pointermove", { clientX: 30, pointerType: "touch" });
  assert.deepEqual(did, [["pan", 30, 0], ["pan", 30, 0]]);
});

test("a picture is whole if nothing of it is out of the stage", () => {
  const whole = (x, scale) =>
    Object.assign(Object.create(Viewport.prototype), { view: { x, y: 0, scale }, picture: { width: 400, height: 100 }, room: { width: 500, height: 200 } }).isWhole;
  assert.deepEqual([whole(50, 1), whole(-5, 1), whole(120, 1), whole(0, 1.5)], [true, false, false, false]);
});

test("a map of which all is seen has no minimap", () => {
  const stage = Object.assign(Object.create(Stage.prototype), {
    picture: { width: 900, height: 800 },
    viewport: { reading: READINGS.map, first: undefined },
  });
  assert.equal(stage.seesAll(900, 800), true);
  assert.equal(stage.seesAll(900, 700), false);
  assert.equal(stage.seesAll(700, 900), false);
});

test("a box that has opened has its breakpoint at its corner, and none of a box below it is seen", () => {
  const dot = () => ({
    names: new Set(),
    at: "",
    setAttribute(_, value) { this.at = value; },
    removeAttribute() { this.at = ""; },
  });
  const boxes = new Map([["n1", { x: 100, y: 50 }], ["n2", { x: 100, y: 90 }], ["n3", { x: 100, y: 20 }]]);
  const dots = new Map([...boxes.keys()].map((id) => [id, dot()]));
  for (const one of dots.values()) one.classList = { toggle: (name, on) => (on ? one.names.add(name) : one.names.delete(name)) };
  const marks = Object.assign(Object.create(Marks.prototype), { boxes, dots });
  const now = () => [...dots.values()].map((one) => [one.at, one.names.has("av-covered")]);
  const edges = { x: 60, y: 50, width: 160, height: 70 };
  marks.opened("n1", edges);
  assert.deepEqual(now(), [["translate(-40 0)", false], ["", true], ["", false]]);
  marks.opened("", edges); // pointed at: a hand may be on the way to its breakpoint
  assert.deepEqual(now(), [["", false], ["", false], ["", false]]);
  marks.opened("n1", undefined);
  assert.deepEqual(now(), [["", false], ["", false], ["", false]]);
});

test("a stage has as much room with its minimap as without it", () => {
  const room = (stage, map) => Object.assign(Object.create(Split.prototype), { stage, map }).room;
  const [alone, beside] = [{ offsetLeft: 0, offsetWidth: 1240 }, { offsetLeft: 0, offsetWidth: 1156 }];
  assert.equal(room(alone, { offsetLeft: 0, offsetWidth: 0 }), 1240);
  assert.equal(room(beside, { offsetLeft: 1160, offsetWidth: 80 }), 1240);
});

test("a frame that is low before anything is in it follows its content; a window and a high frame do not", () => {
  assert.deepEqual([followsContent(true, 120), followsContent(true, 700), followsContent(false, 120)], [true, false, false]);
});

test("names that are alike are numbered, others stay", () => {
  assert.deepEqual(toldApart(["Mul", "Add", "Mul", "Mul"]), ["Mul, 1 / 3", "Add", "Mul, 2 / 3", "Mul, 3 / 3"]);
  assert.deepEqual(toldApart([]), []);
});

test("a picture is copied with two pixels for one, or as many as a canvas holds", () => {
  assert.equal(sharpness({ width: 900, height: 500 }), 2);
  assert.equal(sharpness({ width: 900, height: 16_000 }), 0.5);
});

test("paper has all of the picture, also what is out of sight", () => {
  const culling = Object.assign(Object.create(Culling.prototype), { isNeeded: true, picture: {}, viewport: {} });
  const drawn = [];
  culling.draw = (region) => drawn.push(region);
  culling.all();
  assert.deepEqual(drawn, [{ left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity }]);
});
