"""An op in a row of a table: short for one whose forward is an expression. A longer one is a `def` below `@primitive`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.public import public
from .primitive import Primitive, primitive
from .table import Traits

TRAITS = {*Traits._fields, "written"}  # the options of `primitive`; the others of a row are rules


def row(name: str, node_name: str, does: str, forward: Callable[..., Any], /, **more: Any) -> Primitive:
    """Declare an op. `more` has the options of `primitive`, and a rule for each differentiable input (`defvjp`)."""
    made: Any = forward
    made.__name__ = made.__qualname__ = name
    made.__doc__ = does
    op = primitive(node_name, **{n: more.pop(n) for n in TRAITS & more.keys()})(forward)
    if more:
        op.defvjp(**more)
    return op


def public_row(names: str, node_name: str, does: str, forward: Callable[..., Any], /, **more: Any) -> Primitive:
    """`row` with public names, as `public` takes them, separated by spaces. The first is the name by which rules call it."""
    inplace = more.pop("inplace", False)
    return _published(row(names.split(maxsplit=1)[0].rpartition(".")[2], node_name, does, forward, **more), names, inplace)


def public_primitive(names: str, node_name: str = "", /, *, inplace: bool = False, **traits: Any) -> Callable[..., Primitive]:
    """Declare an op with public names, as `public_row` does, whose forward is a `def`."""
    return lambda forward: _published(primitive(node_name, **traits)(forward), names, inplace)


def _published(op: Primitive, names: str, inplace: bool) -> Primitive:
    for name in names.split():
        public(name, inplace=inplace and not name.endswith("__"))(op)  # operators have in-place forms of their own
    return op
