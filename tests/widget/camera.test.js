// Where a picture stands in a stage: fit, zoom, what is read with ease, what comes into sight, what stays.
import assert from "node:assert/strict";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { READINGS, around, belowCode, fitted, heightFor, held, readable, revealed, zoomedAt } = await import(`${at}stage/camera.js`);
const { Stage } = await import(`${at}stage/stage.js`);
const { Viewport } = await import(`${at}stage/viewport.js`);
const { mapScale } = await import(`${at}stage/minimap.js`);
const ROOM = { width: 500, height: 400 };
const READING = { whole: 0.9, easy: 0.95, wide: 1, least: 0.75, largest: 1.25 };

/** A view of a picture, without a page. */
function viewport(view, { room = ROOM, picture = { width: 5000, height: 5000 }, ...more } = {}) {
  const made = Object.create(Viewport.prototype);
  Object.assign(made, { view, room, picture: { x: 0, y: 0, ...picture }, away: false, own: false, reading: READING, laidOut: 1, ...more });
  made.place = (placed, eased = false) => Object.assign(made, { view: placed, eased });
  return made;
}

test("zooming keeps the point under the pointer, and has limits", () => {
  const view = zoomedAt({ x: 10, y: 20, scale: 1 }, 2, 100, 50);
  assert.deepEqual([(100 - view.x) / view.scale, (50 - view.y) / view.scale], [90, 30]);
  assert.equal(zoomedAt({ x: 0, y: 0, scale: 1 }, 100, 0, 0).scale, 4);
  assert.equal(zoomedAt({ x: 0, y: 0, scale: 1 }, 0.0001, 0, 0).scale, 0.02);
});

test("a picture opens whole if it can be read then, else as large as it is read with ease", () => {
  assert.equal(fitted({ width: 1000, height: 2000 }, ROOM).scale, 0.2);
  assert.equal(readable({ width: 550, height: 400 }, ROOM, undefined, READING).scale, 500 / 550);
  assert.equal(readable({ width: 400, height: 300 }, ROOM, undefined, READING).scale, 1.25);
  assert.equal(readable({ width: 600, height: 400 }, ROOM, undefined, READING).scale, 0.95);
  assert.equal(readable({ width: 480, height: 4000 }, ROOM, undefined, READING).scale, 1);
});

test("the first view is as small as the root and the next node need, if they can be read then", () => {
  const scale = (w, h) => readable({ width: 5000, height: 5000 }, ROOM, { x: 0, y: 0, w, h }, READING).scale;
  assert.deepEqual([scale(100, 100), scale(605, 100), scale(100, 480), scale(4000, 100)], [0.95, 0.8, 0.8, 0.95]);
});

test("letters are 11 px at least, and 18 px when presenting", () => {
  for (const [reading, least] of [[READINGS.figure, 11], [READINGS.figure_presented, 18]]) {
    assert.ok(11.4 * readable({ width: 900, height: 9000 }, ROOM, undefined, reading).scale >= least);
  }
});

test("small letters of a map have 11 px, however wide and high it is", () => {
  for (const width of [300, 900, 1200]) assert.ok(11 * readable({ width, height: 9000 }, ROOM, undefined, READINGS.map).scale >= 11);
});

test("zooming out ends where all is seen, and goes on from there inwards", () => {
  const made = viewport({ x: -900, y: -900, scale: 1 }, { picture: { width: 1000, height: 2000 } });
  for (let k = 0; k < 20; k++) made.zoom(0.8);
  assert.deepEqual(made.view, fitted({ width: 1000, height: 2000 }, ROOM));
  made.zoom(1.25);
  assert.equal(made.view.scale, 0.25);
  const small = viewport({ x: 0, y: 0, scale: 1 }, { picture: { width: 100, height: 100 } });
  small.zoom(0.5);
  assert.equal(small.view.scale, 1);
});

test("what was looked for comes into sight at a size that can be read", () => {
  const far = viewport({ x: 0, y: 0, scale: 0.1 }, { reading: READINGS.map });
  far.come({ x: 2000, y: 3000, w: 200, h: 40 });
  assert.deepEqual(far.view, { x: 150 - 2000, y: 180 - 3000, scale: 1 });
  const near = viewport({ x: 0, y: 0, scale: 1 }, { reading: READINGS.map });
  near.come({ x: 100, y: 100, w: 50, h: 50 });
  assert.deepEqual(near.view, { x: 0, y: 0, scale: 1 });
});

test("a stage is as tall as the whole picture, if that can be read in it; else it takes all that there is", () => {
  assert.equal(heightFor({ width: 1000, height: 500 }, 950, 520, READING), 475);
  assert.equal(heightFor({ width: 1000, height: 1500 }, 950, 520, READING), 520);
  assert.equal(heightFor({ width: 100, height: 50 }, 950, 520, READING), 62.5);
});

test("a box out of sight comes in by no more than is needed, one in sight moves nothing", () => {
  const view = { x: 0, y: 0, scale: 1 };
  assert.deepEqual(revealed(view, { x: 100, y: 100, w: 50, h: 50 }, ROOM), view);
  assert.deepEqual(revealed(view, { x: 100, y: 900, w: 50, h: 50 }, ROOM), { x: 0, y: -574, scale: 1 });
  assert.deepEqual(revealed({ x: 0, y: -574, scale: 1 }, { x: 100, y: 500, w: 50, h: 50 }, ROOM), { x: 0, y: -476, scale: 1 });
  const moved = { x: 30, y: 20, scale: 1 };
  assert.deepEqual(revealed(moved, { x: 10, y: 10, w: 5, h: 5 }, ROOM), moved);
});

