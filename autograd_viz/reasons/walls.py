"""What ops do to make a gradient zero: which conditions each of them has, read off the values that it was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .. import words
from ..graph.model import Value
from ..graph.text import number_text
from ..sentences import PROPERTIES, is_differentiable
from .cause import Cause
from .facts import Facts
from .numbers import bounds, has_zero, is_known, number

# does this node send nothing but zeros along next_functions[i]? True, False, or None: cannot be told
Test = Callable[[Facts, str, int], bool | None]


class Wall(NamedTuple):
    """A way of sending zeros: the names of the nodes that have it, the kind of cause, and when it is so."""

    nodes: tuple[str, ...]
    kind: str
    holds: Test


def _outside(f: Facts, node: str, least: float, most: float) -> bool | None:
    """Every element of the op's input lies outside of ]least, most[."""
    found = bounds(f.input(node))
    if found is None:
        return None
    value = f.input(node)
    if value is not None and value.numbers:
        outside = [not least < float(n) < most for n in value.numbers if not isinstance(n, complex)]
        return True if all(outside) else None if any(outside) else False
    return True if found[1] <= least or found[0] >= most else None if found[0] <= least or found[1] >= most else False


def _at_most(f: Facts, node: str, least: float) -> bool | None:
    return _outside(f, node, least, float("inf"))


def _is_whole_loss(f: Facts, node: str) -> bool:
    """The loss is 0, and the sum or mean of this node's result (or that itself): if none of it is negative, all is 0."""
    senders = [n for k in range(f.nodes[node].outputs) for n, _ in f.senders.get((node, k), ())]
    if len(senders) == 1 and f.called(senders[0]).startswith(("Sum", "Mean")):
        node = senders[0]
    is_root = [n for n, _ in f.starts] == [node] and not f.senders.get((node, 0))
    return is_root and all(PROPERTIES["zero"](f.tensors[t].value) for t in f.loss)


def _margin(f: Facts, node: str, i: int) -> bool | None:
    """A loss that is never negative."""
    return _is_whole_loss(f, node) or None


def _relu(f: Facts, node: str, i: int) -> bool | None:
    result = f.result(node)
    if f.input(node) is None and result is None and _is_whole_loss(f, node):
        return True
    if f.input(node) is None and result is not None:
        return PROPERTIES["zero"](result)
    return _at_most(f, node, number(f.plain(node, "threshold")) or 0.0)


def _clamp(f: Facts, node: str, i: int) -> bool | None:
    low = number(f.plain(node, "min") or f.plain(node, "min_val"))
    high = number(f.plain(node, "max") or f.plain(node, "max_val"))
    if low == 0 and high is None and f.input(node) is None and _is_whole_loss(f, node):
        return True
    return _outside(f, node, -float("inf") if low is None else low, float("inf") if high is None else high)


def _shrink(f: Facts, node: str, i: int) -> bool | None:
    found, limit = bounds(f.input(node)), number(f.plain(node, "lambd")) or 0.5
    return None if found is None else -limit <= found[0] and found[1] <= limit


def _rounded(f: Facts, node: str, i: int) -> bool | None:
    """A division that rounds down."""
    return f.plain(node, "rounding_mode") not in ("", "None")


def _always(f: Facts, node: str, i: int) -> bool | None:
    return True


def _maybe(f: Facts, node: str, i: int) -> bool | None:
    return None


def _factor(f: Facts, node: str, i: int) -> bool | None:
    """What the input is multiplied by is all zero."""
    op, others = f.op(node), [t.value for t in f.others(node, i)]
    numbers = [number(o.text) for o in op.inputs if o.tensor is None] if op is not None else []
    if 0.0 in numbers:
        return True
    saved = f.input(node, 1 - i) if not others and not numbers and i < 2 else None
    others += [] if saved is None else [saved]
    if any(map(PROPERTIES["zero"], others)):
        return True
    is_sure = bool(others or numbers) and None not in numbers
    return False if is_sure and not any(has_zero(v) or not is_known(v) for v in others) else None


def _convolution(f: Facts, node: str, i: int) -> bool | None:
    other = f.input(node, 1 - i) if i < 2 else None
    return None if other is None else PROPERTIES["zero"](other) or None


def _matrices(f: Facts, node: str, i: int) -> bool | None:
    """`addmm(bias, a, b)`: the bias gets its gradient whatever the matrices hold."""
    other = f.input(node, 3 - i) if i else None
    return None if other is None else PROPERTIES["zero"](other) or (None if has_zero(other) else False)


def _below(limit: float) -> Test:
    """Every element of the input lies so far below 0 that the derivative is 0 in single precision."""

    def holds(f: Facts, node: str, i: int) -> bool | None:
        found = bounds(f.input(node))
        return None if found is None else True if found[1] <= -limit else None if found[0] <= -limit else False

    return holds


def _overwritten(f: Facts, node: str, i: int) -> bool | None:
    """What was there before is the first that the op was given."""
    return True if i == 0 else None


def _norm_of_zero(f: Facts, node: str, i: int) -> bool | None:
    result = f.result(node)
    return _is_whole_loss(f, node) or None if result is None else PROPERTIES["zero"](result)


