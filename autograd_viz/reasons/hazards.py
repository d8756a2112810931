"""Where rules divide by zero, or multiply zero by infinity."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..graph.model import Value
from ..sentences import PROPERTIES
from .facts import Facts
from .numbers import bounds, has_zero, is_known, number
from .rules import stem_of

SPREADS = ("Std", "Var", "StdMean", "VarMean")
DIVIDED = 2  # operands of a division


class Hazard(NamedTuple):
    """The nodes that have it, the kind of cause, and whether the values at hand bring it about (None: cannot be told)."""

    nodes: tuple[str, ...]
    kind: str
    holds: Callable[[Facts, str], bool | None]


def _zero(value: Value | None) -> bool | None:
    return has_zero(value) if is_known(value) else None


def operand(f: Facts, node: str, index: int, saved: tuple[str, ...]) -> Value | None:
    """The value of what stood at a place of the op, or under one of these names among what is saved; None if unknown."""
    op = f.op(node)
    given = op.inputs[index].tensor if op is not None and index < len(op.inputs) else None
    value = None if given is None else f.tensors[given].value
    kept = (s.value for s in f.nodes[node].saved if s.name in saved and is_known(s.value))
    return value if is_known(value) else next(kept, None)


def _input_zero(index: int) -> Callable[[Facts, str], bool | None]:
    def holds(f: Facts, node: str) -> bool | None:
        return _zero(f.input(node, index))

    return holds


def _divisor_zero(f: Facts, node: str) -> bool | None:
    op = f.op(node)
    written = None if op is None or len(op.inputs) < DIVIDED else number(op.inputs[1].text)
    return not written if written is not None else _zero(operand(f, node, 1, ("other",)))


def _result_zero(f: Facts, node: str) -> bool | None:
    return _zero(f.result(node))


def _result_infinite(f: Facts, node: str) -> bool | None:
    result = f.result(node)
    return PROPERTIES["inf"](result) if result is not None and is_known(result) else None


def _outside(least: float, most: float) -> Callable[[Facts, str], bool | None]:
    """The input reaches an end of the interval in which the derivative is finite, or goes beyond."""

    def holds(f: Facts, node: str) -> bool | None:
        found = bounds(f.input(node))
        return None if found is None else found[0] <= least or found[1] >= most

    return holds


def _reaches(pole: float) -> Callable[[Facts, str], bool | None]:
    """The input holds the number at which the derivative is infinite."""

    def holds(f: Facts, node: str) -> bool | None:
        value, found = f.input(node), bounds(f.input(node))
        if value is not None and value.numbers:
            return pole in value.numbers
        if pole == 0:
            return _zero(value)
        return None if found is None or found[0] <= pole <= found[1] else False

    return holds


def _no_root(f: Facts, node: str) -> bool | None:
    """The input reaches 0, or is negative: then the root is nan, and its derivative too."""
    found = bounds(f.input(node))
    return None if found is None else found[0] <= 0


def _root_of_zero(f: Facts, node: str) -> bool | None:
    """The same, or the result is at hand, and 0 somewhere."""
    result = f.result(node)
    return True if is_known(result) and has_zero(result) else _no_root(f, node)


def _power(f: Facts, node: str) -> bool | None:
    """A base of 0 under an exponent below 1 (but 0), or a negative one under an exponent with a fraction."""
    exponent, base = number(f.plain(node, "exponent")), operand(f, node, 0, ("self",))
    found = bounds(base)
    if exponent is None:
        least = number(f.plain(node, "self")) if found is None else found[0]
        return False if least is not None and least > 0 else None
    if exponent == 0 or (exponent >= 1 and exponent == int(exponent)):
        return False
    if found is None:
        return None
    return (exponent < 1 and has_zero(base)) or (found[0] < 0 and exponent != int(exponent))


def has_negative_base(f: Facts, node: str, i: int) -> bool:
    """Is it the exponent's gradient that leaves along next_functions[i], and the base negative? Its logarithm is nan."""
    if stem_of(f, node) != "Pow" or f.plain(node, "exponent"):
        return False
    written = number(f.plain(node, "self"))
    if written is not None:
        return written < 0
    found = bounds(operand(f, node, 0, ("self",))) if i == 1 else None
    return found is not None and found[0] < 0


