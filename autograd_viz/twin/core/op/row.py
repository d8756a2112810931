"""An op in a row of a table: its name, its node, what it does, its forward, and its rules.

    square_root = row("square_root", "SqrtBackward0", "Square root.",
        lambda self: np.sqrt(self),
        self = lambda grad, result: grad / (2 * result))

It is short for an op whose forward is one expression. A longer forward is a `def` below `@primitive`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.public import public
from .primitive import Primitive, primitive
from .table import Traits

TRAITS = {*Traits._fields, "written"}  # the options of `primitive`; the others of a row are rules


def row(name: str, node_name: str, does: str, forward: Callable[..., Any], /, **more: Any) -> Primitive:
    """Declare an op.

    Args:
        name: the name by which rules call it.
        node_name: the name of its backward node; empty for an op that is not differentiable.
        does: its docstring.
        forward: on arrays. Its parameters are the inputs and options of the op.
        more: the options of `primitive`, and a rule for each differentiable input (`defvjp`).
    """
    made: Any = forward
    made.__name__ = made.__qualname__ = name
    made.__doc__ = does
    op = primitive(node_name, **{n: more.pop(n) for n in TRAITS & more.keys()})(forward)
    if more:
        op.defvjp(**more)
    return op


def public_row(names: str, node_name: str, does: str, forward: Callable[..., Any], /, **more: Any) -> Primitive:
    """`row` with public names, as `public` takes them, separated by spaces; rules call the op by the first."""
    every, inplace = names.split(), more.pop("inplace", False)
    op = row(every[0].rpartition(".")[2], node_name, does, forward, **more)
    for name in every:
        public(name, inplace=inplace and not name.endswith("__"))(op)  # operators have in-place forms of their own
    return op
