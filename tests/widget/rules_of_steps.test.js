// The arrays of a rule, what an element is the sum of, and numbers as text: pure functions.
import assert from "node:assert/strict";
import { test } from "node:test";

const STATIC = "../../autograd_viz/widget/static";
const { partsOfElement, sumText } = await import(`${STATIC}/sentence/products.js`);
const { drawnOf, turned } = await import(`${STATIC}/sentence/rules.js`);
const { numberText, valueText } = await import(`${STATIC}/shared/numbers.js`);

const array = (shape, numbers) => ({ shape, numbers });
const value = (shape, numbers) => ({ shape, dtype: "float32", text: "", numbers });

test("an element of a matrix product is a row times a column", () => {
  const [a, b] = [array([2, 3], [1, 2, 3, 4, 5, 6]), array([3, 2], [1, 0, 0, 1, 2, 2])];
  assert.deepEqual(partsOfElement("·", [a, b], array([2, 2], [7, 8, 16, 17]), 2), [[3, 0], [4, 2], [5, 4]]);
});

test("a batch of products, and a matrix times a vector", () => {
  const [a, b] = [array([2, 1, 2], [1, 2, 3, 4]), array([2, 2, 1], [5, 6, 7, 8])];
  assert.deepEqual(partsOfElement("·", [a, b], array([2, 1, 1], [17, 53]), 1), [[2, 2], [3, 3]]);
  assert.deepEqual(partsOfElement("·", [array([2, 2], [1, 2, 3, 4]), array([2], [5, 6])], array([2], [17, 39]), 1), [[2, 0], [3, 1]]);
  assert.deepEqual(partsOfElement("⊗", [array([2], [1, 2]), array([3], [3, 4, 5])], array([2, 3], [3, 4, 5, 6, 8, 10]), 5), [[1, 2]]);
});

test("broadcasting is undone by a sum, and a single element is expanded", () => {
  const [grad, x] = [array([2, 2], [1, 2, 3, 4]), array([2, 2], [5, 6, 7, 8])];
  assert.deepEqual(partsOfElement("×", [grad, x], array([2], [26, 44]), 1), [[1, 1], [3, 3]]);
  assert.deepEqual(partsOfElement("", [grad], array([1, 2], [4, 6]), 0), [[0], [2]]);
  assert.deepEqual(partsOfElement("", [array([], [1])], array([2], [1, 1]), 1), [[0]]);
  assert.deepEqual(partsOfElement("×", [array([2, 1], [2, 3]), array([2], [5, 7])], array([2, 2], [10, 14, 15, 21]), 2), [[1, 0]]);
});

test("what does not add up to the element is not said", () => {
  assert.equal(partsOfElement("×", [array([2], [1, 2]), array([2], [3, 4])], array([2], [3, 9]), 1), null);
  assert.equal(partsOfElement("·", [array([2, 3], [1, 1, 1, 1, 1, 1]), array([2, 2], [1, 1, 1, 1])], array([2, 2], [1, 1, 1, 1]), 0), null);
  assert.equal(partsOfElement(",", [array([2], [1, 2])], array([2], [1, 2]), 0), null);
});

test("another rule of one element each lights them, but writes no sum of them", () => {
  assert.deepEqual(partsOfElement("∘", [array([2], [1, 2]), array([2], [3, 4])], array([2], [0, 9]), 1), [[1, 1]]);
  assert.equal(partsOfElement("∘", [array([2], [1, 2])], array([], [9]), 0), null);
});

test("a sum is written with numbers, a long one is cut", () => {
  const arrays = [array([3], [0.5, 2, -1]), array([3], [1, -3, 4])];
  const parts = [[0, 0], [1, 1], [2, 2]];
  const write = (x) => numberText(x);
  assert.equal(sumText("·", arrays, parts, -9.5, write, 8), "0.5·1.0 + 2.0·(-3.0) + -1.0·4.0 = -9.5");
  assert.equal(sumText("×", arrays, parts, -9.5, write, 1), "0.5 × 1.0 + … = -9.5");
});

test("the arrays of a rule are found by their addresses, turned where the rule turns them", () => {
  const saved = { name: "mat2", state: "kept", value: value([1, 2], [7, 8]) };
  const frames = [
    { step: { node: "n1", changes: [{ at: "next:n1.0", before: null, after: value([], [3]) }] } },
    { step: { node: "n0", grad_outputs: [value([1], [1])], grad_inputs: [null, value([1], [5])] } },
  ];
  const terms = [{ name: "g", at: "grad_outputs.0" }, { name: "wᵀ", at: "saved.mat2", is_transposed: true }, { name: "s", at: "next:n1.0" }];
  const drawn = drawnOf({ text: "to a: g", terms, result: "grad_inputs.1" }, { saved: [saved] }, frames);
  assert.deepEqual(drawn.map((d) => [d.name, d.value.shape, d.value.numbers]), [["g", [1], [1]], ["wᵀ", [2, 1], [7, 8]], ["s", [], [3]], ["to a", [1], [5]]]);
  assert.deepEqual(drawnOf({ text: "", terms, result: "grad_inputs.0" }, { saved: [saved] }, frames), []);
});

test("a matrix is turned, each of a batch too, and so are its means of blocks", () => {
  assert.deepEqual(turned(value([2, 3], [1, 2, 3, 4, 5, 6])).numbers, [1, 4, 2, 5, 3, 6]);
  assert.deepEqual(turned(value([2, 1, 2], [1, 2, 3, 4])).numbers, [1, 2, 3, 4]);
  const large = { shape: [90, 60], dtype: "float32", text: "[[...]]", summary: { rows: 2, columns: 1, thumbnail: [1, 2] } };
  const { shape, summary } = turned(large);
  assert.deepEqual([shape, summary.rows, summary.columns, summary.thumbnail], [[60, 90], 1, 2, [1, 2]]);
  assert.equal(turned({ ...large, shape: [3, 90, 60] }).summary, undefined);
});

test("numbers are written as in the sentences", () => {
  const texts = [3, -0.5, 0.1 + 1e-9, 123456.7, 1e-8, 1.5e20, 0.00012345678, -0, "nan", "(1+2j)", true].map((x) => numberText(x));
  assert.deepEqual(texts, ["3.0", "-0.5", "0.1", "123457", "1e-08", "1.5e+20", "0.000123457", "-0.0", "nan", "1+2j", "True"]);
  assert.equal(valueText(value([2, 2], [1, 2, 3, 4])), "[[1.0, 2.0], [3.0, 4.0]]");
  assert.equal(valueText({ ...value([2], [1, 2]), dtype: "int64" }), "[1, 2]");
  assert.equal(valueText({ ...value([90], []), text: "[1., ..., 2.]" }), "[1., ..., 2.]");
});