def _too_few(f: Facts, node: str) -> bool | None:
    """No more elements each than the correction takes away: the rule divides by 0. (Of equal elements it sends 0.)"""
    given, made = f.inputs(node)[:1], f.results(node)[:1]
    correction = number(f.plain(node, "correction") or "1")
    if not given or not made or correction is None:
        return None
    return math.prod(given[0].value.shape) <= correction * math.prod(made[0].value.shape)


def has_too_few(f: Facts, node: str) -> bool:
    """It is a spread of no more elements than its correction takes away."""
    return stem_of(f, node) in SPREADS and _too_few(f, node) is True


def _odd_norm(f: Facts, node: str) -> bool | None:
    """A norm of 0; those for p = 1, 2 and inf have a rule for that."""
    p = number(f.plain(node, "ord") or f.plain(node, "p") or "2")
    return False if p is None or p in (1, 2, math.inf) else _result_zero(f, node)


def _equal_values(f: Facts, node: str) -> bool | None:
    """Two singular values (or eigenvalues) are equal, or one is 0."""
    names = ("S", "L", "eigenvalues")
    values = next((s.value for s in f.nodes[node].saved if s.name in names and is_known(s.value)), None)
    if values is None or not values.numbers:
        return None
    sizes = [round(abs(n), 6) for n in values.numbers]  # as far as single precision tells them apart
    return len({*sizes}) < len(sizes) or 0 in sizes


def _row_of_nan(f: Facts, node: str) -> bool | None:
    """A row that was -inf throughout."""
    given, result = f.input(node), f.result(node)
    if is_known(given) and value_with(given, ("nan", "inf")) is None:
        return False
    return PROPERTIES["nan"](result) if result is not None and is_known(result) else None


def _weightless(f: Facts, node: str) -> bool | None:
    """The mean over targets that weigh nothing together."""
    total = next((s.value for s in f.nodes[node].saved if s.name == "total_weight" and is_known(s.value)), None)
    return False if f.plain(node, "reduction") in ("0", "2") else _zero(total)


def _not_known(f: Facts, node: str) -> bool | None:
    """The values at hand do not tell."""
    return None


HAZARDS = (
    Hazard(("Log", "Log2", "Log10"), "born_log", _reaches(0.0)),
    Hazard(("Log1P",), "born_log", _reaches(-1.0)),
    Hazard(("Sqrt",), "born_sqrt", _root_of_zero),
    Hazard(("Rsqrt",), "born_sqrt", _no_root),
    Hazard(("Reciprocal",), "born_division", _input_zero(0)),
    Hazard(("Div",), "born_division", _divisor_zero),
    Hazard(("Pow",), "born_power", _power),
    Hazard(("Norm", "LinalgVectorNorm", "Dist", "EuclideanDist"), "born_norm", _odd_norm),
    Hazard(SPREADS, "born_std", _too_few),
    Hazard(("Exp", "Exp2", "Expm1", "Sinh", "Cosh"), "born_exp", _result_infinite),
    Hazard(("LinalgSvd", "LinalgEigh", "LinalgEig"), "born_equal", _equal_values),
    Hazard(("Softmax", "LogSoftmax"), "born_row", _row_of_nan),
    Hazard(("NllLoss", "NllLoss2D"), "born_weightless", _weightless),
    Hazard(("CtcLoss",), "born_ctc", _result_infinite),
    Hazard(("Acosh",), "born_edge", _outside(1.0, math.inf)),
    Hazard(("Logit",), "born_edge", _outside(0.0, 1.0)),
    Hazard(("Hypot",), "born_norm", _result_zero),
    Hazard(("LinalgQr", "LinalgSlogdet", "LinalgInvEx", "LinalgSolveEx", "LinalgCholeskyEx"), "born_singular", _not_known),
    Hazard(("Asin", "Acos", "Atanh", "Erfinv"), "born_edge", _outside(-1.0, 1.0)),
)
BY_NAME = {name: h for h in HAZARDS for name in h.nodes}


def hazard_of(f: Facts, node: str) -> Hazard | None:
    """The hazard of a node's class."""
    return BY_NAME.get(stem_of(f, node))


def value_with(value: Value | None, names: tuple[str, ...]) -> str | None:
    """Which of "nan", "inf" a value holds."""
    return None if value is None else next((n for n in names if PROPERTIES[n](value)), None)
