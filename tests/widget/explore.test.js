// The curve of an explorer, and what blanks a presented widget.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axisEnds } from "../../autograd_viz/widget/static/explore/curve.js";

test("a pole of the function does not flatten the curve; a plain curve keeps its ends", () => {
  const plain = Array.from({ length: 61 }, (_, i) => i * 0.1);
  const [low, high] = axisEnds(plain);
  assert.ok(low < 0 && low > -1 && high > 6 && high < 7);
  const [, most] = axisEnds([...plain, 1e6]);
  assert.ok(most < 20);
  const [flat, over] = axisEnds([2, 2, 2]);
  assert.ok(flat < 2 && over > 2);
});
