"""When an op makes zeros of what arrives, read off the values that it was given.

Each test answers for one node and one of its next_functions: does it send nothing but zeros along it? True, False, or None
where that cannot be told.
"""

from __future__ import annotations

from collections.abc import Callable

from ..graph.model import Value
from ..sentences import PROPERTIES, is_differentiable
from .facts import Facts
from .hazards import operand
from .numbers import bounds, has_zero, is_known, number
from .rules import stem_of

Test = Callable[[Facts, str, int], bool | None]


def outside(f: Facts, node: str, least: float, most: float) -> bool | None:
    """Every element of the op's input lies outside of ]least, most[."""
    found = bounds(f.input(node))
    if found is None:
        return None
    value = f.input(node)
    if value is not None and value.numbers:
        outside = [not least < float(n) < most for n in value.numbers if not isinstance(n, complex)]
        return True if all(outside) else None if any(outside) else False
    return True if found[1] <= least or found[0] >= most else None if found[0] <= least or found[1] >= most else False


def _among(are: list[bool]) -> bool | None:
    """All are so, none is; or some: then it depends on where something arrives."""
    return True if all(are) else None if any(are) else False


def _zeros(value: Value) -> bool | None:
    """All elements are 0, none is, or some."""
    return PROPERTIES["zero"](value) or (None if has_zero(value) else False)


def at_most(f: Facts, node: str, least: float) -> bool | None:
    """No element of the op's input is greater than this."""
    return outside(f, node, least, float("inf"))


def is_whole_loss(f: Facts, node: str) -> bool:
    """The loss is 0, and the sum or mean of this node's result (or that itself): if none of it is negative, all is 0."""
    senders = [n for k in range(f.nodes[node].outputs) for n, _ in f.senders.get((node, k), ())]
    if len(senders) == 1 and f.called(senders[0]).startswith(("Sum", "Mean")):
        node = senders[0]
    is_root = [n for n, _ in f.starts] == [node] and not f.senders.get((node, 0))
    return is_root and all(PROPERTIES["zero"](f.tensors[t].value) for t in f.loss)


def margin(f: Facts, node: str, i: int) -> bool | None:
    """A loss that is never negative."""
    return is_whole_loss(f, node) or None


def relu(f: Facts, node: str, i: int) -> bool | None:
    """Nothing that it was given is positive (or above its threshold)."""
    result = f.result(node)
    if f.input(node) is None and result is None and is_whole_loss(f, node):
        return True
    if f.input(node) is None and result is not None:
        return _zeros(result) if stem_of(f, node) == "Relu" else None
    return at_most(f, node, number(f.plain(node, "threshold")) or 0.0)


def clamp(f: Facts, node: str, i: int) -> bool | None:
    """All that it was given lies outside its bounds."""
    low = number(f.plain(node, "min") or f.plain(node, "min_val"))
    high = number(f.plain(node, "max") or f.plain(node, "max_val"))
    if low == 0 and high is None and f.input(node) is None and is_whole_loss(f, node):
        return True
    return outside(f, node, -float("inf") if low is None else low, float("inf") if high is None else high)


def shrink(f: Facts, node: str, i: int) -> bool | None:
    """All that it was given lies inside its threshold."""
    found, limit = bounds(f.input(node)), number(f.plain(node, "lambd")) or 0.5
    if found is None or found[0] > limit or found[1] < -limit:
        return None if found is None else False
    return True if -limit <= found[0] and found[1] <= limit else None


def rounded(f: Facts, node: str, i: int) -> bool | None:
    """A division that rounds down."""
    return f.plain(node, "rounding_mode") not in ("", "None")


def quotient(f: Facts, node: str, i: int) -> bool | None:
    """It rounds down; or what is divided is 0, by which the divisor's gradient is multiplied."""
    if rounded(f, node, i):
        return True
    divided = operand(f, node, 0, ("self",)) if i == 1 else None
    if i == 0:
        return False
    return None if divided is None else PROPERTIES["zero"](divided) or (None if has_zero(divided) else False)


def alike(f: Facts, node: str, i: int) -> bool | None:
    """All elements are equal, at which the rule of a spread sends 0."""
    found = bounds(f.input(node))
    return None if found is None else True if found[0] == found[1] else False if f.plain(node, "dim") in ("", "None") else None


def cropped(f: Facts, node: str, i: int) -> bool | None:
    """Padding by less than nothing takes elements away."""
    return None if "-" in (f.plain(node, "pad") or "-") else False


def always(f: Facts, node: str, i: int) -> bool | None:
    """It makes zeros of everything."""
    return True


def maybe(f: Facts, node: str, i: int) -> bool | None:
    """It can, and nobody knows."""
    return None


