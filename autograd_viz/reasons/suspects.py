"""Ops that can make nan or inf of finite numbers, and are not known not to have: named where the numbers were not kept."""

from __future__ import annotations

import math
from collections.abc import Callable

from .. import words
from .facts import Facts
from .hazards import hazard_of, value_with
from .numbers import has_zero, is_known

MOST = 4  # that are named
PRODUCTS = ("Mul", "Mm", "Bmm", "Mv", "Dot")  # of 0 and inf they make nan
ONLY_NAN = ("Softmax", "LogSoftmax", *PRODUCTS)  # their inf is that which they were given


def suspects(f: Facts, nodes: list[str], what: str) -> str:
    """The names of the nodes whose rules (or ops) can make it ("nan" or "inf"); "" if there are none.

    Products come last: they make nan only of something infinite, which came from elsewhere.
    """
    can = [n for n in nodes if _can(f, n) and not (what == "inf" and _stem(f, n) in ONLY_NAN)]
    if what == "nan":
        can += [n for n in nodes if _stem(f, n) in PRODUCTS and _can_multiply(f, n)]
    return words.COMMA.join(list(dict.fromkeys(f.called(n) for n in can))[:MOST])


def _stem(f: Facts, node: str) -> str:
    return f.called(node).split("Backward")[0]


def _can(f: Facts, node: str) -> bool:
    hazard, more = hazard_of(f, node), MORE.get(_stem(f, node))
    if hazard is None:
        return more is not None and more(f, node)
    return hazard.holds(f, node) is not False or _is_late(f, node)


def _is_late(f: Facts, node: str) -> bool:
    """The leaf that the node was given holds nan now, as a step may have left it: nobody knows what it held."""
    given = f.inputs(node)[:1]
    return any(t.id not in f.makers and value_with(t.value, ("nan", "inf")) is not None for t in given)


def _can_multiply(f: Facts, node: str) -> bool:
    """A factor may be inf, and the other may have a zero: 0 times inf is nan."""
    factors = [v for i in (0, 1) if is_known(v := f.input(node, i))]
    finite = [v for v in factors if not value_with(v, ("inf",))]
    is_safe = _stem(f, node) == "Mul" and any(not has_zero(v) for v in finite)
    return len(finite) < 2 and not is_safe


def is_empty(f: Facts, node: str) -> bool:
    """The op was given a tensor without elements: the mean of nothing is nan."""
    return any(math.prod(t.value.shape) == 0 for t in f.inputs(node)[:1])


MORE: dict[str, Callable[[Facts, str], bool]] = {"Mean": is_empty, "MseLoss": is_empty, "L1Loss": is_empty}
