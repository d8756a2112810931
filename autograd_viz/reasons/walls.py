"""What ops do to make a gradient zero, and under which conditions."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .. import words
from ..graph.model import Value
from ..graph.text import number_text
from ..sentences import PROPERTIES
from . import conditions as c
from .cause import Cause
from .code import Statement, statement_of
from .facts import Facts
from .numbers import bounds, number
from .rules import NEVER_ZERO, TWICE, is_linear, stem, stem_of


class Wall(NamedTuple):
    """A way of sending zeros: the names of the nodes that have it, the kind of cause, and when it is so.

    Attributes:
        can: the kind whose words say when it would be so, if that is not the cause's own.
    """

    nodes: tuple[str, ...]
    kind: str
    holds: c.Test
    can: str = ""


MODULE_HOOK = "BackwardHookFunction"
DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "Dropout")  # calls
ADDED = ("Addmm", "Addmv", "Baddbmm", "Addbmm")  # the first operand is added to the product of the others
WALLS = (
    Wall(("Relu",), "zero_relu", c.relu),
    Wall(("Threshold",), "zero_clamp", c.relu),
    Wall(("Clamp", "ClampMin", "ClampMax", "Hardtanh"), "zero_clamp", c.clamp),
    Wall(("Hardsigmoid",), "zero_clamp", c.saturated(3.0)),
    Wall(("Softshrink", "Hardshrink"), "zero_shrink", c.shrink),
    Wall(("Round", "Floor", "Ceil", "Trunc", "Sign", "Sgn", "FloorDivide", "Heaviside"), "zero_flat", c.always),
    Wall(("Div",), "zero_quotient", c.quotient),
    Wall(("Bernoulli", "Normal", "Uniform", "Multinomial", "Random", "Poisson", "Exponential"), "zero_drawn", c.always),
    Wall((MODULE_HOOK,), "zero_module_hook", c.maybe),
    Wall(("Where", "MaskedFill", "MaskedScatter"), "zero_mask", c.masked),
    Wall(("NativeDropout", "FusedDropout"), "zero_dropout", c.dropped),
    Wall(("Sigmoid",), "zero_saturated", c.saturated(100.0, (0.0, 1.0))),
    Wall(("Tanh",), "zero_saturated", c.saturated(25.0, (-1.0, 1.0))),
    Wall(("CopySlices", "IndexPut", "IndexFill", "IndexCopy"), "zero_overwritten", c.maybe),
    Wall(("Fill", "Zero", "Copy"), "zero_overwritten", c.overwritten),
    Wall(("Softplus", "Silu", "Mish", "Elu", "Exp", "Exp2", "Expm1", "Selu", "Celu"), "zero_below", c.below(110.0)),
    Wall(("Gelu",), "zero_below", c.below(20.0)),
    Wall(("LinalgVectorNorm", "Norm"), "zero_abs", c.norm_of_zero),
    Wall(("Softmax", "LogSoftmax"), "zero_softmax", c.alone),
    Wall(("Convolution",), "zero_factor", c.convolution),
    Wall(ADDED, "zero_factor", c.matrices),
    Wall(("Mul", "Mm", "Bmm", "Mv", "Dot", "Ger", "Vdot"), "zero_factor", c.factor),
    Wall(
        ("Lerp", "Addcmul", "Addcdiv", "Addr", "Trilinear", "LinalgCross", "Linear", "Cumprod", "Prod", "Xlogy", "Addbmm",
         "ScaledDotProduct", "FusedRmsNorm"),
        "zero_sent", c.maybe, "zero_factor",
    ),
    Wall(("NativeBatchNorm", "BatchNormWithUpdate", "NativeLayerNorm", "NativeGroupNorm"), "zero_sent", c.maybe, "zero_same"),
    Wall(("CudnnBatchNorm", "MiopenBatchNorm"), "zero_sent", c.maybe, "zero_same"),
    Wall(("BinaryCrossEntropy", "BinaryCrossEntropyWithLogits", "SoftMarginLoss"), "zero_sent", c.maybe, "zero_equal"),
    Wall(
        ("LogSigmoid", "LogSigmoidForward", "Hardswish", "Glu", "PreluKernel", "LeakyRelu", "RreluWithNoise", "Erf", "Erfc",
         "Sin", "Cos", "Cosh", "Atan", "Atan2", "Hypot", "Logsumexp", "Logaddexp"),
        "zero_sent", c.maybe,
    ),
    Wall(("Std", "Var", "StdMean", "VarMean"), "zero_spread", c.alike),
    Wall(("ConstantPadNd",), "zero_part", c.cropped),
    Wall(("Pow",), "zero_power", c.power),
    Wall(("NllLoss", "NllLoss2D"), "zero_ignored", c.ignored),
    Wall(("MultiMarginLoss", "MultilabelMarginLoss"), "zero_margin", c.margin),
    Wall(("Embedding",), "zero_padding", c.padded),
    Wall(("Abs",), "zero_abs", c.at_zero),
    Wall(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss"), "zero_equal", c.equal),
    Wall(
        ("Max", "Min", "Amax", "Amin", "Maximum", "Minimum", "Sort", "Topk", "Kthvalue", "Median", "Nanmedian", "Mode", "Fmax",
         "Fmin", "Cummax", "Cummin", "AdaptiveMaxPool", "FractionalMaxPool", "Aminmax"),
        "zero_picked", c.maybe,
    ),
    Wall(
        ("Slice", "Select", "Index", "Gather", "Split", "Unbind", "Narrow", "MaskedSelect", "Take", "Diagonal", "Tril", "Triu",
         "AsStrided", "UnsafeSplit", "Chunk", "DiagEmbed", "Trace", "Unfold", "AvgPool2D", "AvgPool3D", "UpsampleNearest2D",
         "ScatterAdd", "Scatter"),
        "zero_part", c.maybe,
    ),
)  # fmt: skip
BY_NAME = {prefix: wall for wall in WALLS for prefix in wall.nodes}


def wall_of(name: str) -> Wall | None:
    """The wall of a node's class: the longest prefix before "Backward" (or a digit) that is known."""
    op = stem(name)
    if op.endswith(TWICE):  # the derivative of a derivative has walls of its own
        return None
    return BY_NAME.get(op) or next((BY_NAME[p] for p in sorted(BY_NAME, key=len, reverse=True) if _starts(op, p)), None)


