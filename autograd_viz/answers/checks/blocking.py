"""Ops that pass no gradient. A test takes a node and one of its next_functions: is it certain that it sends only zeros?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from ...graph.op_names import stem
from ...graph.text import value_text
from ..causes.cause import Cause
from ..causes.facts import Facts
from ..causes.numbers import all_are, bounds, is_constant, is_zero, largest, lies_outside, number, range_text
from ..causes.ops import PRODUCTS, cause_at, factor_values, factors, given_text, numbers_of, op_of, operand
from ..sentences import is_differentiable

Test = Callable[[Facts, str, int], bool]
BOXES = re.compile(r"\b(\w*_)?(iou|inter|intersection|overlap)(_\w*)?\b", re.IGNORECASE)


def always(f: Facts, node: str, i: int) -> bool:
    """It always sends zeros."""
    return True


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


def of_boxes(f: Facts, node: str, i: int) -> bool:
    """It takes the part of a negative width away, where boxes do not overlap."""
    source, low = f.source(node), number(f.plain(node, "min"))
    return source is not None and low == 0 and BOXES.search(f"{source.function} {source.text}") is not None


def shrink(f: Facts, node: str, i: int) -> bool:
    """All elements of its input are inside its threshold."""
    found, limit = bounds(f.input(node)), number(f.plain(node, "lambd")) or 0.5
    return found is not None and -limit <= found[0] and found[1] <= limit


def saturated(limit: float, *ends: float) -> Test:
    """Every element of the input is beyond the limit, or every element of the result is at its ends."""

    def holds(f: Facts, node: str, i: int) -> bool:
        result = f.result(node)
        if ends and result is not None and result.numbers:
            return all_are(result, lambda n: n in ends)
        return lies_outside(f.input(node), -limit, limit)

    return holds


def below(limit: float) -> Test:
    """Every element of the input is so far below 0 that the derivative is 0 in single precision."""
    return lambda f, node, i: lies_outside(f.input(node), -limit, math.inf)


def rounded(f: Facts, node: str, i: int) -> bool:
    """A division that rounds."""
    return f.plain(node, "rounding_mode") not in ("", "None")


def no_exponent(f: Facts, node: str, i: int) -> bool:
    """It is the power 0."""
    return number(f.plain(node, "exponent")) == 0


def equal(f: Facts, node: str, i: int) -> bool:
    """It compares equal values."""
    a, b = f.input(node, 0), f.input(node, 1)
    return a is not None and b is not None and bool(a.numbers) and a.numbers == b.numbers


def masked(f: Facts, node: str, i: int) -> bool:
    """The condition of where, or the mask of masked_fill, selects the other operand everywhere."""
    is_where = "Where" in f.called(node)
    return all_are(f.saved(node, "condition", "mask"), lambda n: bool(n) != (is_where and i == 0))


def no_padding(f: Facts, node: str, i: int) -> bool:
    """An embedding without a row that gets no gradient."""
    row = number(f.plain(node, "padding_idx"))
    return row is None or row < 0


def padded(f: Facts, node: str, i: int) -> bool:
    """All look-ups are of the padding row."""
    given, row = [t.value for t in f.inputs(node) if not is_differentiable(t.value.dtype)], number(f.plain(node, "padding_idx"))
    return not no_padding(f, node, i) and any(bounds(v) == (row, row) for v in (f.saved(node, "indices"), *given))


def alone(f: Facts, node: str, i: int) -> bool:
    """The reduced dimension has one element."""
    dim, shape = number(f.plain(node, "dim")), next((t.value.shape for t in f.inputs(node)), ())
    return dim is not None and -len(shape) <= dim < len(shape) and shape[int(dim)] == 1


def is_one_hot(f: Facts, node: str, i: int) -> bool:
    """One of its probabilities is 1: then it passes nothing."""
    found = bounds(f.result(node))
    return found is not None and found[1] == (0.0 if "Log" in f.called(node) else 1.0)


class Blocking(NamedTuple):
    """A way of sending zeros: its ops, the kind of cause, and a test that proves it, if its values can."""

    ops: tuple[str, ...]
    kind: str
    holds: Test = lambda f, node, i: False


MODULE_HOOK = "BackwardHookFunction"
BLOCKING = (
    Blocking(("Relu",), "zero_relu", relu),
    Blocking(("Threshold",), "zero_clamp", relu),
    Blocking(("Clamp", "ClampMin", "ClampMax", "Hardtanh"), "zero_clamp", clamp),
    Blocking(("Hardsigmoid",), "zero_clamp", saturated(3.0)),
    Blocking(("Softshrink", "Hardshrink"), "zero_shrink", shrink),
    Blocking(("Round", "Floor", "Ceil", "Trunc", "Sign", "Sgn", "FloorDivide", "Heaviside"), "zero_flat", always),
    Blocking(("Div",), "zero_quotient",  # the dividend is a factor of the divisor's gradient
             lambda f, node, i: rounded(f, node, i) or (i == 1 and is_zero(operand(f, node, 0, "self")))),
    Blocking(("Bernoulli", "Normal", "Uniform", "Multinomial", "Random", "Poisson", "Exponential"), "zero_drawn", always),
    Blocking((MODULE_HOOK,), "zero_module_hook"),
    Blocking(("Where", "MaskedFill", "MaskedScatter"), "zero_mask", masked),
    Blocking(("NativeDropout", "FusedDropout"), "zero_dropout", lambda f, node, i: number(f.plain(node, "p")) == 1.0),
    Blocking(("Sigmoid",), "zero_saturated", saturated(100.0, 0.0, 1.0)),
    Blocking(("Tanh",), "zero_saturated", saturated(25.0, -1.0, 1.0)),
    Blocking(("CopySlices", "IndexPut", "IndexFill", "IndexCopy"), "zero_overwritten"),
    Blocking(("Fill", "Zero", "Copy"), "zero_overwritten", lambda f, node, i: i == 0),
    Blocking(("Softplus", "Silu", "Mish", "Elu", "Exp", "Exp2", "Expm1", "Selu", "Celu"), "zero_below", below(110.0)),
    Blocking(("Gelu",), "zero_below", below(20.0)),
    Blocking(("LinalgVectorNorm", "Norm"), "zero_abs", lambda f, node, i: is_zero(f.result(node))),
    Blocking(("Softmax", "LogSoftmax"), "zero_softmax", alone),
    Blocking(PRODUCTS, "zero_factor",
             lambda f, node, i: 0.0 in numbers_of(f, node) or any(map(is_zero, factor_values(f, node, i)))),
    Blocking(("Std", "Var", "StdMean", "VarMean"), "zero_spread", lambda f, node, i: is_constant(f.input(node))),
    Blocking(("Pow",), "zero_power", lambda f, node, i: (
        no_exponent(f, node, i) or ((number(f.plain(node, "exponent")) or 0) > 1 and is_zero(f.input(node))))),
    Blocking(("NllLoss", "NllLoss2D"), "zero_ignored",
             lambda f, node, i: all_are(f.saved(node, "target"), lambda n: n == number(f.plain(node, "ignore_index")))),
    Blocking(("MultiMarginLoss", "MultilabelMarginLoss"), "zero_margin"),
    Blocking(("Embedding",), "zero_padding", padded),
    Blocking(("Abs",), "zero_abs", lambda f, node, i: is_zero(f.input(node))),
    Blocking(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss"), "zero_equal", equal),
    Blocking(
        ("Max", "Min", "Amax", "Amin", "Maximum", "Minimum", "Sort", "Topk", "Kthvalue", "Median", "Nanmedian", "Mode", "Fmax",
         "Fmin", "Cummax", "Cummin", "AdaptiveMaxPool", "FractionalMaxPool", "Aminmax"), "zero_picked"),
    Blocking(
        ("Slice", "Select", "Index", "Gather", "Split", "Unbind", "Narrow", "MaskedSelect", "Take", "Diagonal", "Tril", "Triu",
         "AsStrided", "UnsafeSplit", "Chunk", "DiagEmbed", "Trace", "Unfold", "AvgPool2D", "AvgPool3D", "UpsampleNearest2D",
         "ScatterAdd", "Scatter", "ConstantPadNd"), "zero_part"),
)  # fmt: skip
BY_OP = {op: b for b in BLOCKING for op in b.ops}
SPECIAL: dict[str, tuple[tuple[str, Test], ...]] = {  # by kind: its name under a condition; the first true one counts
    "zero_power": (("zero_exponent", no_exponent),),
    "zero_clamp": (("zero_apart", of_boxes),),
    "zero_quotient": (("zero_flat", rounded),),
    "zero_softmax": (("zero_single", alone), ("zero_one_hot", is_one_hot)),
    "zero_padding": (("zero_part", no_padding), ("zero_padding_only", lambda f, node, i: not padded(f, node, i))),
}
# elementwise ops: if they send zeros, no element that receives a gradient passes it on
ELEMENTWISE = ("Mul", "Pow", "Abs", "MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
ELEMENTWISE_KINDS = ("zero_relu", "zero_clamp", "zero_apart", "zero_shrink", "zero_dropout", "zero_saturated", "zero_below")
SUMMED = (("Addmm", 0), ("Convolution", 2))  # a bias, whose gradient is the sum of the rows
# ops for which a zero that was sent is proof
PROVEN = (
    "zero_mask", "zero_picked", "zero_part", "zero_overwritten", "zero_module_hook", "zero_ignored", "zero_margin",
    "zero_padding", "zero_padding_only", "zero_one_hot",
)  # fmt: skip
# the least positive (subnormal) numbers by IEEE 754; bfloat16 has float32's exponents and 7 bits after the point
LEAST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074}


def blocking_of(f: Facts, node: str) -> Blocking | None:
    """How a node's op makes zeros: by its name, or by the longest known prefix of it. Derivatives of derivatives differ.

    MaxPool2DWithIndices starts with Max; Maximum is another op.
    """
    op = stem(f.called(node)) if f.called(node).startswith(MODULE_HOOK) else op_of(f, node)
    after = {p: op[len(p) : len(p) + 1] for p in BY_OP if op.startswith(p) and not op.endswith("Backward")}
    variants = [p for p, letter in after.items() if letter.isupper() or letter.isdigit()]
    return BY_OP.get(op) or (BY_OP[max(variants, key=len)] if variants else None)


def sure_block(f: Facts, node: str, i: int) -> Cause | None:
    """The cause, if the op's inputs prove that the node sends zeros along next_functions[i]."""
    known = blocking_of(f, node)
    return None if known is None or not known.holds(f, node, i) else _cause(f, _special(f, known, node, i), node, i)


