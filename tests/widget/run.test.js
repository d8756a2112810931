// What stands at the cursor of a run, and where its names and its legend stand.

import assert from "node:assert/strict";
import test from "node:test";

import { cutName, legendPlaces, namesOf } from "../../autograd_viz/widget/static/run/names.js";
import { ranksAt } from "../../autograd_viz/widget/static/run/scale.js";

const first = [0, /* least */ 1, NaN, /* mean */ 2, NaN, /* most */ 3, NaN, /* rank */ 1, 0];
const second = [128, 4, 7, 5, 8, 6, 9, 0, 1];
const numbers = new Float32Array([...first, ...second]);

test("the numbers of all ranks are those of the window that has the step", () => {
  assert.deepEqual(ranksAt(numbers, 2, 0, 63), { first: 0, last: 63, least: "1", mean: "2", most: "3", rank: 1 });
  assert.deepEqual(ranksAt(numbers, 2, 1, 128), { first: 128, last: 191, least: "7", mean: "8", most: "9", rank: 1 });
});

test("a step that no rank told, and a row that was not measured, have none", () => {
  assert.equal(ranksAt(numbers, 2, 0, 64), undefined);
  assert.equal(ranksAt(numbers, 2, 1, 0), undefined);
  assert.equal(ranksAt(new Float32Array(0), 2, 0, 0), undefined);
});

test("names stand right beside their rows, and the cells begin after the widest", () => {
  const row = (heading, label) => ({ heading, label, path: "", odd: false, reached: true });
  const rows = [row("", "weight"), row("layers.0", "attn.in_proj"), row("layers.0", "mlp"), row("head", "weight")];
  const { left, blocks } = namesOf(rows, "GPT", 900, (said) => 6 * said.length);
  assert.equal(left, 4 + 6 * 8 + 8 + 6 * 12 + 8);
  assert.deepEqual(blocks.map(({ k, heading, end }) => [k, heading, left - end]), [[0, "GPT", 16 + 36], [1, "layers.0", 16 + 72], [3, "head", 16 + 36]]);
  assert.equal(namesOf(rows, "GPT", 200, (said) => 60 * said.length).left, 90); // on a phone the cells keep half of it
});

test("a legend breaks its line where the next part has no room", () => {
  assert.deepEqual(legendPlaces([100, 50, 60], 900).map(({ line }) => line), [0, 0, 0]);
  assert.deepEqual(legendPlaces([100, 50, 60], 200), [{ x: 4, line: 0 }, { x: 120, line: 0 }, { x: 4, line: 1 }]);
});

test("of a long name the end is kept", () => {
  assert.equal(cutName("head"), "head");
  assert.equal(cutName("encoder.transformer.layers.11"), `…${"encoder.transformer.layers.11".slice(-23)}`);
});
