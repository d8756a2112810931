// The front end's words, without a browser: a few elements that remember what was done to them.
import assert from "node:assert/strict";
import { test } from "node:test";

class FakeElement {
  constructor(tag) {
    this.tagName = tag;
    this.attributes = {};
    this.children = [];
    this.dataset = {};
    this.classList = { contains: (name) => (this.attributes.class ?? "").split(" ").includes(name) };
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
    if (name.startsWith("data-")) this.dataset[name.slice(5)] = value;
  }
  setAttributeNS(_, name, value) {
    this.setAttribute(name, value);
  }
  append(child) {
    child.parent = this;
    this.children.push(child);
  }
  remove() {
    this.parent.children = this.parent.children.filter((c) => c !== this);
  }
}
globalThis.document = { createElementNS: (_, tag) => new FakeElement(tag) };
const { svgElement, writeLines } = await import("../../autograd_viz/widget/static/shared/draw.js");

const words = (cell) => cell.children.filter((c) => c.tagName === "text").map((t) => t.children.map((s) => s.textContent).join(""));

test("a row keeps its frame and replaces its lines", () => {
  const row = svgElement("g", { class: "row", "data-x": 14, "data-y": 100, "data-size": 11.4, "data-pitch": 14 });
  row.append(svgElement("rect"));
  writeLines(row, [[["grad = ", "text"], ["None", "none"]]]);
  assert.deepEqual(words(row), ["grad = None"]);
  writeLines(row, [[["grad = ", "text"], ["tensor(", "number"]], [["  [1.])", "number"]]]);
  assert.deepEqual(words(row), ["grad = tensor(", "  [1.])"]);
  assert.equal(row.children.filter((c) => c.tagName === "rect").length, 1);
});

test("lines are centred on the middle of the row", () => {
  const row = svgElement("g", { class: "row", "data-x": 0, "data-y": 100, "data-size": 10, "data-pitch": 14 });
  writeLines(row, [[["a", "text"]], [["b", "text"]]]);
  assert.deepEqual(row.children.map((t) => Number(t.attributes.y)), [96.5, 110.5]);
});

test("a label has a ground as wide as its number, and none when it is empty", () => {
  const label = svgElement("g", { class: "label", "data-x": 50, "data-y": 10, "data-size": 12, "data-middle": "1" });
  writeLines(label, [[["12.0", "link"]]]);
  const ground = label.children.find((c) => c.tagName === "rect");
  assert.ok(Math.abs(Number(ground.attributes.width) - (4 * 0.602 * 12 + 6)) < 1e-9);
  assert.ok(Math.abs(Number(ground.attributes.x) + Number(ground.attributes.width) / 2 - 50) < 1e-9);
  writeLines(label, []);
  assert.equal(label.children.length, 0);
});

test("text is set as text", () => {
  const row = svgElement("g", { class: "row", "data-x": 0, "data-y": 0, "data-size": 10, "data-pitch": 14 });
  writeLines(row, [[["<script>", "text"]]]);
  assert.equal(row.children[0].children[0].textContent, "<script>");
});

test("a long line is written smaller, and a row without a size has that of all rows", () => {
  const row = svgElement("g", { class: "row", "data-x": 0, "data-y": 100, "data-room": 152 });
  writeLines(row, [[["grad = 1.0", "text"]], [["b", "text"]]]);
  assert.deepEqual(row.children.map((t) => Number(t.attributes["font-size"])), [11.4, 11.4]);
  assert.equal(Number(row.children[1].attributes.y) - Number(row.children[0].attributes.y), 14);
  writeLines(row, [[["x".repeat(50), "text"]]]);
  assert.ok(Number(row.children[0].attributes["font-size"]) * 0.602 * 50 <= 152.01);
});