def seen_block(f: Facts, node: str, i: int) -> Cause:
    """The reason why a node sends zeros along next_functions[i]. That it does has been seen."""
    known = blocking_of(f, node)
    if (op_of(f, node), i) in SUMMED:
        return _cause(f, "zero_summed", node, i)
    if known is None:
        return _cause(f, "zero_user" if f.nodes[node].rule == "user" else "zero_sent", node, i)
    kind = _special(f, known, node, i)
    if not (known.holds(f, node, i) or kind in PROVEN):
        is_elementwise = known.kind in ELEMENTWISE_KINDS or op_of(f, node) in ELEMENTWISE
        kind = "zero_no_overlap" if is_elementwise else kind if op_of(f, node) == "Softmax" else "zero_sent"
    return _cause(f, kind, node, i)


def _special(f: Facts, known: Blocking, node: str, i: int) -> str:
    if known.kind == "zero_factor":
        return "zero_number" if 0.0 in numbers_of(f, node) else "zero_factor" if _factor(f, node, i) else "zero_tensor"
    return next((kind for kind, is_met in SPECIAL.get(known.kind, ()) if is_met(f, node, i)), known.kind)


def _factor(f: Facts, node: str, i: int) -> str:
    """The name of the zero factor of a gradient."""
    return next((name for t in factors(f, node, i) if is_zero(t.value) and (name := f.name_of(t.id))), "")


