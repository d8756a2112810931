"""Sources of nan and inf, for bad_numbers.py: where rules divide by zero, or multiply zero by infinity."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ...graph.model import Value
from ..causes.facts import Facts
from ..causes.numbers import bounds, has_zero, is_known, number, value_with
from ..causes.ops import op_of, operand
from ..sentences import PROPERTIES

SPREADS = ("Std", "Var", "StdMean", "VarMean")
DIVIDED = 2  # operands of a division
Test = Callable[[Facts, str], bool | None]


class NanSource(NamedTuple):
    """Ops whose rule can make nan or inf, the kind of cause, and a test of the values (None: unknown)."""

    ops: tuple[str, ...]
    kind: str
    holds: Test


def _holds_zero(value: Value | None) -> bool | None:
    return has_zero(value) if is_known(value) else None


def _divisor_zero(f: Facts, node: str) -> bool | None:
    op = f.op(node)
    written = None if op is None or len(op.inputs) < DIVIDED else number(op.inputs[1].text)
    return not written if written is not None else _holds_zero(operand(f, node, 1, "other"))


def _returned(what: str, f: Facts, node: str) -> bool | None:
    result = f.result(node)
    return None if result is None else PROPERTIES[what](result)


def _beyond(least: float, most: float = math.inf) -> Test:
    """Is an input at an end of the interval in which the derivative is finite, or outside?"""

    def holds(f: Facts, node: str) -> bool | None:
        found = bounds(f.input(node))
        return None if found is None else found[0] <= least or found[1] >= most

    return holds


def _reaches(pole: float) -> Test:
    """Does the input have the number at which the derivative is infinite?"""

    def holds(f: Facts, node: str) -> bool | None:
        value, found = f.input(node), bounds(f.input(node))
        if value is not None and value.numbers:
            return pole in value.numbers
        if pole == 0:
            return _holds_zero(value)
        return None if found is None or found[0] <= pole <= found[1] else False

    return holds


def _power(f: Facts, node: str) -> bool | None:
    """Is it 0 to a power between 0 and 1, or a negative base with an exponent that is no integer?"""
    exponent, base = number(f.plain(node, "exponent")), operand(f, node, 0, "self")
    found = bounds(base)
    if exponent is None:
        least = number(f.plain(node, "self")) if found is None else found[0]
        return False if least is not None and least > 0 else None
    if exponent == 0 or (exponent >= 1 and exponent == int(exponent)):
        return False
    return None if found is None else (exponent < 1 and has_zero(base)) or (found[0] < 0 and exponent != int(exponent))


def has_negative_base(f: Facts, node: str, i: int) -> bool:
    """Is it the exponent's gradient, along next_functions[i], with a negative base? The logarithm of the base is nan."""
    if op_of(f, node) != "Pow" or f.plain(node, "exponent"):
        return False
    written, found = number(f.plain(node, "self")), bounds(operand(f, node, 0, "self")) if i == 1 else None
    return written < 0 if written is not None else found is not None and found[0] < 0


def has_too_few(f: Facts, node: str) -> bool | None:
    """Is it a spread of too few elements for its correction? Then it divides by 0. (For equal elements it sends 0.)"""
    given, made = f.inputs(node)[:1], f.results(node)[:1]
    correction = number(f.plain(node, "correction") or "1")
    if op_of(f, node) not in SPREADS or not given or not made or correction is None:
        return None
    return math.prod(given[0].value.shape) <= correction * math.prod(made[0].value.shape)


def _equal_values(f: Facts, node: str) -> bool | None:
    """Are two singular values (or eigenvalues) equal, or is one 0?"""
    values = f.saved(node, "S", "L", "eigenvalues")
    if values is None or not values.numbers:
        return None
    sizes = [round(abs(n), 6) for n in values.numbers]  # to the precision of float32
    return len({*sizes}) < len(sizes) or 0 in sizes


def _row_of_nan(f: Facts, node: str) -> bool | None:
    given = f.input(node)
    return False if given is not None and not value_with(given) else _returned("nan", f, node)


def _weightless(f: Facts, node: str) -> bool | None:
    """Is it the mean over targets whose weights sum to 0?"""
    return False if f.plain(node, "reduction") in ("0", "2") else _holds_zero(f.saved(node, "total_weight"))