def _saturated(limit: float, ends: tuple[float, ...] = ()) -> Test:
    def holds(f: Facts, node: str, i: int) -> bool | None:
        result = f.result(node)
        if result is not None and result.numbers and ends:
            at_end = [n in ends for n in result.numbers]
            return True if all(at_end) else None if any(at_end) else False
        return _outside(f, node, -limit, limit)

    return holds


def _power(f: Facts, node: str, i: int) -> bool | None:
    exponent = number(f.plain(node, "exponent"))
    if exponent == 0:
        return True
    base = f.input(node)
    return None if base is None or exponent is None else exponent > 1 and PROPERTIES["zero"](base)


def _at_zero(f: Facts, node: str, i: int) -> bool | None:
    value = f.input(node)
    return None if value is None else PROPERTIES["zero"](value)


def _equal(f: Facts, node: str, i: int) -> bool | None:
    a, b = f.input(node, 0), f.input(node, 1)
    return None if a is None or b is None or not a.numbers else a.numbers == b.numbers


def _masked(f: Facts, node: str, i: int) -> bool | None:
    """The condition of where, or the mask of masked_fill, chooses the other everywhere."""
    name, other = ("condition", i == 0) if "Where" in f.called(node) else ("mask", True)
    mask = next((s.value for s in f.nodes[node].saved if s.name == name), None)
    if mask is None or mask.summary is not None:
        return None
    chosen_other = [bool(n) != (name == "condition") for n in mask.numbers]
    return all(chosen_other) if other else not any(chosen_other)


def _ignored(f: Facts, node: str, i: int) -> bool | None:
    """Every target is the one that does not count."""
    target = next((s.value for s in f.nodes[node].saved if s.name == "target"), None)
    index = number(f.plain(node, "ignore_index"))
    if target is None and [n for n, _ in f.starts] == [node] and any(PROPERTIES["nan"](f.tensors[t].value) for t in f.loss):
        return True  # the mean of nothing is nan
    return None if target is None or not target.numbers or index is None else all(n == index for n in target.numbers)


def _padded(f: Facts, node: str, i: int) -> bool | None:
    """All that is looked up is the row of the padding."""
    saved = [s.value for s in f.nodes[node].saved if s.name == "indices"]
    given = [t.value for t in f.inputs(node) if not is_differentiable(t.value.dtype)]
    indices = next((v for v in (*saved, *given) if v is not None and v.numbers), None)
    padding = number(f.plain(node, "padding_idx"))
    if padding is None or padding < 0:
        return None
    return None if indices is None else all(n == padding for n in indices.numbers) or None


def _dropped(f: Facts, node: str, i: int) -> bool | None:
    p = number(f.plain(node, "p"))
    return None if p is None else p == 1.0


ADDED = ("Addmm", "Addmv", "Baddbmm", "Addbmm")  # the first operand is added to the product of the others
WALLS = (
    Wall(("Relu",), "zero_relu", _relu),
    Wall(("Threshold",), "zero_clamp", _relu),
    Wall(("Clamp", "Hardtanh"), "zero_clamp", _clamp),
    Wall(("Hardsigmoid",), "zero_clamp", _saturated(3.0)),
    Wall(("Softshrink", "Hardshrink"), "zero_shrink", _shrink),
    Wall(("Round", "Floor", "Ceil", "Trunc", "Sign", "Sgn", "FloorDivide", "Heaviside"), "zero_flat", _always),
    Wall(("Div",), "zero_flat", _rounded),
    Wall(("Bernoulli", "Normal", "Uniform", "Multinomial", "Random", "Poisson", "Exponential"), "zero_drawn", _always),
    Wall(("BackwardHookFunction",), "zero_module_hook", _maybe),
    Wall(("Where", "MaskedFill", "MaskedScatter"), "zero_mask", _masked),
    Wall(("NativeDropout", "FusedDropout"), "zero_dropout", _dropped),
    Wall(("Sigmoid",), "zero_saturated", _saturated(100.0, (0.0, 1.0))),
    Wall(("Tanh",), "zero_saturated", _saturated(25.0, (-1.0, 1.0))),
    Wall(("CopySlices", "IndexPut", "IndexFill", "IndexCopy"), "zero_overwritten", _maybe),
    Wall(("Fill", "Zero", "Copy"), "zero_overwritten", _overwritten),
    Wall(("Softplus", "Silu", "Mish", "Elu", "Exp", "Exp2", "Expm1", "Selu", "Celu"), "zero_below", _below(110.0)),
    Wall(("Gelu",), "zero_below", _below(20.0)),
    Wall(("LinalgVectorNorm", "Norm"), "zero_abs", _norm_of_zero),
    Wall(("Softmax", "LogSoftmax"), "zero_softmax", _maybe),
    Wall(("Convolution",), "zero_factor", _convolution),
    Wall(ADDED, "zero_factor", _matrices),
    Wall(("Mul", "Mm", "Bmm", "Mv", "Dot", "Ger", "Vdot"), "zero_factor", _factor),
    Wall(
        ("LogSigmoid", "LogSigmoidForward", "Hardswish", "Glu", "Prelu", "LeakyRelu", "RreluWithNoise", "Erf", "Erfc", "Sin",
         "Cos", "Atan", "Atan2", "Hypot", "Prod"),
        "zero_sent", _maybe,
    ),
    Wall(("Pow",), "zero_power", _power),
    Wall(("NllLoss", "NllLoss2D"), "zero_ignored", _ignored),
    Wall(("MultiMarginLoss", "MultilabelMarginLoss"), "zero_margin", _margin),
    Wall(("Embedding",), "zero_padding", _padded),
    Wall(("Abs",), "zero_abs", _at_zero),
    Wall(("MseLoss", "L1Loss", "SmoothL1Loss", "HuberLoss"), "zero_equal", _equal),
    Wall(
        ("Max", "Min", "Amax", "Amin", "Maximum", "Minimum", "Sort", "Topk", "Kthvalue", "Median", "Nanmedian", "Mode", "Fmax",
         "Fmin", "Cummax", "Cummin", "AdaptiveMaxPool", "FractionalMaxPool", "Aminmax"),
        "zero_picked", _maybe,
    ),
    Wall(
        ("Slice", "Select", "Index", "Gather", "Split", "Unbind", "Narrow", "MaskedSelect", "Take", "Diagonal", "Tril", "Triu",
         "AsStrided"),
        "zero_part", _maybe,
    ),
)  # fmt: skip
BY_NAME = {prefix: wall for wall in WALLS for prefix in wall.nodes}


