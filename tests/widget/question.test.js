// Questions: what can be said without a browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const at = "../../autograd_viz/widget/static/";
const { pieces } = await import(`${at}question/text.js`);
const { read } = await import(`${at}question/reading.js`);
const { pressedOrder } = await import(`${at}question/fields.js`);

test("code stands between backticks, a single one is a letter", () => {
  assert.deepEqual(pieces("What is `a.grad`?"), [
    { text: "What is ", code: false },
    { text: "a.grad", code: true },
    { text: "?", code: false },
  ]);
  assert.deepEqual(pieces("a ` b"), [{ text: "a ` b", code: false }]);
});

test("pressing puts one after another; pressing again takes it and those after it back", () => {
  assert.deepEqual(pressedOrder([2], 0), [2, 0]);
  assert.deepEqual(pressedOrder([2, 0, 1], 0), [2]);
});

test("what is written into a row is read as the kernel reads it", () => {
  for (const [text, shape, numbers] of JSON.parse(readFileSync(new URL("question_readings.json", import.meta.url), "utf8"))) {
    const found = read(text);
    assert.deepEqual([found?.shape ?? null, found?.numbers ?? null], [shape, numbers && numbers.map(Number)], text);
  }
});