def _cause(f: Facts, kind: str, node: str, i: int) -> Cause:
    value = f.input(node)
    inputs = range_text(bounds(value)) if bounds(value) is not None else "≤ 0" if value is None else value_text(value)
    return cause_at(f, kind, node, inputs=inputs, given=given_text(f, node), factor=_factor(f, node, i))


def underflow(f: Facts, node: str, i: int) -> Cause | None:
    """The cause, if the largest arriving element times the largest factor is below the least number of the type."""
    arrived, most = f.arrivals(node), _largest_factor(f, node, i)
    if not arrived or not most:
        return None
    grad, dtype = largest(arrived[0]), arrived[0].dtype.removeprefix("torch.")
    if grad is None or grad * most > LEAST.get(dtype, 0.0):
        return None
    kind = "zero_underflow" if dtype == "float16" else "zero_vanished"
    return cause_at(f, kind, node, grad=grad, factor=most, dtype=dtype)


def _largest_factor(f: Facts, node: str, i: int) -> float | None:
    """The largest absolute value that this gradient can be multiplied by, elementwise; None if unknown."""
    is_division = op_of(f, node) == "Div"
    if not is_division and op_of(f, node) not in PRODUCTS:
        return None
    values = [t.value for t in f.others(node, i)] if is_division else factor_values(f, node, i)
    sizes = [*numbers_of(f, node), *map(largest, values)]
    known = [abs(n) for n in sizes if n is not None]
    if not known or len(known) < len(sizes):
        return None
    if is_division:
        return 1 / known[0] if len(known) == 1 and i == 0 and known[0] else None
    return max(known)