def wall_of(name: str) -> Wall | None:
    """The wall of a node's class: the longest prefix before "Backward" (or a digit) that is known."""
    stem, _, more = name.partition("Backward")
    if more.startswith("Backward"):  # the derivative of a derivative has walls of its own
        return None
    return BY_NAME.get(stem) or next((BY_NAME[p] for p in sorted(BY_NAME, key=len, reverse=True) if _starts(stem, p)), None)


def _starts(stem: str, prefix: str) -> bool:
    """MaxPool2DWithIndices starts with Max, and Maximum does not: what follows begins a word."""
    return stem.startswith(prefix) and len(stem) > len(prefix) and (stem[len(prefix)].isupper() or stem[len(prefix)].isdigit())


def wall_cause(f: Facts, node: str, i: int, sure: bool) -> Cause | None:
    """The cause, if the node turns what arrives into zeros for next_functions[i].

    Args:
        f: the graph.
        node: the node.
        i: which of its next_functions.
        sure: it is known that it does; only the reason is asked.
    """
    wall = wall_of(f.called(node))
    if f.nodes[node].rule == "user" and wall is None:
        return Cause("zero_user", (), (node,), f.source(node), _said(f, node, i)) if sure else None
    holds = None if wall is None else wall.holds(f, node, i)
    if wall is None or holds is False or (holds is None and not sure):
        return Cause("zero_sent", _read(f, node), (node,), f.source(node), _said(f, node, i)) if sure else None
    return Cause(_kind(f, wall, node, i), _read(f, node), (node,), f.source(node), _said(f, node, i))


def _to_the_power_0(f: Facts, node: str, i: int) -> bool | None:
    return number(f.plain(node, "exponent")) == 0


def _picks_other(f: Facts, node: str, i: int) -> bool | None:
    return not _padded(f, node, i)


def _is_hinge(f: Facts, node: str, i: int) -> bool | None:
    """Nobody knows what it was given, and still it is sure that nothing was positive."""
    return f.input(node) is None and f.result(node) is None and _is_whole_loss(f, node)


ALSO = {  # what a kind of wall is called in special cases
    "zero_power": ("zero_exponent", _to_the_power_0),
    "zero_padding": ("zero_part", _picks_other),
    "zero_relu": ("zero_hinge", _is_hinge),
    "zero_clamp": ("zero_hinge", _is_hinge),
}


def when(f: Facts, node: str) -> str:
    """The name of a node's class, and when such nodes make zeros of what arrives."""
    wall = wall_of(f.called(node))
    told = "" if wall is None else getattr(words, f"CAN_{wall.kind.upper()}", "")
    return words.CAN.format(node=f.called(node), when=told) if told else f.called(node)


def _kind(f: Facts, wall: Wall, node: str, i: int) -> str:
    """The kind of the wall, but for products: by dropout's mask, by a tensor with a name, by a number; and special cases."""
    if wall.kind != "zero_factor":
        other, is_met = ALSO.get(wall.kind, (wall.kind, _maybe))
        return other if is_met(f, node, i) else wall.kind
    source = f.source(node)
    if source is not None and "dropout" in source.text.lower():
        return "zero_dropout"
    if _said(f, node, i)["factor"]:
        return wall.kind
    op = f.op(node)
    numbers = [] if op is None else [number(o.text) for o in op.inputs if o.tensor is None]
    return "zero_number" if 0.0 in numbers else "zero_tensor"


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
    if found is None:
        return "?"
    low, high = number_text(found[0]), number_text(found[1])
    return low if low == high else f"{low} … {high}"
