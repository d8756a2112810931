"""The op of a node: its name, its inputs in words, and a cause that names it; and the ops that detach."""

from __future__ import annotations

from collections.abc import Iterator

from ... import words
from ...graph.model import Op, Tensor, Value
from ...graph.op_names import plain_name, stem
from .cause import Cause, Said, in_words
from .code import operator_at
from .facts import Edge, Facts, takes_the_shape
from .numbers import bounds, has_zero, is_known, number, range_text
from .paths import closure

ADDED = ("Addmm", "Addmv", "Baddbmm", "Addbmm")  # the first operand is added to a product of the others
OPERATORS = ("Add", "Sub", "Mul", "Div", "Pow", "Mm", "Bmm", "Mv", "Dot")
PRODUCTS = ("Mul", "Mm", "Bmm", "Mv", "Dot", "Ger", "Vdot", *ADDED, "Convolution")


def op_of(f: Facts, node: str) -> str:
    """The same for a node; "" for a Function of the user's, whatever its name is."""
    return "" if f.nodes[node].rule == "user" else stem(f.called(node))


def name_of_op(f: Facts, node: str) -> str:
    """The plain name of a node's op; the class name of a user's Function."""
    return plain_name(op_of(f, node)) or f.called(node).removesuffix("Backward")


def cause_at(f: Facts, kind: str, node: str, tensors: tuple[str, ...] | None = None, **said: Said | float) -> Cause:
    """A cause that names a node: with its op, its line, and these tensors, by default the op's inputs."""
    given = tuple(t.id for t in f.inputs(node)) if tensors is None else tensors
    source = f.source(node)
    name = (operator_at(source) if op_of(f, node) in OPERATORS else "") or name_of_op(f, node)
    return Cause(kind, given, (node,), source, {"node": f.called(node), "op": name, **in_words(said)})


def zeros_behind(f: Facts, node: str) -> Iterator[Edge]:
    """On the way back to the loss, along the first sender of each node: the edges where some zeros began."""
    seen = {node}
    while True:
        before = next((s for e in f.edges_at(node) for s in f.senders.get(e, ())), None)
        if before is None or before[0] in seen:
            return
        node = before[0]
        seen.add(node)
        there = f.arrivals(node)
        if has_zero(f.sent(*before)) and there and not any(map(has_zero, there)):
            yield before


def given_text(f: Facts, node: str) -> str:
    """`its inputs are -3.0 … -1.0`, else the outputs, else that neither is recorded."""
    given, result = bounds(f.input(node, 1 if op_of(f, node) in ADDED else 0)), bounds(f.result(node))
    if given is not None:
        return words.INPUTS_ARE.format(range=range_text(given))
    return words.INPUTS_UNKNOWN if result is None else words.OUTPUTS_ARE.format(range=range_text(result))


def numbers_of(f: Facts, node: str) -> list[float | None]:
    """The Python numbers among the op's operands; None for an operand that is no number."""
    op = f.op(node)
    return [] if op is None else [number(o.text) for o in op.inputs if o.tensor is None]


def operand(f: Facts, node: str, index: int, *saved: str) -> Value | None:
    """The value of an op's input, or a saved value under one of these names; None if unknown."""
    op = f.op(node)
    given = op.inputs[index].tensor if op is not None and index < len(op.inputs) else None
    value = None if given is None or given in f.changed_since else f.tensors[given].value
    return value if is_known(value) else f.saved(node, *saved)


def factors(f: Facts, node: str, i: int) -> list[Tensor]:
    """The factors of what a product sends along next_functions[i]; a bias is no factor."""
    op, given = op_of(f, node), f.inputs(node)
    biases = given[:1] if op in ADDED else given[2:] if op == "Convolution" else []
    is_bias = op in ADDED and i == 0
    others = f.others(node, i) if op in PRODUCTS and not is_bias else []
    return [t for t in others if t not in biases and t.id not in f.changed_since]


def factor_values(f: Facts, node: str, i: int) -> list[Value]:
    """The values of the factors, else the value that the node has saved for one."""
    known, op = [t.value for t in factors(f, node, i)], op_of(f, node)
    if known or op not in PRODUCTS or numbers_of(f, node) or (op in ADDED and i == 0):
        return known
    is_first = i == (1 if op in ADDED else 0)
    saved = f.saved(node, *(("other", "mat2", "batch2", "vec", "weight") if is_first else ("self", "mat1", "batch1", "input")))
    return [] if saved is None else [saved]


def cuts_of(f: Facts) -> list[Cause]:
    """The ops where gradients from the loss would have to pass, and cannot.

    The comparison in `z * (z > 0).float()` does not count: its result reaches the loss only through a product with z.
    """
    there, ends, stack = {f.subject.id}, list[Op](), [f.subject.id]
    while stack:
        id = stack.pop()
        edge = f.edge_of(id)
        for op in f.users.get(id, ()):
            if takes_the_shape(op):
                continue
            ways = () if op.node is None else f.nodes[op.node].next_functions
            is_passed = any((a.node, a.index) == edge for a in ways)
            new = [o for o in op.outputs if o is not None and o not in there] if is_passed else []
            ends += [] if new or {*op.outputs} <= there else [op]
            there.update(new)
            stack += new
    beside = closure((t for t in f.loss if t not in there), lambda t: (o for o in f.operands(t) if o not in there))
    return [_cut_at(f, op) for op in ends if beside.keys() & {*op.outputs}]


def _cut_at(f: Facts, op: Op) -> Cause:
    kind = "path_cut_no_grad" if op.reason == "no_grad" else "path_cut_detach" if op.name == "Detach" else "path_cut_op"
    return Cause(kind, (f.subject.id,), () if op.node is None else (op.node,), op.source, {"op": f"{plain_name(op.name)}()"})
