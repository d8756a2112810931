"""When an op makes zeros of what arrives, as its inputs show.

Each test takes one node and one of its next_functions. Is it certain that the node sends only zeros along it?
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..sentences import is_differentiable
from .facts import Facts
from .numbers import all_are, bounds, is_zero, lies_outside, number
from .ops import factor_values, numbers_of, op_of, operand

Test = Callable[[Facts, str, int], bool]


def always(f: Facts, node: str, i: int) -> bool:
    """It always sends zeros."""
    return True


def unsure(f: Facts, node: str, i: int) -> bool:
    """It can send zeros, and its values do not prove it."""
    return False


def relu(f: Facts, node: str, i: int) -> bool:
    """No element of its input is positive (or above its threshold)."""
    if f.input(node) is None:
        return op_of(f, node) == "Relu" and is_zero(f.result(node))
    return lies_outside(f.input(node), number(f.plain(node, "threshold")) or 0.0, math.inf)


def clamp(f: Facts, node: str, i: int) -> bool:
    """All elements of its input are outside its bounds."""
    low = number(f.plain(node, "min") or f.plain(node, "min_val"))
    high = number(f.plain(node, "max") or f.plain(node, "max_val"))
    return lies_outside(f.input(node), -math.inf if low is None else low, math.inf if high is None else high)


def shrink(f: Facts, node: str, i: int) -> bool:
    """All elements of its input are inside its threshold."""
    found, limit = bounds(f.input(node)), number(f.plain(node, "lambd")) or 0.5
    return found is not None and -limit <= found[0] and found[1] <= limit


def rounded(f: Facts, node: str, i: int) -> bool:
    """A division that rounds."""
    return f.plain(node, "rounding_mode") not in ("", "None")


def quotient(f: Facts, node: str, i: int) -> bool:
    """It rounds; or the dividend, a factor of the divisor's gradient, is 0."""
    return rounded(f, node, i) or (i == 1 and is_zero(operand(f, node, 0, "self")))


def alike(f: Facts, node: str, i: int) -> bool:
    """All elements are equal: there the rule of a spread sends 0."""
    found = bounds(f.input(node))
    return found is not None and found[0] == found[1]


def factor(f: Facts, node: str, i: int) -> bool:
    """The factor of the input is all zero."""
    return 0.0 in numbers_of(f, node) or any(map(is_zero, factor_values(f, node, i)))


def below(limit: float) -> Test:
    """Every element of the input is so far below 0 that the derivative is 0 in single precision."""
    return lambda f, node, i: lies_outside(f.input(node), -limit, math.inf)


def saturated(limit: float, *ends: float) -> Test:
    """Every element of the input is beyond the limit, or every element of the result is at its ends."""

    def holds(f: Facts, node: str, i: int) -> bool:
        result = f.result(node)
        if ends and result is not None and result.numbers:
            return all_are(result, lambda n: n in ends)
        return lies_outside(f.input(node), -limit, limit)

    return holds


def no_exponent(f: Facts, node: str, i: int) -> bool:
    """It is the power 0."""
    return number(f.plain(node, "exponent")) == 0


def power(f: Facts, node: str, i: int) -> bool:
    """Its derivative is zero: for a power above 1 at 0, and for the power 0."""
    return no_exponent(f, node, i) or ((number(f.plain(node, "exponent")) or 0) > 1 and is_zero(f.input(node)))


def equal(f: Facts, node: str, i: int) -> bool:
    """It compares equal values."""
    a, b = f.input(node, 0), f.input(node, 1)
    return a is not None and b is not None and bool(a.numbers) and a.numbers == b.numbers


def masked(f: Facts, node: str, i: int) -> bool:
    """The condition of where, or the mask of masked_fill, selects the other operand everywhere."""
    is_where = "Where" in f.called(node)
    return all_are(f.saved(node, "condition", "mask"), lambda n: bool(n) != (is_where and i == 0))


def ignored(f: Facts, node: str, i: int) -> bool:
    """Every target is the ignored one."""
    index = number(f.plain(node, "ignore_index"))
    return all_are(f.saved(node, "target"), lambda n: n == index)


def padding(f: Facts, node: str) -> float | None:
    """The row of an embedding that gets no gradient; None if it has none."""
    index = number(f.plain(node, "padding_idx"))
    return None if index is None or index < 0 else index


def padded(f: Facts, node: str, i: int) -> bool:
    """All look-ups are of the padding row."""
    given = [t.value for t in f.inputs(node) if not is_differentiable(t.value.dtype)]
    return any(all_are(v, lambda n: n == padding(f, node)) for v in (f.saved(node, "indices"), *given))


def alone(f: Facts, node: str, i: int) -> bool:
    """The reduced dimension has one element."""
    dim, shape = number(f.plain(node, "dim")), next((t.value.shape for t in f.inputs(node)), ())
    return dim is not None and -len(shape) <= dim < len(shape) and shape[int(dim)] == 1


def is_one_hot(f: Facts, node: str, i: int) -> bool:
    """One of its probabilities is 1: then it passes nothing."""
    found = bounds(f.result(node))
    return found is not None and found[1] == (0.0 if "Log" in f.called(node) else 1.0)
