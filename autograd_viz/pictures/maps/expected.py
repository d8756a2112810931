"""What ops are expected to do to the norm of a gradient, in decades: a mean over N divides it by √N.

Shapes and plain numbers say it; the values of results are not read for a map. What depends on them has room on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...graph.model import Op
from .index import Index

FREE = 3.0  # decades that an op may add which divides by the size of what it is given
DIVIDING = {"Div", "LinalgVectorNorm", "Norm", "Reciprocal", "Rsqrt", "Std", "StdMean", "Var", "VarMean"}
MATRIX = {"Addmm", "Baddbmm", "Bmm", "Convolution", "Linear", "Mm", "Mv", "MmBackward"}  # their weights are drawn to fit


class Room(NamedTuple):
    """Between which decades the norm may change."""

    low: float
    high: float

    def beyond(self, decades: float) -> float:
        """How far outside a change is: below 0 a fall, above 0 a rise."""
        return min(decades - self.low, 0.0) or max(decades - self.high, 0.0)


OfOp = tuple[bool, float, float, float]  # is it free; the decades by which it moves, softens, reduces


def of_op(index: Index, op: Op) -> OfOp:
    """What one op does to the room. It stands in many parts, one in the other, and is asked once."""
    factor = _factor(op)
    is_free = (op.name in DIVIDING and factor is None) or "Norm" in op.name
    return is_free, 0.0 if factor is None else math.log10(factor), _softened(index, op), _reduced(index, op)


def room_of(ops: Sequence[OfOp]) -> Room:
    """Of a stretch of ops. Of reductions the two strongest count, of the others all."""
    free, moves, softens, reduces = zip(*ops, strict=True) if ops else ((),) * 4
    moved, softened, reduced, wide = sum(moves), sum(softens), sum(sorted(reduces)[-2:]), FREE if any(free) else 0.0
    return Room(min(moved, 0.0) - reduced - wide - softened, max(moved, 0.0) + reduced + wide)


def _factor(op: Op) -> float | None:
    """By what plain number it multiplies; None if by none."""
    if op.name not in ("Mul", "Div") or len(op.inputs) != 2:
        return None
    given = [o.text for o in op.inputs if o.tensor is None]
    try:
        number = abs(float(given[0])) if given else 0.0
    except ValueError:
        return None
    if not number or not math.isfinite(number):
        return None
    return 1 / number if op.name == "Div" and op.inputs[1].tensor is None else number


def _softened(index: Index, op: Op) -> float:
    """An even softmax over T passes about 1 ÷ T on."""
    if "oftmax" not in op.name and "DotProduct" not in op.name:
        return 0.0
    shapes = [index.tensors[t].value.shape for t in op.outputs if t is not None]
    return math.log10(max((n for shape in shapes for n in shape), default=1) or 1)


def _reduced(index: Index, op: Op) -> float:
    """Half the decades between what it takes and what it gives: of a sum, a mean, an expand, a repeat."""
    if op.name in MATRIX:
        return 0.0
    given = _most(index, (o.tensor for o in op.inputs))
    made = _most(index, op.outputs)
    return abs(math.log10(given / made)) / 2 if given and made else 0.0


def _most(index: Index, tensors: Iterable[str | None]) -> int:
    return max((math.prod(index.tensors[t].value.shape) for t in tensors if t is not None), default=0)
