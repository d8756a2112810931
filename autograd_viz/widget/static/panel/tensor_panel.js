// The panel of a tensor: its five attributes, what they rest on, and why its grad is what it is. And the one of an op.

import { arrayView } from "./array_view.js";
import { buttonFor, linkTo, noteOf, sectionOf, shortList } from "./look.js";
import { sourceView } from "../code/source_line.js";
import { tree } from "../shared/tree.js";

/** @typedef {import("../pass/program.js").Tensor} Tensor */
/** @typedef {import("../pass/program.js").Op} Op */
/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../shared/tree.js").Tree} Tree */
/** @typedef {import("../shared/tree.js").Child} Child */

/**
 * @param {Look} look
 * @param {Tensor} tensor
 * @returns {(Tree | string)[]}
 */
export function tensorPanel(look, tensor) {
  const { word } = look;
  const why = changedGrad(look, tensor) ? word("changed_outside_tip") : look.why[tensor.id];
  const source = tensor.source ?? look.program.makers.get(tensor.id)?.source;
  const parts = [
    tensor.requires_grad && untilButton(look, tensor),
    sectionOf("attributes", word("attributes"), [attributes(look, tensor)]),
    why && sectionOf("why", word("why"), [tree("p", { class: "av-i-why" }, [why])]),
    sectionOf("shares", word("shares"), shares(look, tensor)),
    sectionOf("source", word("source"), sourceView(source, word)),
  ];
  return /** @type {Tree[]} */ (parts.filter(Boolean));
}

/**
 * @param {Look} look
 * @param {Tensor} tensor
 */
function untilButton(look, tensor) {
  const title = look.word("until_tip", { tensor: look.program.label(tensor.id, look.word("unnamed")) });
  const until = buttonFor(look.word("until"), { kind: "until", tensor: tensor.id }, { title });
  return tree("div", { class: "av-i-buttons" }, [until], { key: "buttons" });
}

/** @param {boolean | undefined} on */
function flag(on) {
  return tree("code", { class: on ? "av-i-true" : "av-i-false" }, [on ? "True" : "False"]);
}

/**
 * What the notebook has put into grad since the last step, as the picture writes it; "" if it has not.
 * @param {Look} look
 * @param {Tensor} tensor
 */
function changedGrad(look, tensor) {
  const lines = look.overlay[`${tensor.id}.grad`] ?? [];
  return lines
    .map((line) => line.map(([text]) => text).join(""))
    .join("\n")
    .replace(/^grad = /, "");
}

/**
 * @param {Look} look
 * @param {Tensor} tensor
 */
function attributes(look, tensor) {
  const { word } = look;
  const changed = changedGrad(look, tensor);
  const now = look.rewritten[tensor.id];
  const version = String(tensor.version ?? 0);
  const grad = changed ? null : look.history.at(`${tensor.id}.grad`, tensor.grad);
  /** @type {[string, Child][]} */
  const rows = [
    ["data", arrayView(look, tensor.value, `${tensor.id}.data`, word("data"))],
    ...(now
      ? [/** @type {[string, Child]} */ ([word("data_now"), arrayView(look, now.value, `${tensor.id}.now`, word("data_now"))])]
      : []),
    ["grad", changed ? tree("code", {}, [changed]) : arrayView(look, grad, `${tensor.id}.grad`, word("gradient"))],
    ["grad_fn", tensor.grad_fn ? linkTo(look, tensor.grad_fn) : tree("code", { class: "av-i-none" }, ["None"])],
    ["is_leaf", flag(tensor.is_leaf)],
    ["requires_grad", flag(tensor.requires_grad)],
    [word("shape"), tree("code", {}, [`[${tensor.value.shape.join(", ")}]`])],
    [word("dtype"), tree("code", {}, [tensor.value.dtype])],
    [word("version"), tree("code", {}, [now ? word("version_now", { version, now: now.version }) : version])],
    ["retains_grad", flag(tensor.retains_grad || Boolean(look.history.at(`retain:${tensor.id}`, null)))], // asked for since, perhaps
  ];
  const pairs = rows.flatMap(([name, value]) => [tree("dt", {}, [name]), tree("dd", {}, [value])]);
  return tree("dl", { class: "av-i-attributes" }, pairs);
}

/**
 * @param {Look} look
 * @param {Tensor} tensor
 */
function shares(look, tensor) {
  const others = tensor.shares ?? [];
  return others.length ? shortList(others, (id) => linkTo(look, id)) : [noteOf(look.word("shares_none"))];
}

/**
 * @param {Look} look
 * @param {Op} op
 * @returns {(Tree | string)[]}
 */
export function opPanel(look, op) {
  const { word } = look;
  const inputs = op.inputs.map((o) => (o.tensor === null ? tree("code", {}, [o.text ?? ""]) : linkTo(look, o.tensor)));
  const outputs = op.outputs.filter((id) => id !== null).map((id) => linkTo(look, id));
  const node = op.node ? linkTo(look, op.node) : tree("code", { class: "av-i-none" }, ["None"]);
  const rows = [tree("dt", {}, ["grad_fn"]), tree("dd", {}, [node])];
  return [
    tree("dl", { class: "av-i-attributes" }, rows, { key: "grad_fn" }),
    sectionOf("inputs", word("inputs"), [...shortList(inputs, (i) => i, "ol")]),
    sectionOf("outputs", word("outputs"), [...shortList(outputs, (o) => o, "ol")]),
    sectionOf("source", word("source"), sourceView(op.source, word)),
  ];
}