NAN_SOURCES = (
    NanSource(("Log", "Log2", "Log10"), "born_log", _reaches(0.0)),
    NanSource(("Log1P",), "born_log", _reaches(-1.0)),
    NanSource(("Sqrt",), "born_sqrt", lambda f, node: has_zero(f.result(node)) or _beyond(0.0)(f, node)),
    NanSource(("Rsqrt",), "born_sqrt", _beyond(0.0)),
    NanSource(("Reciprocal",), "born_division", lambda f, node: _holds_zero(f.input(node))),
    NanSource(("Div",), "born_division", _divisor_zero),
    NanSource(("Pow",), "born_power", _power),
    NanSource(SPREADS, "born_std", has_too_few),
    NanSource(("Exp", "Exp2", "Expm1", "Sinh", "Cosh"), "born_exp", partial(_returned, "inf")),
    NanSource(("LinalgSvd", "LinalgEigh", "LinalgEig"), "born_equal", _equal_values),
    NanSource(("Softmax", "LogSoftmax"), "born_row", _row_of_nan),
    NanSource(("NllLoss", "NllLoss2D"), "born_weightless", _weightless),
    NanSource(("CtcLoss",), "born_ctc", partial(_returned, "inf")),
    NanSource(("Acosh",), "born_edge", _beyond(1.0)),
    NanSource(("Logit",), "born_edge", _beyond(0.0, 1.0)),
    NanSource(("Hypot",), "born_norm", lambda f, node: _holds_zero(f.result(node))),
    NanSource(
        ("LinalgQr", "LinalgSlogdet", "LinalgInvEx", "LinalgSolveEx", "LinalgCholeskyEx"), "born_singular", lambda f, node: None
    ),
    NanSource(("Asin", "Acos", "Atanh", "Erfinv"), "born_edge", _beyond(-1.0, 1.0)),
)
BY_OP = {op: source for source in NAN_SOURCES for op in source.ops}


def nan_source(f: Facts, node: str) -> NanSource | None:
    """How a node's rule can make nan or inf."""
    return BY_OP.get(op_of(f, node))


GROWING = ("Exp", "Exp2", "Expm1", "Sinh", "Cosh")  # they overflow
UNSAFE = (
    "Log", "Log2", "Log10", "Log1P", "Sqrt", "Rsqrt", "Reciprocal", "Div", "Acosh", "Logit", "Asin", "Acos", "Atanh", "Erfinv",
    *GROWING, "LinalgSvd", "LinalgEigh", "LinalgEig", "LinalgInvEx", "LinalgSolveEx", "LinalgCholeskyEx", "LinalgSlogdet",
)  # fmt: skip
SAFE = (
    "Add", "Sub", "Rsub", "Mul", "Neg", "Mm", "Bmm", "Mv", "Dot", "Addmm", "Baddbmm", "Sum", "Mean", "MseLoss", "L1Loss",
    "HuberLoss", "SmoothL1Loss", "View", "UnsafeView", "ReshapeAlias", "T", "Transpose", "Permute", "Squeeze", "Unsqueeze",
    "Expand", "Select", "Slice", "Relu", "Tanh", "Sigmoid", "Convolution", "Clone", "Cat", "Stack", "Pow", "LeakyRelu", "Gelu",
    "Silu", "Elu", "NativeLayerNorm", "NativeBatchNorm", "NativeDropout", "Embedding", "Split", "UnsafeSplit", "Unbind",
    "MaxPool2DWithIndices", "AvgPool2D", "AdaptiveAvgPool2D", "BinaryCrossEntropyWithLogits", "ToCopy", "Abs",
)  # fmt: skip  # of finite numbers they make nan only where these are too large
ROWS, MASKS = ("Softmax", "LogSoftmax"), ("MaskedFill", "Where")  # a row that is masked as a whole
GUARDS = ("Add", "Clamp", "ClampMin", "Softplus", "Exp", "Maximum")


def is_short(f: Facts, node: str) -> bool:
    """Is it a CTC loss with an input of fewer frames than its target needs: one a label, and one between two that are equal?"""
    if op_of(f, node) != "CtcLoss" or f.plain(node, "zero_infinity") == "True":
        return False
    frames, labels = ([*map(int, re.findall(r"\d+", f.plain(node, name)))] for name in ("input_lengths", "target_lengths"))
    rows = f.live.kept(node, "targets")
    texts = [] if rows is None else [*rows] if rows.ndim > 1 else np.split(rows, np.cumsum(labels)[:-1])
    equal = [int((t[1:n] == t[: n - 1]).sum()) if n else 0 for t, n in zip(texts, labels, strict=False)] or [0] * len(labels)
    return any(have < n + more for have, n, more in zip(frames, labels, equal, strict=False))


def is_unsafe(f: Facts, node: str) -> bool:
    """Is it an op that can make nan or inf of ordinary numbers, and is nothing before it that keeps it from those?"""
    op = op_of(f, node)
    if op == "Div":
        made = [n for n in f.sides(node)[1:2] if n is not None]
        made += [way for n in made if op_of(f, n) in ("Sum", "Expand") for way in f.ways_on(n)]
        return bool(made) and all(op_of(f, n) not in GUARDS for n in made)
    if op == "Pow":
        exponent = number(f.plain(node, "exponent"))
        return exponent is None or exponent < 1 or exponent != int(exponent)
    before = next(iter(f.ways_on(node)), None)
    if op in ROWS:
        return before is not None and op_of(f, before) in MASKS
    return op in UNSAFE and (op in GROWING or before is None or op_of(f, before) not in GUARDS)
