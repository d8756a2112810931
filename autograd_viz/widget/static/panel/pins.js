// Pinned gradients: a strip with the value of each at this step, and since when it has it.

import { button, html } from "../shared/elements.js";
import { buttonFor, sectionOf } from "./look.js";
import { asNumber, shortNumber } from "../shared/statistics.js";

/** @typedef {import("./look.js").Look} Look */
/** @typedef {import("../pass/stops.js").Facts} Facts */
/** @typedef {import("../shared/tree.js").Tree} Tree */
/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {{ at: string, name: string, start?: string }} Pin `at` is "t3.grad", "n5.in.0" or "n5.out.1" (targets.py) */

const MOST_PLACES = 8; // of a node that can be pinned

/**
 * The last step that has set a pinned gradient, and what it was then.
 * @param {string} at
 * @param {{ facts?: Facts }[]} frames
 * @param {number} step
 * @returns {{ step: number, fact: import("../pass/stops.js").Fact | null } | null}
 */
export function pinnedAt(at, frames, step) {
  const [id, side, index] = at.split(".");
  for (let i = step; i > 0; i--) {
    const facts = frames[i - 1].facts;
    const grad = side === "grad" && facts?.grads.find(([tensor]) => tensor === id);
    if (grad) return { step: i, fact: grad[2] };
    if (side !== "grad" && facts?.node === id)
      return { step: i, fact: facts[side === "in" ? "came" : "left"][Number(index)] ?? null };
  }
  return null;
}

/**
 * With a pin where there was none, or without it.
 * @param {Pin[]} pins
 * @param {Pin} pin
 */
export function repinned(pins, pin) {
  const others = pins.filter(({ at }) => at !== pin.at);
  return others.length < pins.length ? others : [...pins, pin];
}

/** The strip. */
export class Pins {
  /** @param {{ say: Say, change: (pins: Pin[]) => void, signal: AbortSignal }} context */
  constructor({ say, change, signal }) {
    this.say = say;
    this.change = change;
    this.signal = signal;
    this.root = html("ul", "av-pins");
    this.root.setAttribute("aria-label", say("pins"));
    this.root.hidden = true;
    this.shown = "";
  }

  /**
   * @param {Pin[]} pins
   * @param {{ facts?: Facts }[]} frames
   * @param {number} step
   */
  show(pins, frames, step) {
    const found = pins.map((pin) => pinnedAt(pin.at, frames, Math.min(step, frames.length)));
    const key = JSON.stringify([pins, found, step]);
    if (key === this.shown) return;
    this.shown = key;
    this.root.hidden = pins.length === 0;
    this.root.replaceChildren(...pins.map((pin, i) => this.row(pins, pin, found[i], step)));
  }

  /**
   * @param {Pin[]} pins
   * @param {Pin} pin
   * @param {ReturnType<typeof pinnedAt>} found
   * @param {number} step
   */
  row(pins, pin, found, step) {
    const { say } = this;
    const made = html("li", found?.step === step ? "av-pin av-pin-fresh" : "av-pin");
    const since = found ? say("pin_since", { step: found.step }) : "";
    const remove = button("remove", `${say("unpin")}: ${pin.name}`, () => this.change(repinned(pins, pin)), this.signal);
    remove.textContent = "×";
    made.append(
      html("bdi", "av-pin-name", pin.name),
      html("span", "av-pin-value", this.value(pin, found)),
      html("span", "av-pin-since", since),
      remove,
    );
    return made;
  }

  /**
   * @param {Pin} pin
   * @param {ReturnType<typeof pinnedAt>} found
   */
  value(pin, found) {
    if (!found) return pin.start ?? "None";
    if (!found.fact) return "None";
    return found.fact[2] ?? this.say("pin_norm", { norm: shortNumber(asNumber(found.fact[0])) });
  }
}

/**
 * In the panel of a tensor or node: what can be pinned there.
 * @param {Look} look
 * @param {string} id
 * @returns {Tree[]}
 */
export function pinSection(look, id) {
  const places = placesOf(look, id);
  if (!places.length) return [];
  const buttons = places.slice(0, MOST_PLACES).map((pin) => {
    const isPinned = look.pins.some(({ at }) => at === pin.at);
    return buttonFor(
      pin.name,
      { kind: "pin", pin },
      { "aria-pressed": String(isPinned), title: look.word("pin_tip", { name: pin.name }) },
    );
  });
  return [sectionOf("pins", look.word("pin"), buttons)];
}

/**
 * @param {Look} look
 * @param {string} id
 * @returns {Pin[]}
 */
function placesOf({ program, word }, id) {
  const label = (/** @type {string} */ of) => program.label(of, word("unnamed"));
  const [tensor, node] = [program.tensorById.get(id), program.nodeById.get(id)];
  const isSingle = (/** @type {string | null} */ of) =>
    of !== null && !program.nodeById.get(of)?.members && program.nodeById.has(of);
  if (tensor?.grad_fn && isSingle(tensor.grad_fn)) {
    return [{ at: `${tensor.grad_fn}.in.${tensor.output_nr}`, name: word("pin_gradient", { name: label(id) }) }];
  }
  if (tensor?.requires_grad && !tensor.grad_fn) return [{ at: `${id}.grad`, name: `${label(id)}.grad` }];
  if (!node || !isSingle(id)) return [];
  const came =
    node.variable || node.outputs > 1
      ? []
      : [{ at: `${id}.in.0`, name: word("pin_gradient", { name: label(program.tensorOf(node) ?? id) }) }];
  const left = (node.next_functions ?? []).flatMap(({ node: end, count = 1 }, k) => {
    return end && count === 1 && isSingle(end) ? [{ at: `${id}.out.${k}`, name: `${label(id)} → ${label(end)}` }] : [];
  });
  const leaf = node.variable ? [{ at: `${node.variable}.grad`, name: `${label(node.variable)}.grad` }] : [];
  return [...came, ...left, ...leaf];
}
