"""The local Jacobian of one op: its rules on one unit gradient after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.trace import Jacobian
from ...twin.core.backward.gradients import validate_output
from ...twin.core.backward.saved import SavedTensor
from ...twin.core.base.quiet import quiet
from ...twin.core.op.primitive_node import PrimitiveNode
from .kept import raw_saved
from .values import value_of

MOST = 64  # elements of the matrix


def local_jacobians(node: Any) -> tuple[Jacobian, ...]:
    """d output / d input for each input that requires grad, while the saved tensors exist.

    Empty for ops with several outputs, large ops, complex numbers, and ops that would call the user's code.
    """
    if not isinstance(node, PrimitiveNode) or node._others or node._dtype.kind != "f" or _has_unpack_hooks(node):
        return ()
    wanted = [i for i, after in enumerate(node._next) if after is not None]
    sizes = [int(np.prod(node._next[i]._output_metadata(node._index[i])[0], dtype=int)) for i in wanted]
    count = int(np.prod(node._shape, dtype=int))
    if not wanted or not count or any(s * count > MOST or not s for s in sizes):
        return ()
    try:
        rows = [_row(node, unit, wanted) for unit in np.eye(count, dtype=node._dtype)]
    except Exception:  # a saved tensor that was freed or modified: the step itself reports it
        return ()
    if any(r is None for row in rows for r in row):
        return ()
    return tuple(Jacobian(_input(node, i), value_of(np.stack([row[k] for row in rows]))) for k, i in enumerate(wanted))


def _input(node: PrimitiveNode, index: int) -> str:
    variadic = node.primitive.variadic
    return f"{variadic}[{index}]" if variadic else node.primitive.inputs[index]


def _has_unpack_hooks(node: PrimitiveNode) -> bool:
    """Would reading a saved tensor call the user's code?"""
    stack = list(raw_saved(node).values())
    while stack:
        kept = stack.pop()
        if isinstance(kept, SavedTensor) and kept.unpack_hook is not None:
            return True
        stack += kept if isinstance(kept, tuple) else ()
    return False


def _row(node: PrimitiveNode, unit: Any, wanted: list[int]) -> list[Any]:
    """The derivative of one output element by every input, each flat."""
    gradient = unit.reshape(node._shape) if node._shape else unit[0]
    results = quiet.run(node.vjp, [gradient])
    fitted = (quiet.run(validate_output, node, i, results[i], node._next[i], node._index[i]) for i in wanted)
    return [None if g is None else np.asarray(g).reshape(-1) for g in fitted]
