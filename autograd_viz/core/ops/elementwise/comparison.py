"""Elementwise comparisons. They have no gradient."""
# fmt: off

from __future__ import annotations

from typing import Any

from ...base.public import public
from ...op.row import public_row
from ...tensor.tensor import Tensor

eq = public_row("eq", "", "self == other.",
    lambda self, other: self == other, promotes=True, inplace=True)
ne = public_row("ne not_equal", "", "self != other.",
    lambda self, other: self != other, promotes=True, inplace=True)
lt = public_row("lt less Tensor.__lt__", "", "self < other.",
    lambda self, other: self < other, promotes=True, inplace=True)
le = public_row("le less_equal Tensor.__le__", "", "self <= other.",
    lambda self, other: self <= other, promotes=True, inplace=True)
gt = public_row("gt greater Tensor.__gt__", "", "self > other.",
    lambda self, other: self > other, promotes=True, inplace=True)
ge = public_row("ge greater_equal Tensor.__ge__", "", "self >= other.",
    lambda self, other: self >= other, promotes=True, inplace=True)


@public("Tensor.__eq__")
def equals(self: Tensor, other: Any) -> Any:
    """Elementwise ==. An object that is neither a number nor a tensor is not equal."""
    return False if other is None or isinstance(other, str) else eq(self, other)


@public("Tensor.__ne__")
def differs(self: Tensor, other: Any) -> Any:
    """Elementwise !=. An object that is neither a number nor a tensor differs."""
    return True if other is None or isinstance(other, str) else ne(self, other)
