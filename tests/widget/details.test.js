// Which detail of a figure a stage shows, and what a box of it says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { standOver } from "../../autograd_viz/widget/static/figure/peek.js";
import { briefLines } from "../../autograd_viz/widget/static/shared/brief.js";
import { READINGS } from "../../autograd_viz/widget/static/stage/camera.js";
import { Details } from "../../autograd_viz/widget/static/stage/details.js";

const svg = (width, height, inside = "") => `<svg viewBox='-8 0 ${width} ${height}'>${inside}</svg>`;
const picture = { svg: svg(1400, 900), details: { brief: svg(900, 500), names: svg(500, 300) }, detail: "auto" };
const { figure } = READINGS;

test("every value takes one line, as Python writes it first", () => {
  const cases = JSON.parse(readFileSync(new URL("../render/brief_lines.json", import.meta.url), "utf8"));
  for (const { lines, most, short, brief } of cases) assert.deepEqual(briefLines(lines, most, short), brief);
});

test("the most detailed one that is whole with letters of 11 px is shown", () => {
  for (const [width, height, found] of [
    [1400, 900, "full"],
    [1400, 910, "full"],
    [1360, 900, "brief"],
    [900, 500, "brief"],
    [860, 500, "names"],
    [900, 470, "names"],
    [300, 200, "names"], // none is whole: the one that shows most of the graph
  ]) {
    const details = new Details(picture);
    details.choose("a page", () => figure.whole, { width, height });
    assert.equal(details.now, found, `${width} x ${height}`);
  }
});

test("it is chosen anew for another page only, never by a step", () => {
  const details = new Details(picture);
  assert.equal(details.choose("one", () => figure.whole, { width: 900, height: 500 }), true);
  assert.equal(details.choose("one", () => figure.whole, { width: 900, height: 300 }), false);
  assert.equal(details.now, "brief");
  assert.equal(details.choose("two", () => figure.whole, { width: 900, height: 300 }), true);
  assert.equal(details.now, "names");
});

test("the rules stand beside a figure that is whole only so, and under the sentence wherever it is whole", () => {
  for (const [under, beside, now, isBeside] of [
    [[1400, 900], [1150, 1000], "full", false],
    [[900, 450], [650, 600], "names", false], // the names are whole either way
    [[900, 280], [650, 330], "names", true],
    [[1200, 480], [950, 560], "brief", true], // more is seen beside them
    [[300, 200], [50, 300], "names", false], // whole nowhere
  ]) {
    const details = new Details(picture);
    const [room, other] = [under, beside].map(([width, height]) => ({ width, height }));
    details.choose("a page", () => figure.whole, room, other);
    assert.deepEqual([details.now, details.isBeside], [now, isBeside], under.join(" x "));
  }
});

test("presented, all of a figure is seen with smaller letters, where no detail of it is whole with large ones", () => {
  const least = (_, tight) => (tight ? figure.whole : 1.5);
  for (const [width, height, now, isTight] of [
    [1400, 800, "brief", false],
    [700, 400, "names", true],
    [300, 200, "names", false], // whole nowhere: a part of it, with large letters
  ]) {
    const details = new Details(picture);
    details.choose("a page", least, { width, height });
    assert.deepEqual([details.now, details.isTight], [now, isTight], `${width} x ${height}`);
  }
});

test("what a person has asked for stays, until it is what the stage would choose", () => {
  const details = new Details(picture);
  details.choose("one", () => figure.whole, { width: 900, height: 500 });
  details.turn();
  assert.equal(details.now, "names");
  assert.equal(details.choose("two", () => figure.whole, { width: 1400, height: 900 }), false);
  assert.equal(details.now, "names");
  details.turn();
  assert.deepEqual([details.now, details.isAuto], ["full", true]);
  assert.equal(details.choose("three", () => figure.whole, { width: 900, height: 500 }), true);
  assert.equal(details.now, "brief");
});

test("a detail that was asked for in Python is no choice of the stage", () => {
  const details = new Details({ ...picture, detail: "names" });
  assert.equal(details.choose("one", () => figure.whole, { width: 1400, height: 900 }), false);
  assert.equal(details.now, "names");
});

test("a picture of one detail has none to choose", () => {
  const details = new Details({ svg: picture.svg });
  assert.equal(details.choose("one", () => figure.whole, { width: 300, height: 300 }), false);
  assert.equal(details.svg, picture.svg);
});

test("code beside a still is left out where the figure is whole only without it", () => {
  const code = "<g class='code'><text>a = 1</text></g>";
  const still = { ...picture, svg: svg(1400, 500, code), plain: [392, 0, 1000, 500] };
  const details = new Details(still);
  details.choose("wide", () => figure.whole, { width: 1400, height: 500 });
  assert.match(details.svg, /a = 1/);
  details.choose("narrow", () => figure.whole, { width: 1000, height: 500 });
  assert.equal(details.now, "full");
  assert.equal(details.svg, "<svg viewBox='392 0 1000 500'></svg>");
});

test("a box opens over its place, and inside of what is seen", () => {
  const seen = { x: 0, y: 0, width: 500, height: 300 };
  const small = { id: "t1", kind: "tensor", x: 100, y: 100, w: 40, h: 20 };
  const large = { id: "t1", kind: "tensor", x: 700, y: 900, w: 200, h: 120 };
  assert.deepEqual(standOver(small, large, seen), [20 - 700, 50 - 900]);
  assert.deepEqual(standOver({ ...small, x: 0, y: 0 }, large, seen), [2 - 700, 2 - 900]);
  assert.deepEqual(standOver({ ...small, x: 480, y: 290 }, large, seen), [298 - 700, 178 - 900]);
});

test("a node opens to its left and below: right of it and above it are gradients, and what is next", () => {
  const seen = { x: 0, y: 0, width: 900, height: 300 };
  const [x, y] = standOver(
    { id: "n1", kind: "node", x: 400, y: 100, w: 100, h: 20 },
    { id: "n1", kind: "node", x: 0, y: 0, w: 200, h: 120 },
    seen,
  );
  assert.deepEqual([x, y], [300, 100]);
});
