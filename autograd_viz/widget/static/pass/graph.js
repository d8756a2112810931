// What is joined to what: read from the document, by the addresses of the arrows (Note [Addresses] in graph/trace.py).

/**
 * @typedef {object} Operand
 * @property {string | null} tensor
 * @property {string} [text] of a number
 */
/** @typedef {{ line: number }} Source */
/** @typedef {{ id: string, name: string | null, grad_fn: string | null, output_nr: number, source?: Source }} Tensor */
/** @typedef {{ id: string, name: string, inputs: Operand[], outputs: (string | null)[], node?: string, source?: Source, members?: number }} Op */
/**
 * @typedef {object} Node
 * @property {string} id
 * @property {string} name
 * @property {string | null} op
 * @property {number} outputs
 * @property {{ node: string | null, index: number }[]} [next_functions]
 * @property {string} [variable]
 * @property {number} [members] how many nodes a group stands for
 */
/**
 * @typedef {object} Document
 * @property {Tensor[]} tensors
 * @property {Op[]} [ops]
 * @property {Node[]} [nodes]
 * @property {string[]} [roots]
 */

const LONGEST_CALL = 32; // letters between the brackets
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g; // characters that change the direction of what follows

/**
 * An op as a call: "Mul(b, c)", what has no name as "…".
 * @param {{ name: string, inputs: { tensor: string | null, text?: string }[] }} op
 * @param {Map<string, { name: string | null }>} tensors
 */
export function callText(op, tensors) {
  const inside = op.inputs
    .map(({ tensor, text }) => (tensor === null ? (text ?? "") : (tensors.get(tensor)?.name ?? "…")))
    .join(", ");
  return `${op.name}(${inside.length <= LONGEST_CALL ? inside : "…"})`;
}

export class Graph {
  /**
   * @param {Document} document
   * @param {(id: string) => boolean} isDrawn does a tensor have a box? An arrow from one without starts at its op.
   */
  constructor(document, isDrawn = () => true) {
    this.document = document;
    this.isDrawn = isDrawn;
    const [ops, nodes] = [document.ops ?? [], document.nodes ?? []];
    /** @type {Map<string, Tensor>} */
    this.tensors = new Map(document.tensors.map((t) => [t.id, t]));
    /** @type {Map<string, Op>} */
    this.ops = new Map(ops.map((o) => [o.id, o]));
    /** @type {Map<string, Node>} */
    this.nodes = new Map(nodes.map((n) => [n.id, n]));
    /** @type {Map<string, Set<string>>} boxes beside each box */
    this.beside = new Map();
    /** @type {Map<string, string[]>} addresses of what touches each box */
    this.touching = new Map();
    /** @type {Map<string, [string, string]>} the boxes at both ends of an arrow */
    this.ends = new Map();
    /** @type {Map<string, string>} */
    this.maker = new Map(
      ops.flatMap((o) => o.outputs.flatMap((t) => (t === null ? [] : [/** @type {[string, string]} */ ([t, o.id])]))),
    );
    for (const op of ops) this.joinOp(op);
    for (const node of nodes) this.joinNode(node);
    for (const tensor of document.tensors) this.joinTensor(tensor);
  }

  /** @param {Op} op */
  joinOp(op) {
    const inputs = op.inputs.map((i) => i.tensor).filter((t) => t !== null && t !== undefined);
    inputs.forEach((t, i) => this.join(`in:${op.id}.${i}`, this.drawn(/** @type {string} */ (t)), op.id));
    op.outputs.forEach((t, j) => t !== null && this.join(`out:${op.id}.${j}`, op.id, this.drawn(t)));
    if (!op.node) return;
    this.join(`saved:${op.id}`, op.id, op.node);
    for (const at of [`save:${op.id}`, `ctx:${op.id}`]) [op.id, op.node].forEach((id) => this.touch(id, at));
  }

  /** @param {Node} node */
  joinNode(node) {
    (node.next_functions ?? []).forEach((f, i) => f.node && this.join(`next:${node.id}.${i}`, node.id, f.node));
    if (node.variable) this.join(`grad:${node.id}`, node.id, node.variable);
    for (let k = 0; k < node.outputs; k++) this.touch(node.id, `sum:${node.id}.${k}`);
  }

