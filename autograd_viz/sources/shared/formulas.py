"""The backward rules of a node as text: in symbols, and with the numbers of one step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.model import Formula, Value
from ...graph.text import shape_text, value_text
from ...graph.trace import Jacobian
from ...twin.core.backward.gradients import validate_output
from ...twin.core.backward.node import Node
from ...twin.core.backward.saved import FREED, SavedTensor
from ...twin.core.base.quiet import quiet
from ...twin.core.base.symbol import Symbol, number, symbols
from ...twin.core.op.formula import formulas, is_complex
from ...twin.core.op.primitive_node import PrimitiveNode
from ...twin.core.tensor.number import Number
from ...twin.core.tensor.tensor import Tensor
from .saved import is_simple, raw_saved
from .values import value_of

LONGEST = 90  # characters of a formula; a longer one is shown without numbers
MOST_RESULTS = 12  # of a rule that returns all gradients
Values = Sequence[Value | None]
PLAIN = "plain"


def symbolic_formulas(node: Node) -> dict[str, str]:
    """The rules of a node in symbols, by input; empty if the core has no rules for it."""
    if not isinstance(node, PrimitiveNode):
        return {}
    count = len(node._outputs_metadata())
    grads = [Symbol("grad")] if count == 1 else symbols("grads", (Symbol(f"grads[{i}]") for i in range(count)))
    return formulas(node, grads)


class RuleTexts:
    """The rules of nodes in symbols, written once for nodes of the same op and inputs, whose saved values differ in tensors."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Formula, ...]] = {}

    def of(self, node: Node, kept: Mapping[str, Any]) -> tuple[Formula, ...]:
        """The rules of a node with these saved values."""
        if not isinstance(node, PrimitiveNode):
            return ()
        saved = [_looks(value) for value in kept.values()]
        key = type(node), len(node._others or ()), tuple([after is None for after in node._next]), tuple(saved)
        if PLAIN in saved or key not in self._known:
            self._known[key] = tuple(Formula(name, text) for name, text in symbolic_formulas(node).items())
        return self._known[key]


def _looks(kept: Any) -> str:
    """How a saved value looks in a formula. A tensor is its name, with or without conj(). A plain value is its text."""
    if kept is None or kept is FREED:
        return "none" if kept is None else "real"
    if isinstance(kept, Number):
        return "complex" if isinstance(kept.value, complex) else "real"
    if isinstance(kept, (SavedTensor, Tensor)):
        return "complex" if is_complex(kept) else "real"
    return f"= {kept!r}" if is_simple(kept) else PLAIN


def formulas_with_numbers(
    node: Node, in_symbols: Mapping[str, str], saved: Mapping[str, Value], grads: Values, results: Values, grad_inputs: Values
) -> tuple[Formula, ...]:
    """Each rule in symbols, in numbers, and its result: ``grad * other = 1.0 * 4.0 = 4.0``.

    The node is the one that ran, or its reference op in the core. `in_symbols` and `saved` are from before it ran, `results`
    what the rules returned, and `grad_inputs` the same with broadcasting undone.
    """
    if not isinstance(node, PrimitiveNode) or all(g is None for g in grads):  # then no rule ran
        return ()
    primitive = node.primitive
    zeros = (f"zeros({shape})" for shape, _ in node._outputs_metadata())
    arrived = [number(z) if g is None else _number(g) for g, z in zip(grads, zeros, strict=True)]
    in_numbers = formulas(node, arrived, {n: _number(v) for n, v in saved.items()})
    found = []
    for name, text in in_symbols.items():
        index = primitive.inputs.index(name) if name in primitive.inputs else None  # None: its rule returns all gradients
        mine = [r for r in (results if index is None else results[index : index + 1]) if r is not None]
        left = None if index is None else grad_inputs[index]
        found.append(Formula(name, _one_formula(text, in_numbers[name], mine, left)))
    return tuple(found)


def _number(value: Value) -> Symbol:
    return number(value_text(value), value.dtype.startswith("complex"))


def _one_formula(text: str, in_numbers: str, results: list[Value], left: Value | None) -> str:
    shown = ", ".join([*map(value_text, results[:MOST_RESULTS]), *["…"] * (len(results) > MOST_RESULTS)])
    parts = [text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"]
    parts += [in_numbers] * (in_numbers not in (text, shown) and len(in_numbers) <= LONGEST)
    parts += [shown] * (shown != parts[-1])
    if left is not None and results and left.shape != results[0].shape:
        return f"{' = '.join(parts)}, summed to {shape_text(left.shape)}: {value_text(left)}"
    return " = ".join(parts)


MOST = 64  # elements of the matrix


def local_jacobians(node: Any) -> tuple[Jacobian, ...]:
    """d output / d input for each input that requires grad, while the saved tensors exist. Empty for ops with several outputs,
    large ops, complex numbers, and ops that would call the user's code.
    """
    if not isinstance(node, PrimitiveNode) or node._others or node._dtype.kind != "f" or _has_unpack_hooks(node):
        return ()
    wanted = [i for i, after in enumerate(node._next) if after is not None]
    sizes = [math.prod(node._next[i]._output_metadata(node._index[i])[0]) for i in wanted]
    count = math.prod(node._shape)
    if not wanted or not count or any(s * count > MOST or not s for s in sizes):
        return ()
    try:
        rows = [_row(node, unit, wanted) for unit in np.eye(count, dtype=node._dtype)]
    except Exception:  # a saved tensor that was freed or modified: the step itself reports it
        return ()
    if any(r is None for row in rows for r in row):
        return ()
    variadic, inputs = node.primitive.variadic, node.primitive.inputs
    names = [f"{variadic}[{i}]" if variadic else inputs[i] for i in wanted]
    return tuple(Jacobian(name, value_of(np.stack([row[k] for row in rows]))) for k, name in enumerate(names))


def _has_unpack_hooks(node: PrimitiveNode) -> bool:
    """Would reading a saved tensor call the user's code?"""
    found = list(raw_saved(node).values())
    for kept in found:  # grows
        found += kept if isinstance(kept, tuple) else ()
    return any(isinstance(kept, SavedTensor) and kept.unpack_hook is not None for kept in found)


def _row(node: PrimitiveNode, unit: Any, wanted: list[int]) -> list[Any]:
    """The derivative of one output element by every input, each flat."""
    gradient = unit.reshape(node._shape) if node._shape else unit[0]
    results = quiet.run(node.vjp, [gradient])
    fitted = (quiet.run(validate_output, node, i, results[i], node._next[i], node._index[i]) for i in wanted)
    return [None if g is None else np.asarray(g).reshape(-1) for g in fitted]