def wall_at(f: Facts, node: str) -> Wall | None:
    """The wall of a node; a Function of the user's has none, whatever its name."""
    is_own = f.nodes[node].rule == "user" and not f.called(node).startswith(MODULE_HOOK)
    return None if is_own else wall_of(f.called(node))


def _starts(op: str, prefix: str) -> bool:
    """MaxPool2DWithIndices starts with Max, and Maximum does not: what follows begins a word."""
    return op.startswith(prefix) and len(op) > len(prefix) and (op[len(prefix)].isupper() or op[len(prefix)].isdigit())


def wall_cause(f: Facts, node: str, i: int, sure: bool) -> Cause | None:
    """The cause, if the node turns what arrives into zeros for next_functions[i].

    Args:
        f: the graph.
        node: the node.
        i: which of its next_functions.
        sure: it is known that it does; only the reason is asked.
    """
    wall = wall_at(f, node)
    if f.nodes[node].rule == "user" and wall is None:
        return Cause("zero_user", (), (node,), f.source(node), _said(f, node, i)) if sure else None
    holds = None if wall is None else wall.holds(f, node, i)
    if wall is None or holds is False or (holds is None and not sure):
        return Cause("zero_sent", _read(f, node), (node,), f.source(node), _said(f, node, i)) if sure else None
    return Cause(_kind(f, wall, node, i), _read(f, node), (node,), f.source(node), _said(f, node, i))


def _to_the_power_0(f: Facts, node: str, i: int) -> bool | None:
    return number(f.plain(node, "exponent")) == 0


def _picks_other(f: Facts, node: str, i: int) -> bool | None:
    padding = number(f.plain(node, "padding_idx"))
    return padding is None or padding < 0  # else what arrived for other rows would be there


