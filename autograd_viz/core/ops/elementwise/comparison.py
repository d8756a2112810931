"""Elementwise comparisons. They have no gradient."""
# fmt: off
# tables of ops: their columns stay aligned

from __future__ import annotations

from typing import Any

from ...base.public import public
from ...op.primitive import primitive
from ...tensor.tensor import Tensor


@public("eq", inplace=True)
@primitive(promotes=True)
def eq(self, other):
    """self == other."""
    return self == other


@public("ne", "not_equal", inplace=True)
@primitive(promotes=True)
def ne(self, other):
    """self != other."""
    return self != other


@public("lt", "less", inplace=True)
@public("Tensor.__lt__")
@primitive(promotes=True)
def lt(self, other):
    """self < other."""
    return self < other


@public("le", "less_equal", inplace=True)
@public("Tensor.__le__")
@primitive(promotes=True)
def le(self, other):
    """self <= other."""
    return self <= other


@public("gt", "greater", inplace=True)
@public("Tensor.__gt__")
@primitive(promotes=True)
def gt(self, other):
    """self > other."""
    return self > other


@public("ge", "greater_equal", inplace=True)
@public("Tensor.__ge__")
@primitive(promotes=True)
def ge(self, other):
    """self >= other."""
    return self >= other


@public("Tensor.__eq__")
def equals(self: Tensor, other: Any) -> Any:
    """Elementwise ==. An object that is neither a number nor a tensor is not equal."""
    return False if other is None or isinstance(other, str) else eq(self, other)


@public("Tensor.__ne__")
def differs(self: Tensor, other: Any) -> Any:
    """Elementwise !=. An object that is neither a number nor a tensor differs."""
    return True if other is None or isinstance(other, str) else ne(self, other)
