// Heat maps and statistics: pure functions of an array.
import assert from "node:assert/strict";
import { test } from "node:test";

const STATIC = "../../autograd_viz/widget/static";
const { blockSize, gridOf, heatmap, indexText, limitOf, moved, shadeOf } = await import(`${STATIC}/shared/heatmap.js`);
const { asNumber, bytesText, fullNumber, isComplex, shortNumber, statisticsOf } = await import(`${STATIC}/shared/statistics.js`);

const array = (shape, numbers) => ({ shape, dtype: "float32", text: "", numbers });
const large = (shape, rows, columns, least = -1, most = 3) => ({
  shape,
  dtype: "float32",
  text: "[[...]]",
  summary: { least, most, mean: 0.5, norm: 7, zeros: 2, nans: 1, infs: 0, rows, columns, thumbnail: Array(rows * columns).fill(0.5) },
});
const cellsOf = (drawing) => drawing.children.filter((c) => "data-index" in c.attributes);

test("the scale is symmetric and ignores what is not finite", () => {
  assert.equal(limitOf([1, -3, NaN, Infinity, -Infinity]), 3);
  assert.equal(limitOf([0, NaN]), 0);
});

test("zero is in the middle, and equal magnitudes are equally strong on both sides", () => {
  assert.deepEqual(shadeOf(0, 4), { tone: "zero", strength: 0 });
  assert.deepEqual(shadeOf(2, 4), { tone: "positive", strength: 0.5 });
  assert.deepEqual(shadeOf(-2, 4), { tone: "negative", strength: 0.5 });
});

test("nan has no colour, infinities have the strongest, also where nothing is finite", () => {
  assert.deepEqual(shadeOf(NaN, 4), { tone: "nan", strength: 0 });
  assert.deepEqual(shadeOf(-Infinity, 0), { tone: "negative", strength: 1 });
});

test("nan and infinity are drawn with a sign and not with colour alone", () => {
  const drawn = heatmap(gridOf(array([4], ["nan", "inf", "-inf", 1])), "", "k", null);
  assert.equal(drawn.children.filter((c) => c.attributes.class === "av-h-sign").length, 3);
});

test("one element, no element and elements that are not numbers have no heat map", () => {
  assert.equal(gridOf(array([1], [2])), null);
  assert.equal(gridOf(array([0], [])), null);
  assert.equal(gridOf(array([2], undefined)), null);
});

test("leading dimensions stand below each other, matrices apart", () => {
  const grid = gridOf(array([2, 2, 3], [...Array(12).keys()]));
  assert.deepEqual([grid.rows, grid.columns, grid.slab], [4, 3, 2]);
  const tops = [...new Set(cellsOf(heatmap(grid, "", "k", null)).map((c) => c.attributes.y))];
  assert.ok(tops[2] - tops[1] > tops[1] - tops[0]);
});

test("an element is named by its index in every dimension", () => {
  const value = array([2, 2, 3], [...Array(12).keys()]);
  assert.equal(indexText(value, gridOf(value), 7), "1, 0, 1");
  assert.equal(indexText(array([3], [1, 2, 3]), gridOf(array([3], [1, 2, 3])), 2), "2");
});

test("a thumbnail names the blocks that its means are of", () => {
  const value = large([28, 28], 8, 8);
  assert.equal(indexText(value, gridOf(value), 9), "3:7, 3:7");
  assert.equal(blockSize(value, gridOf(value)), "3–4 × 3–4");
  assert.equal(blockSize(large([100], 1, 8), gridOf(large([100], 1, 8))), "12–13");
});

test("cells are whole px, and 64 columns fit a narrow panel", () => {
  const drawn = heatmap(gridOf(array([64], Array(64).fill(1))), "", "k", null);
  assert.ok(drawn.attributes.width <= 260);
  for (const cell of cellsOf(drawn)) assert.ok(Number.isInteger(cell.attributes.x) && Number.isInteger(cell.attributes.width));
});

test("arrow keys walk over the cells and stop at the edges", () => {
  const grid = gridOf(array([2, 3], [1, 2, 3, 4, 5, 6]));
  assert.equal(moved(grid, 0, "ArrowRight"), 1);
  assert.equal(moved(grid, 2, "ArrowRight"), 2);
  assert.equal(moved(grid, 1, "ArrowDown"), 4);
  assert.equal(moved(grid, 4, "ArrowDown"), 4);
  assert.equal(moved(grid, 3, "ArrowLeft"), 3);
  assert.equal(moved(grid, 5, "ArrowUp"), 2);
  assert.equal(moved(grid, 1, "n"), null);
});

test("statistics are of the finite elements, and count the others", () => {
  const found = statisticsOf(array([5], [3, -4, 0, "nan", "-inf"]));
  assert.deepEqual(found, { min: -4, max: 3, mean: -1 / 3, norm: 5, zeros: 1, nan: 1, inf: 1, elements: 5 });
});

test("statistics of a large array are those that Python has computed", () => {
  const found = statisticsOf(large([28, 28], 8, 8, "nan", 3));
  assert.ok(Number.isNaN(found.min));
  assert.deepEqual([found.max, found.norm, found.zeros, found.nan, found.elements], [3, 7, 2, 1, 784]);
});

test("numbers are short where they are read, and whole where they are edited", () => {
  assert.equal(shortNumber(1 / 3), "0.3333");
  assert.equal(shortNumber(-Infinity), "-inf");
  assert.equal(fullNumber(Math.fround(0.1), "float32"), "0.1");
  assert.equal(Math.fround(Number(fullNumber(Math.fround(1 / 3), "float32"))), Math.fround(1 / 3));
  assert.equal(fullNumber(1 / 3, "float64"), String(1 / 3));
});

test("bytes are written for people", () => {
  assert.deepEqual([0, 512, 1500, 3136, 999_950, 12_345_678].map(bytesText), ["0 B", "512 B", "1.5 kB", "3.1 kB", "1 MB", "12.3 MB"]);
});

test("a complex number counts by its absolute value", () => {
  const texts = ["(3+4j)", "2j", "-2.5e-07j", "(1e-05-1e+02j)", "(-0-1j)", "(nan+0j)", "(inf-infj)"];
  assert.ok(texts.every(isComplex) && !["nan", "-inf", 1, true].some(isComplex));
  assert.deepEqual(texts.map(asNumber), [5, 2, 2.5e-7, Math.hypot(1e-5, 100), 1, NaN, Infinity]);
});