  /** @param {Tensor} tensor */
  joinTensor(tensor) {
    if (!tensor.grad_fn) return;
    this.join(`grad_fn:${tensor.id}`, tensor.id, tensor.grad_fn);
    this.join(`retain:${tensor.id}`, tensor.grad_fn, tensor.id);
  }

  /** @param {string} tensor */
  drawn(tensor) {
    return this.isDrawn(tensor) ? tensor : (this.maker.get(tensor) ?? tensor);
  }

  /**
   * @param {string} at
   * @param {string} a
   * @param {string} b
   */
  join(at, a, b) {
    this.ends.set(at, [a, b]);
    for (const [here, there] of [
      [a, b],
      [b, a],
    ]) {
      this.touch(here, at);
      if (here === there || !this.isDrawn(here) || !this.isDrawn(there)) continue;
      if (!this.beside.has(here)) this.beside.set(here, new Set());
      this.beside.get(here)?.add(there);
    }
  }

  /**
   * @param {string} id
   * @param {string} at
   */
  touch(id, at) {
    const known = this.touching.get(id);
    if (known) known.push(at);
    else this.touching.set(id, [at]);
  }

  /**
   * Boxes joined to a box by an arrow.
   * @param {string} id
   * @returns {ReadonlySet<string>}
   */
  neighbours(id) {
    return this.beside.get(id) ?? new Set();
  }

  /**
   * The arrows on which gradients reach a node.
   * @param {string} node
   */
  into(node) {
    return (this.touching.get(node) ?? []).filter((at) => /^(next|grad_fn):/.test(at) && this.ends.get(at)?.[1] === node);
  }

  /**
   * The box to which an address belongs: its row's, its ctx's op; for an arrow, none.
   * @param {string} at
   */
  owner(at) {
    const id = at.startsWith("ctx:") ? at.slice(4) : at.split(".")[0];
    return this.tensors.has(id) || this.ops.has(id) || this.nodes.has(id) ? id : "";
  }

  /**
   * What tells a box from its like: "Mul(a, b)" for an op and for its result without a name, "MulBackward0 (c)" for its node.
   * @param {string} id
   */
  label(id) {
    const [node, op] = [this.nodes.get(id), this.ops.get(this.ops.has(id) ? id : (this.maker.get(id) ?? ""))];
    if (op && !this.tensors.get(id)?.name) return callText(op, this.tensors).replace(TURNING, "\ufffd");
    const made = this.ops.get(node?.op ?? "");
    if (!made || made.name === node?.name) return this.title(id); // a group is called alike on both sides
    const name = made.outputs.map((t) => this.tensors.get(t ?? "")?.name).find(Boolean) ?? callText(made, this.tensors);
    return `${this.title(id)} (${name})`.replace(TURNING, "\ufffd");
  }

  /**
   * What a box is called, as the picture writes it; "" for a tensor without a name.
   * @param {string} id
   */
  short(id) {
    return this.tensors.has(id) ? (this.tensors.get(id)?.name ?? "") : this.title(id);
  }

  /**
   * What a box is called, as the picture writes it.
   * @param {string} id
   */
  title(id) {
    return this.name(id).replace(TURNING, "\ufffd");
  }

  /** @param {string} id */
  name(id) {
    const node = this.nodes.get(id);
    const variable = node?.variable ? this.tensors.get(node.variable)?.name : "";
    if (node) return variable ? `${node.name} (${variable})` : node.name;
    return this.ops.get(id)?.name ?? this.tensors.get(id)?.name ?? id;
  }

  /**
   * The nodes whose call tells that a gradient has reached a tensor: its grad_fn, or a leaf's AccumulateGrad.
   * @param {string} tensor
   */
  reachedBy(tensor) {
    const nodes = [...this.nodes.values()].filter((n) => n.variable === tensor).map((n) => n.id);
    const own = this.tensors.get(tensor)?.grad_fn;
    return new Set(own ? [...nodes, own] : nodes);
  }
}
