// What stands at the cursor of a run.

import assert from "node:assert/strict";
import test from "node:test";

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