def _is_hinge(f: Facts, node: str, i: int) -> bool | None:
    """Nobody knows what it was given, and still it is sure that nothing was positive."""
    return f.input(node) is None and f.result(node) is None and c.is_whole_loss(f, node)


ALSO = {  # what a kind of wall is called in special cases
    "zero_power": ("zero_exponent", _to_the_power_0),
    "zero_quotient": ("zero_flat", c.rounded),
    "zero_padding": ("zero_part", _picks_other),
    "zero_softmax": ("zero_single", c.alone),
    "zero_relu": ("zero_hinge", _is_hinge),
    "zero_clamp": ("zero_hinge", _is_hinge),
}


def when(f: Facts, node: str) -> str | None:
    """When the node can have made zeros of what arrived, in words ("" if that cannot be told); None if it cannot have."""
    wall = wall_at(f, node)
    if wall is not None:
        edges = [i for i, after in enumerate(f.nodes[node].next_functions) if after.node is not None]
        can = any(wall.holds(f, node, i) is not False for i in edges)
        return getattr(words, f"CAN_{(wall.can or wall.kind).upper()}", "") if can else None
    op = stem_of(f, node)
    if op == "ToCopy" and _narrows(f, node):
        return words.CAN_ZERO_NARROW
    if is_linear(f, node) or op in NEVER_ZERO:
        return None
    if f.nodes[node].rule == "user":
        return words.CAN_ZERO_OWN
    return words.CAN_ZERO_TWICE if op.endswith(TWICE) else words.CAN_STRANGE


def _narrows(f: Facts, node: str) -> bool:
    """Its gradient has fewer bits than what arrives, as far as is known."""
    given, result = f.inputs(node), f.results(node)
    types = [t.value.dtype for t in (*given[:1], *result[:1])]
    return len(types) == 2 and types[0] in ("float16", "bfloat16") and types[1] in ("float32", "float64")


def _kind(f: Facts, wall: Wall, node: str, i: int) -> str:
    """The kind of the wall, but for products: by dropout's mask, by a tensor with a name, by a number; and special cases."""
    if wall.kind != "zero_factor":
        other, is_met = ALSO.get(wall.kind, (wall.kind, c.maybe))
        return other if is_met(f, node, i) else wall.kind
    if _said(f, node, i)["factor"]:
        return wall.kind
    op = f.op(node)
    if op is not None and 0.0 in [number(o.text) for o in op.inputs if o.tensor is None]:
        return "zero_number"
    return "zero_dropout" if _calls_dropout(statement_of(f.source(node))) else "zero_tensor"


def _calls_dropout(statement: Statement | None) -> bool:
    """`F.dropout(x)`, `self.dropout(x)`: a product with a mask of its own."""
    called = [n.func for n in ast.walk(statement.node) if isinstance(n, ast.Call)] if statement is not None else []
    names = {c.attr if isinstance(c, ast.Attribute) else c.id for c in called if isinstance(c, ast.Attribute | ast.Name)}
    return not names.isdisjoint(DROPOUTS)


def _read(f: Facts, node: str) -> tuple[str, ...]:
    return tuple(t.id for t in f.inputs(node))


def _said(f: Facts, node: str, i: int) -> dict[str, str]:
    added = {t.id for t in f.inputs(node)[:1]} if f.called(node).startswith(ADDED) else set()  # a bias multiplies nothing
    others = [t for t in f.others(node, i) if PROPERTIES["zero"](t.value) and t.id not in added]
    value = f.input(node)
    return {
        "node": f.called(node),
        "inputs": range_text(value) if value is not None else "≤ 0" if "Relu" in f.called(node) else words.NOT_KEPT,
        "factor": next((name for t in others if (name := f.name_of(t.id))), ""),
    }


def range_text(value: Value | None) -> str:
    """`-3.0`; `-3.0 … -1.0`; "?" if nobody knows."""
    found = bounds(value)
    return "?" if found is None else between(*found)


def between(least: float, most: float) -> str:
    """`-3.0`; `-3.0 … -1.0`."""
    low, high = number_text(least), number_text(most)
    return low if low == high else f"{low} … {high}"
