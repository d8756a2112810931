"""Floating-point operations of forward ops, counted from shapes. A multiplication and an addition are two.

The formulas are those of `torch.utils.flop_counter`. It counts only matrix products, convolutions and attention; here any other
op that computes counts one for each element of its results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...graph.model import Op, Shape
from ..maps.index import REARRANGING
from .facts import VIEWS, Facts

Formula = Callable[[Sequence[Shape], Shape], int]  # of the shapes of the inputs and of the first result


def _product(at: int) -> Formula:
    """Of a matrix product whose first factor is the input at `at`."""
    return lambda given, made: 2 * math.prod(made) * given[at][-1]


def _convolution(given: Sequence[Shape], made: Shape) -> int:
    """Each weight is used once for each place of the smaller side: of a transposed convolution, that is the input."""
    x, weight = given[:2]
    return 2 * x[0] * min(math.prod(x[2:]), math.prod(made[2:])) * math.prod(weight)


def _attention(given: Sequence[Shape], made: Shape) -> int:
    q, k, v = given[:3]
    return 2 * math.prod(q[:-1]) * k[-2] * (q[-1] + v[-1])


def _recurrent(given: Sequence[Shape], made: Shape) -> int:
    return 2 * math.prod(made[:-1]) * (math.prod(given[1]) + math.prod(given[2]))


FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(("Mm", "Bmm", "Mv", "Dot", "Linear"), _product(0)),
    **dict.fromkeys(("Addmm", "Baddbmm", "Addmv"), _product(1)),
    "Convolution": _convolution,
    "MkldnnRnnLayer": _recurrent,
}


def work_of(facts: Facts, op: Op) -> int:
    """The operations of an op."""
    given = [facts.tensors[o.tensor].value.shape for o in op.inputs if o.tensor is not None]
    made = [facts.tensors[t].value.shape for t in op.outputs if t is not None]
    if not made or op.name in VIEWS:
        return 0
    formula = _attention if op.name.startswith("ScaledDotProduct") else FORMULAS.get(op.name)
    if formula is not None:
        try:
            return formula(given, made[0])
        except (IndexError, ValueError):  # a shape that nobody saw
            pass
    return 0 if op.name in REARRANGING else sum(map(math.prod, made))
