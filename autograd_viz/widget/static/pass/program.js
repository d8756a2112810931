// The document's indexes, built once: who is who, who sends to whom, and what to call them.

import { callText } from "./graph.js";

/** @typedef {import("../shared/statistics.js").Value} Value */
/** @typedef {{ file: string, line: number, end_line: number, column: number, end_column: number, text?: string }} Source */
/**
 * @typedef {object} Tensor
 * @property {string} id
 * @property {string | null} name
 * @property {Value} value
 * @property {Value | null} grad
 * @property {string | null} grad_fn
 * @property {number} output_nr
 * @property {boolean} is_leaf
 * @property {boolean} requires_grad
 * @property {boolean} [retains_grad]
 * @property {number} [version]
 * @property {Source} [source]
 * @property {string[]} [shares]
 */
/** @typedef {{ tensor: string | null, text?: string }} Operand */
/** @typedef {{ id: string, name: string, inputs: Operand[], outputs: (string | null)[], node?: string, source?: Source, members?: number }} Op */
/** @typedef {{ node: string | null, index: number, count?: number }} NextFunction */
/**
 * @typedef {object} Saved
 * @property {string} name
 * @property {string} state
 * @property {Value} [value]
 * @property {string} [tensor]
 * @property {string} [text]
 * @property {number} [version]
 * @property {boolean} [stale]
 * @property {number} [bytes]
 */
/** @typedef {{ input: string, text: string }} Formula */
/**
 * @typedef {object} GraphNode
 * @property {string} id
 * @property {string} name
 * @property {string | null} op
 * @property {number} outputs
 * @property {NextFunction[]} [next_functions]
 * @property {Saved[]} [saved]
 * @property {Formula[]} [formulas]
 * @property {string} [rule]
 * @property {string} [variable]
 * @property {number} [members] how many nodes a group stands for
 * @property {{ name: string, index: number | null }[]} [entries] by output, where several are drawn as one
 */
/** @typedef {{ tensors: Tensor[], ops?: Op[], nodes?: GraphNode[], roots?: string[] }} Doc */
/** @typedef {{ node: string, edge: number, count: number }} Sender `edge` is the sender's own next_functions index, `count` how many it stands for */

export class Program {
  /** @param {Doc} doc */
  constructor(doc) {
    this.ops = doc.ops ?? [];
    this.nodes = doc.nodes ?? [];
    this.roots = doc.roots ?? [];
    this.tensorById = new Map(doc.tensors.map((t) => [t.id, t]));
    this.opById = new Map(this.ops.map((o) => [o.id, o]));
    this.nodeById = new Map(this.nodes.map((n) => [n.id, n]));
    /** @type {Map<string, Op>} the op that made each tensor */
    this.makers = new Map();
    for (const op of this.ops) for (const id of op.outputs) if (id) this.makers.set(id, op);
    /** @type {Map<string, Sender[]>} by "node.output" */
    this.senders = new Map();
    /** @type {Map<string, string>} the AccumulateGrad of each leaf */
    this.accumulators = new Map();
    /** @type {Map<string, number>} how many nodes are called so */
    this.namesakes = new Map();
    for (const node of this.nodes) this.enter(node);
    /** @type {Set<string>} "node.output" where the pass begins */
    this.starts = new Set(this.roots.map((id) => this.edgeOf(id)));
  }

  /** @param {GraphNode} node */
  enter(node) {
    this.namesakes.set(node.name, (this.namesakes.get(node.name) ?? 0) + 1);
    if (node.variable) this.accumulators.set(node.variable, node.id);
    for (const [edge, next] of (node.next_functions ?? []).entries()) {
      if (!next.node) continue;
      const key = `${next.node}.${next.index}`;
      const known = this.senders.get(key);
      const sender = { node: node.id, edge, count: next.count ?? 1 };
      if (known) known.push(sender);
      else this.senders.set(key, [sender]);
    }
  }

  /**
   * Where the gradient of a tensor arrives: "node.output".
   * @param {string} id
   */
  edgeOf(id) {
    const t = this.tensorById.get(id);
    return t?.grad_fn ? `${t.grad_fn}.${t.output_nr}` : `${this.accumulators.get(id)}.0`;
  }

  /** @param {string} id @returns {"node" | "tensor" | "op" | null} */
  kind(id) {
    if (this.nodeById.has(id)) return "node";
    if (this.tensorById.has(id)) return "tensor";
    return this.opById.has(id) ? "op" : null;
  }

  /**
   * The forward op of a node.
   * @param {GraphNode} node
   */
  opOf(node) {
    return node.op === null ? undefined : this.opById.get(node.op);
  }

  /**
   * The tensor that a node's first output is, or the leaf of an AccumulateGrad.
   * @param {GraphNode} node
   */
  tensorOf(node) {
    return node.variable ?? this.opOf(node)?.outputs.find((id) => id) ?? null;
  }

  /**
   * What a person calls it: "MulBackward0 (e)", "a", "Mul(b, c)" for a tensor without a name.
   * @param {string} id
   * @param {string} unnamed for what nothing better can be said of
   * @returns {string}
   */
  label(id, unnamed) {
    const node = this.nodeById.get(id);
    if (!node) return this.tensorLabel(id, unnamed);
    const of = this.tensorOf(node);
    const isGroup = this.opOf(node)?.name === node.name;
    const isOnly = (this.namesakes.get(node.name) === 1 && !node.variable) || isGroup;
    return isOnly || !of ? node.name : `${node.name} (${this.tensorLabel(of, unnamed)})`;
  }

  /** @param {string} id @param {string} unnamed */
  tensorLabel(id, unnamed) {
    const op = this.opById.get(id);
    if (op) return this.call(op);
    const name = this.tensorById.get(id)?.name;
    if (name) return name;
    const maker = this.makers.get(id);
    if (!maker) return unnamed;
    return maker.outputs.length > 1 ? `${this.call(maker)}[${maker.outputs.indexOf(id)}]` : this.call(maker);
  }

  /**
   * An op as a call: "Mul(b, c)", what has no name as "…".
   * @param {Op} op
   */
  call(op) {
    return callText(op, this.tensorById);
  }
}
