"""Ops that pass no gradient, and when they pass none: causes of zeros.py."""

from __future__ import annotations

from typing import NamedTuple

from ...graph.text import number_text, value_text
from . import conditions as c
from .cause import Cause
from .facts import Facts
from .numbers import bounds, is_zero, largest, number, range_text
from .ops import PRODUCTS, cause_at, factor_values, factors, given_text, numbers_of, op_of, stem


class Blocking(NamedTuple):
    """A way of sending zeros: its ops, the kind of cause, and a test that proves it."""

    ops: tuple[str, ...]
    kind: str
    holds: c.Test


MODULE_HOOK = "BackwardHookFunction"
BLOCKING = (
    Blocking(("Relu",), "zero_relu", c.relu),
    Blocking(("Threshold",), "zero_clamp", c.relu),
    Blocking(("Clamp", "ClampMin", "ClampMax", "Hardtanh"), "zero_clamp", c.clamp),
    Blocking(("Hardsigmoid",), "zero_clamp", c.saturated(3.0)),
    Blocking(("Softshrink", "Hardshrink"), "zero_shrink", c.shrink),
    Blocking(("Round", "Floor", "Ceil", "Trunc", "Sign", "Sgn", "FloorDivide", "Heaviside"), "zero_flat", c.always),
    Blocking(("Div",), "zero_quotient", c.quotient),
    Blocking(("Bernoulli", "Normal", "Uniform", "Multinomial", "Random", "Poisson", "Exponential"), "zero_drawn", c.always),
    Blocking((MODULE_HOOK,), "zero_module_hook", c.unsure),
    Blocking(("Where", "MaskedFill", "MaskedScatter"), "zero_mask", c.masked),
    Blocking(("NativeDropout", "FusedDropout"), "zero_dropout", lambda f, node, i: number(f.plain(node, "p")) == 1.0),
    Blocking(("Sigmoid",), "zero_saturated", c.saturated(100.0, 0.0, 1.0)),
    Blocking(("Tanh",), "zero_saturated", c.saturated(25.0, -1.0, 1.0)),
    Blocking(("CopySlices", "IndexPut", "IndexFill", "IndexCopy"), "zero_overwritten", c.unsure),
    Blocking(("Fill", "Zero", "Copy"), "zero_overwritten", lambda f, node, i: i == 0),
    Blocking(("Softplus", "Silu", "Mish", "Elu", "Exp", "Exp2", "Expm1", "Selu", "Celu"), "zero_below", c.below(110.0)),
    Blocking(("Gelu",), "zero_below", c.below(20.0)),
    Blocking(("LinalgVectorNorm", "Norm"), "zero_abs", lambda f, node, i: is_zero(f.result(node))),
    Blocking(("Softmax", "LogSoftmax"), "zero_softmax", c.alone),
    Blocking(PRODUCTS, "zero_factor", c.factor),
    Blocking(("Std", "Var", "StdMean", "VarMean"), "zero_spread", c.alike),
    Blocking(("Pow",), "zero_power", c.power),
    Blocking(("NllLoss", "NllLoss2D"), "zero_ignored", c.ignored),
    Blocking(("MultiMarginLoss", "MultilabelMarginLoss"), "zero_margin", c.unsure),
    Blocking(("Embedding",), "zero_padding", c.padded),
    Blocking(("Abs",), "zero_abs", lambda f, node, i: is_zero(f.input(node))),
    Blocking(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss"), "zero_equal", c.equal),
    Blocking(
        ("Max", "Min", "Amax", "Amin", "Maximum", "Minimum", "Sort", "Topk", "Kthvalue", "Median", "Nanmedian", "Mode", "Fmax",
         "Fmin", "Cummax", "Cummin", "AdaptiveMaxPool", "FractionalMaxPool", "Aminmax"),
        "zero_picked", c.unsure,
    ),
    Blocking(
        ("Slice", "Select", "Index", "Gather", "Split", "Unbind", "Narrow", "MaskedSelect", "Take", "Diagonal", "Tril", "Triu",
         "AsStrided", "UnsafeSplit", "Chunk", "DiagEmbed", "Trace", "Unfold", "AvgPool2D", "AvgPool3D", "UpsampleNearest2D",
         "ScatterAdd", "Scatter", "ConstantPadNd"),
        "zero_part", c.unsure,
    ),
)  # fmt: skip
BY_OP = {op: b for b in BLOCKING for op in b.ops}
SPECIAL: dict[str, tuple[tuple[str, c.Test], ...]] = {  # by kind: its name under a condition; the first true one counts
    "zero_power": (("zero_exponent", c.no_exponent),),
    "zero_quotient": (("zero_flat", c.rounded),),
    "zero_softmax": (("zero_single", c.alone), ("zero_one_hot", c.is_one_hot)),
    "zero_padding": (("zero_part", lambda f, node, i: c.padding(f, node) is None),),
}
# elementwise ops: if they send zeros, no element that receives a gradient passes it on
ELEMENTWISE = ("Mul", "Pow", "Abs", "MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
ELEMENTWISE_KINDS = ("zero_relu", "zero_clamp", "zero_shrink", "zero_dropout", "zero_saturated", "zero_below")
# ops for which a zero that was sent is proof
PROVEN = (
    "zero_mask", "zero_picked", "zero_part", "zero_overwritten", "zero_module_hook", "zero_ignored", "zero_margin",
    "zero_padding", "zero_one_hot",
)  # fmt: skip


def blocking_of(f: Facts, node: str) -> Blocking | None:
    """How a node's op makes zeros: by its name, or by the longest known prefix of its name."""
    op = stem(f.called(node)) if f.called(node).startswith(MODULE_HOOK) else op_of(f, node)
    return BY_OP.get(op) or next((BY_OP[p] for p in sorted(BY_OP, key=len, reverse=True) if _starts(op, p)), None)


def _starts(op: str, prefix: str) -> bool:
    """Is it a variant of an op?

    MaxPool2DWithIndices starts with Max; Maximum is another op. Derivatives of derivatives differ.
    """
    after = op[len(prefix) : len(prefix) + 1]
    return op.startswith(prefix) and (after.isupper() or after.isdigit()) and not op.endswith("Backward")


def sure_block(f: Facts, node: str, i: int) -> Cause | None:
    """The cause, if the op's inputs prove that the node sends zeros along next_functions[i]."""
    known = blocking_of(f, node)
    return None if known is None or not known.holds(f, node, i) else _cause(f, _special(f, known, node, i), node, i)


def seen_block(f: Facts, node: str, i: int) -> Cause:
    """The reason why a node sends zeros along next_functions[i]. That it does has been seen."""
    known = blocking_of(f, node)
    if known is None:
        return _cause(f, "zero_user" if f.nodes[node].rule == "user" else "zero_sent", node, i)
    kind = _special(f, known, node, i)
    if known.holds(f, node, i) or kind in PROVEN:
        return _cause(f, kind, node, i)
    if known.kind in ELEMENTWISE_KINDS or op_of(f, node) in ELEMENTWISE:
        return _cause(f, "zero_no_overlap", node, i)
    return _cause(f, kind if op_of(f, node) == "Softmax" else "zero_sent", node, i)


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


# -- products too small for their type --------------------------------------------------------------------------------

# the least positive (subnormal) numbers by IEEE 754; bfloat16 has float32's exponents and 7 bits after the point
LEAST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074}


def underflow(f: Facts, node: str, i: int) -> Cause | None:
    """The cause, if the largest arriving element times the largest factor is below the least number of the type."""
    arrived, most = f.arrivals(node), _largest_factor(f, node, i)
    if not arrived or not most:
        return None
    grad, dtype = largest(arrived[0]), arrived[0].dtype
    if grad is None or grad * most > LEAST.get(dtype, 0.0):
        return None
    return cause_at(f, "zero_underflow", node, grad=number_text(grad), factor=number_text(most), dtype=dtype)


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