def factor(f: Facts, node: str, i: int) -> bool | None:
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


def convolution(f: Facts, node: str, i: int) -> bool | None:
    """What the input is folded with is all zero."""
    other = f.input(node, 1 - i) if i < 2 else None
    return None if other is None else PROPERTIES["zero"](other) or None


def matrices(f: Facts, node: str, i: int) -> bool | None:
    """`addmm(bias, a, b)`: the bias gets its gradient whatever the matrices hold."""
    other = f.input(node, 3 - i) if i else None
    return None if other is None else PROPERTIES["zero"](other) or (None if has_zero(other) else False)


def below(limit: float) -> Test:
    """Every element of the input lies so far below 0 that the derivative is 0 in single precision."""

    def holds(f: Facts, node: str, i: int) -> bool | None:
        found = bounds(f.input(node))
        return None if found is None else True if found[1] <= -limit else None if found[0] <= -limit else False

    return holds


def overwritten(f: Facts, node: str, i: int) -> bool | None:
    """What was there before is the first that the op was given."""
    return True if i == 0 else None


def norm_of_zero(f: Facts, node: str, i: int) -> bool | None:
    """The norm is 0, at which its rule sends 0."""
    result = f.result(node)
    return is_whole_loss(f, node) or None if result is None else _zeros(result)


def saturated(limit: float, ends: tuple[float, ...] = ()) -> Test:
    """Every element of the input lies beyond the limit, or of the result at its ends."""

    def holds(f: Facts, node: str, i: int) -> bool | None:
        result = f.result(node)
        if result is not None and result.numbers and ends:
            at_end = [n in ends for n in result.numbers]
            return True if all(at_end) else None if any(at_end) else False
        return outside(f, node, -limit, limit)

    return holds


def power(f: Facts, node: str, i: int) -> bool | None:
    """Its derivative is zero: of a power above 1 at 0, and of the power 0."""
    exponent = number(f.plain(node, "exponent"))
    if exponent == 0:
        return True
    base = f.input(node)
    if base is None or exponent is None:
        return None
    return _zeros(base) if exponent > 1 else False


def at_zero(f: Facts, node: str, i: int) -> bool | None:
    """All that it was given is zero."""
    value = f.input(node)
    return None if value is None else _zeros(value)


def equal(f: Facts, node: str, i: int) -> bool | None:
    """It compares equal values."""
    a, b = f.input(node, 0), f.input(node, 1)
    if a is None or b is None or not a.numbers or len(a.numbers) != len(b.numbers):
        return None
    return _among([x == y for x, y in zip(a.numbers, b.numbers, strict=True)])


def masked(f: Facts, node: str, i: int) -> bool | None:
    """The condition of where, or the mask of masked_fill, chooses the other everywhere."""
    name, other = ("condition", i == 0) if "Where" in f.called(node) else ("mask", True)
    mask = next((s.value for s in f.nodes[node].saved if s.name == name), None)
    if mask is None or mask.summary is not None:
        return None
    chosen_other = [bool(n) != (name == "condition") for n in mask.numbers]
    return _among(chosen_other if other else [not o for o in chosen_other])


def ignored(f: Facts, node: str, i: int) -> bool | None:
    """Every target is the one that does not count."""
    target = next((s.value for s in f.nodes[node].saved if s.name == "target"), None)
    index = number(f.plain(node, "ignore_index"))
    if target is None and [n for n, _ in f.starts] == [node] and any(PROPERTIES["nan"](f.tensors[t].value) for t in f.loss):
        return True  # the mean of nothing is nan
    return None if target is None or not target.numbers or index is None else _among([n == index for n in target.numbers])


def padded(f: Facts, node: str, i: int) -> bool | None:
    """All that is looked up is the row of the padding."""
    saved = [s.value for s in f.nodes[node].saved if s.name == "indices"]
    given = [t.value for t in f.inputs(node) if not is_differentiable(t.value.dtype)]
    indices = next((v for v in (*saved, *given) if v is not None and v.numbers), None)
    padding = number(f.plain(node, "padding_idx"))
    if padding is None or padding < 0:
        return None
    return None if indices is None else all(n == padding for n in indices.numbers) or None


def alone(f: Facts, node: str, i: int) -> bool | None:
    """The dimension that it is taken over has one element."""
    dim, shape = number(f.plain(node, "dim")), next((t.value.shape for t in f.inputs(node)), ())
    return True if dim is not None and -len(shape) <= dim < len(shape) and shape[int(dim)] == 1 else None


def dropped(f: Facts, node: str, i: int) -> bool | None:
    """It drops everything."""
    p = number(f.plain(node, "p"))
    return None if p is None else p == 1.0