test("what is called comes into sight with what is next and with the leaf, as far as there is room, and eased", () => {
  assert.deepEqual(around([{ x: 0, y: 5, w: 10, h: 10 }, { x: 20, y: 0, w: 5, h: 8 }]), { x: 0, y: 0, w: 25, h: 15 });
  const followed = (next, leaf) => {
    const made = viewport({ x: 0, y: 0, scale: 1 });
    made.follow({ x: 1000, y: 1000, w: 100, h: 50 }, [next, leaf]);
    assert.ok(made.eased);
    return [made.sees({ x: 1000, y: 1000, w: 100, h: 50 }), made.sees(next), made.sees(leaf)];
  };
  assert.deepEqual(followed({ x: 900, y: 800, w: 50, h: 50 }, { x: 700, y: 900, w: 50, h: 50 }), [true, true, true]);
  assert.deepEqual(followed({ x: 900, y: 800, w: 50, h: 50 }, { x: 100, y: 900, w: 50, h: 50 }), [true, true, false]);
  assert.deepEqual(followed({ x: 900, y: 100, w: 50, h: 50 }, { x: 100, y: 900, w: 50, h: 50 }), [true, false, false]);
});

test("the numbers beside a node that is called come into sight with it", () => {
  const made = viewport({ x: 0, y: 0, scale: 1 });
  made.follow({ x: 390, y: 100, w: 100, h: 50 }, []);
  assert.ok(made.view.x <= -60 && made.view.y === 0);
  const edge = viewport({ x: 0, y: 0, scale: 1 }, { picture: { width: 495, height: 400 } });
  edge.follow({ x: 390, y: 100, w: 100, h: 50 }, []);
  assert.equal(edge.view.x, 0, "nothing is there");
});

test("the tag of what is next comes into sight with its box", () => {
  const box = (id, y) => [id, { id, x: 100, y, w: 100, h: 50 }];
  const [boxes, moved] = [new Map([box("ran", 1200), box("next", 1005)]), viewport({ x: 0, y: -1000, scale: 1 })];
  const stage = Object.create(Stage.prototype);
  const others = { map: { light() {} }, beyond: { show() {} } };
  Object.assign(stage, { picture: { boxes }, viewport: moved, ...others, watched: ["ran", "next"], lit: "ran", due: "next" });
  stage.follow();
  assert.ok(moved.view.y + 1005 >= 16, "its box alone was in sight");
  stage.follow();
  assert.equal(moved.view.y, -965);
});

test("the picture cannot be lost", () => {
  assert.deepEqual(held({ x: -9999, y: 9999, scale: 1 }, { width: 800, height: 600 }, ROOM), { x: -740, y: 340, scale: 1 });
});

test("another width moves nothing that can be read as well", () => {
  const resized = (view, width) => {
    const made = viewport(view, { picture: { width: 900, height: 2000 }, stage: { clientWidth: width, clientHeight: 400 } });
    made.resized();
    return made.view;
  };
  const view = { x: 0, y: -300, scale: 0.95 };
  assert.deepEqual(resized(view, 880), view);
  assert.deepEqual(resized({ x: -400, y: -300, scale: 0.95 }, 700), { x: -155, y: -300, scale: 0.95 }, "nothing empty beside it");
  assert.equal(resized({ ...view, scale: 0.5 }, 900).scale, 1, "it was too small");
});

test("what is whole in another room is seen whole there", () => {
  const stage = { clientWidth: 880, clientHeight: 820 };
  const made = viewport({ x: 0, y: -300, scale: 0.95 }, { picture: { width: 900, height: 800 }, stage, reading: { ...READING, whole: 0.9 } });
  made.resized();
  assert.ok(made.isWhole);
});

test("a line more above the stage leaves the picture where it is on the page", () => {
  const made = viewport({ x: 5, y: -100, scale: 1 }, { room: { width: 500, height: 400 } });
  made.lowered(20);
  assert.deepEqual([made.view.y, made.room.height], [-120, 380]);
});

test("below a longer sentence what was whole is whole, if it can be read, and stands at the edge, not below it", () => {
  const small = () => ({ room: { width: 500, height: 400 }, picture: { width: 400, height: 380 } });
  const made = viewport({ x: 50, y: 0, scale: 1.02 }, small());
  made.lowered(30);
  assert.ok(made.isWhole && made.view.scale < 1, "smaller");
  const long = viewport({ x: 50, y: 0, scale: 1.02 }, small());
  long.lowered(90);
  assert.deepEqual([long.view.scale, long.isWhole], [1.02, false], "letters of less than 11 px are for nobody");
  long.place({ ...long.view, y: 0 }); // what follows the step may have moved it
  long.lowered(-90);
  assert.ok(long.isWhole, "and it comes back");
  const own = viewport({ x: 50, y: 0, scale: 1.02 }, { ...small(), own: true });
  own.lowered(30);
  assert.deepEqual(own.view, { x: 50, y: -30, scale: 1.02 }, "where a person has put it");
});

test("the map of a very long picture is stretched to a width that a hand can hit", () => {
  assert.deepEqual(mapScale({ width: 100, height: 13000 }), [0.12, 0.02]);
  assert.deepEqual(mapScale({ width: 1600, height: 1000 }), [0.05, 0.05]);
});

test("a picture below its code takes less than half of the page, where its letters allow that", () => {
  const reading = { ...READING, whole: 0.9, largest: 1.25 };
  const largest = (height) => belowCode(reading, { width: 500, height }, 700).largest;
  assert.deepEqual([100, 329, 400, 900].map(largest), [1.25, 1, 0.9, 1.25]); // the last will not stand beside its code anyway
});
