"""Where rules divide by zero, or multiply zero by infinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..graph.model import Value
from ..sentences import PROPERTIES
from .facts import Facts
from .numbers import bounds, has_zero, is_known


class Hazard(NamedTuple):
    """The nodes that have it, the kind of cause, and whether the values at hand bring it about (None: cannot be told)."""

    nodes: tuple[str, ...]
    kind: str
    holds: Callable[[Facts, str], bool | None]


def _zero(value: Value | None) -> bool | None:
    return has_zero(value) if is_known(value) else None


def _input_zero(index: int) -> Callable[[Facts, str], bool | None]:
    def holds(f: Facts, node: str) -> bool | None:
        return _zero(f.input(node, index))

    return holds


def _divisor_zero(f: Facts, node: str) -> bool | None:
    inputs = f.inputs(node)
    return _zero(f.input(node, len(inputs) - 1)) if inputs else None


def _result_zero(f: Facts, node: str) -> bool | None:
    return _zero(f.result(node))


def _result_infinite(f: Facts, node: str) -> bool | None:
    result = f.result(node)
    return PROPERTIES["inf"](result) if result is not None and is_known(result) else None


def _at_edge(f: Facts, node: str) -> bool | None:
    value = f.input(node)
    if value is None or not value.numbers:
        return None
    return any(abs(n) == 1 for n in value.numbers)


def _log_of(least: float) -> Callable[[Facts, str], bool | None]:
    def holds(f: Facts, node: str) -> bool | None:
        value = f.input(node)
        found = bounds(value)
        if value is not None and value.numbers:
            return any(not isinstance(n, complex) and n <= least for n in value.numbers)
        return None if found is None else found[0] <= least

    return holds


HAZARDS = (
    Hazard(("Log", "Log2", "Log10"), "born_log", _log_of(0.0)),
    Hazard(("Log1P",), "born_log", _log_of(-1.0)),
    Hazard(("Sqrt",), "born_sqrt", _log_of(0.0)),
    Hazard(("Rsqrt", "Reciprocal"), "born_division", _input_zero(0)),
    Hazard(("Div",), "born_division", _divisor_zero),
    Hazard(("Pow",), "born_power", _input_zero(0)),
    Hazard(("Norm", "LinalgVectorNorm", "Dist", "Cdist", "Pdist", "EuclideanDist"), "born_norm", _result_zero),
    Hazard(("Std", "Var", "StdMean", "VarMean"), "born_std", _result_zero),
    Hazard(("Exp", "Exp2", "Expm1", "Sinh", "Cosh"), "born_exp", _result_infinite),
    Hazard(("Asin", "Acos", "Atanh", "Acosh", "Erfinv", "Logit"), "born_edge", _at_edge),
)
BY_NAME = {name: h for h in HAZARDS for name in h.nodes}


def hazard_of(f: Facts, node: str) -> Hazard | None:
    """The hazard of a node's class."""
    return BY_NAME.get(f.called(node).split("Backward")[0])


def value_with(value: Value | None, names: tuple[str, ...]) -> str | None:
    """Which of "nan", "inf" a value holds."""
    return None if value is None else next((n for n in names if PROPERTIES[n](value)), None)
