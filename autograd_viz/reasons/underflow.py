"""Products too small for their type: what is below its least number becomes 0, though neither factor was."""

from __future__ import annotations

from ..graph.model import Value
from ..graph.text import number_text
from .cause import Cause
from .facts import Facts
from .numbers import bounds, number

# the least positive numbers (subnormal ones), by IEEE 754; bfloat16 has the exponents of float32 and 7 bits after the point
LEAST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074}
PRODUCTS = ("Mul", "Div", "Mm", "Bmm", "Mv", "Dot", "Addmm", "Addmv", "Baddbmm", "Convolution")


def underflow_cause(f: Facts, node: str, i: int) -> Cause | None:
    """The cause, if what the node sends along next_functions[i] is zero because its products are too small for their type.

    It is sure only where the largest element that arrived times the largest factor is below the least number.
    """
    arrived, most = f.arrivals(node), _largest_factor(f, node, i)
    if not arrived or most is None or not f.called(node).startswith(PRODUCTS):
        return None
    grad, least = _largest(arrived[0]), LEAST.get(arrived[0].dtype)
    if grad is None or least is None or not most > 0 or grad * most > least:
        return None
    said = {"node": f.called(node), "grad": number_text(grad), "factor": number_text(most), "dtype": arrived[0].dtype}
    return Cause("zero_underflow", tuple(t.id for t in f.inputs(node)), (node,), f.source(node), said)


def _largest(value: Value | None) -> float | None:
    """The largest absolute value of its elements."""
    found = bounds(value)
    return None if found is None else max(abs(found[0]), abs(found[1]))


def _largest_factor(f: Facts, node: str, i: int) -> float | None:
    """The largest absolute value that this gradient can be multiplied by, element by element; None if nobody knows."""
    op = f.op(node)
    numbers = [number(o.text) for o in op.inputs if o.tensor is None] if op is not None else []
    saved = [f.input(node, 1 - i)] if i < 2 and not f.others(node, i) and not numbers else []
    sizes = [_largest(v) for v in (*(t.value for t in f.others(node, i)), *saved)]
    known = [abs(n) for n in (*sizes, *numbers) if n is not None]
    if not known or len(known) < len(sizes) + len(numbers):
        return None
    if f.called(node).startswith("Div"):
        return 1 / known[0] if len(known) == 1 and i == 0 and known[0] else None
    return max(known)
