"""Where nan and inf began in the forward pass, for bad_numbers.py. It goes back from the loss while inputs have them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from ... import words
from ...graph.model import Op, Tensor
from ...graph.op_names import plain_name
from ..causes.cause import Cause
from ..causes.code import spelling
from ..causes.facts import Facts
from ..causes.numbers import BAD, bounds, elements_text, has_zero, is_known, number, value_with
from .nan_sources import has_too_few, nan_source

MOST = 2  # leaves that the answer names
MOST_HANDED = 50  # ops that are followed
FILLS = ("MaskedFill", "Where", "MaskedScatter", "Fill")  # ops that write numbers where the user wants them
INFINITE_AT_0 = ("Div", "Reciprocal", "Rsqrt", "Pow", "Log", "Xlogy", "Digamma", "Polygamma")  # ops, where they are infinite
INFINITE = (
    "CtcLoss", "Log1p", "Logit", "Atanh", "Erfinv", "Tan", "Lgamma", "Std", "Var", "Softmax", "LogSoftmax", "Fill", "Full",
)  # fmt: skip
HAND_ON = (  # finite inputs give finite results, unless they are huge
    "Neg", "Sum", "Mean", "LogSoftmax", "Softmax", "View", "UnsafeView", "Reshape", "T", "Transpose", "Permute", "Squeeze",
    "Unsqueeze", "Expand", "Clone", "Select", "Slice", "Index", "Gather", "Abs", "Relu", "Alias", "ToCopy",
)  # fmt: skip
ALIKE = (  # a nan or inf in an input gives a nan or inf in the result
    "Add", "Sub", "Rsub", "Mul", "Mm", "Bmm", "Mv", "Dot", "Addmm", "Neg", "Sum", "Mean", "View", "UnsafeView", "Reshape", "T",
    "Transpose", "Permute", "Squeeze", "Unsqueeze", "Expand", "Clone", "Abs", "Alias", "Cat", "Stack",
)  # fmt: skip
JOIN = ("Cat", "Stack")  # the same, for several inputs
LINEAR = ("Add", "Sub", "Rsub", "Mul", "Div")  # a nan is one of an operand, if not 0 times inf, inf minus inf, or 0 / 0
OPERANDS = {  # number of operands; finite ones give finite results, except for overflow and division by 0
    "Add": 2, "Sub": 2, "Rsub": 2, "Mul": 2, "Div": 2, "Mm": 2, "Bmm": 2, "Mv": 2, "Dot": 2, "Addmm": 3, "Addmv": 3,
    "Baddbmm": 3, "Convolution": 3,
}  # fmt: skip
ROWS = ("Softmax", "LogSoftmax")
LOGARITHMS = ("Log", "Log2", "Log10", "Log1P")
POLE_AT_0 = LOGARITHMS[:3]  # the result is -inf there
FACTORS = ("matmul", "mul", "imul", "rmul", "mm", "bmm", "einsum", "dot")  # of data
SPREAD = re.compile(r"\.(?:std|var)\((?!.*(?:correction|unbiased))")
PUT = ("given", "given_leaf", "forward_put", "forward_written")  # no op computed it


@dataclass
class _Walk:
    """What was found on the paths back from the loss."""

    origins: list[Cause] = field(default_factory=list)  # where they begin, the nearest first
    nan_at: Op | None = None  # the op that made the first nan, if one did
    late: list[str] = field(default_factory=list)  # leaves at the ends of paths that were changed since
    row: Op | None = None  # a softmax that returned nan
    first: Op | None = None  # the op nearest to the origin whose result is known to have it, and whose inputs are not
    is_open: bool = False  # at the end of a path the inputs of an op are unknown


def forward_births(f: Facts) -> list[Cause]:
    """The origin of nan or inf in the forward pass, if the loss has it; else empty."""
    root = next((r for r in f.loss if value_with(f.tensors[r].value)), None)
    if root is None:
        return []
    walk, what = _walk(f, root), value_with(f.tensors[root].value)
    if walk.origins:
        return _nearest(f, walk)
    if walk.row is not None:
        return [_at(walk.row, "forward_row")]
    if walk.late and not walk.is_open:
        return [_diverged(f, walk.late, what)]
    leaves = [id for id in f.behind_loss if f.makers.get(id) is None and value_with(f.tensors[id].value)]
    given = sorted((id for id in leaves if id not in f.changed_since), key=lambda leaf: f.tensors[leaf].requires_grad)
    if not given and walk.first is not None:
        return [_at(walk.first, "forward_first", what=_seen(f, walk.first))]
    sources = ((n, s) for n in f.pass_nodes if (s := nan_source(f, n)) is not None and s.kind == "born_weightless")
    without = None if given else next((f.op(n) for n, s in sources if s.holds(f, n)), None)  # a mean without targets
    unknown = "loss_bad_freed" if f.is_recorded else "loss_bad"
    lost = Cause(unknown, f.loss, said={"what": what}) if without is None else _at(without, "forward_weightless")
    return [there_before(f, given[0]) if given else lost]


def births_of(f: Facts, tensor: str) -> list[Cause]:
    """The origin of nan or inf in a tensor of the forward pass, if it is known."""
    walk = _walk(f, tensor)
    return _nearest(f, walk) or ([] if walk.row is None else [_at(walk.row, "forward_row")])


def _nearest(f: Facts, walk: _Walk) -> list[Cause]:
    """The nearest origin; an op comes before other origins. Also the op that made nan of an inf that was given."""
    if not walk.origins:
        return []
    made = next((c for c in walk.origins if c.kind not in PUT or _is_of_data(f, c)), walk.origins[0])
    made = _overflow_behind(f, made) or made
    is_mixed = made.kind in PUT and made.said.get("what") == "inf"
    return [_at(walk.nan_at, "nan_of_inf"), made] if is_mixed and walk.nan_at is not None else [made]


def _is_of_data(f: Facts, cause: Cause) -> bool:
    """Is it in data that the program gave, and no model made? A trained leaf has it by then, because of these."""
    leaf = f.tensors[cause.tensors[0]]
    return cause.kind in ("given", "given_made", "given_of_product") and not leaf.requires_grad and f.live.is_data(leaf.id)


def _overflow_behind(f: Facts, made: Cause) -> Cause | None:
    """An overflow before an op that is undefined there. log() makes inf of a 0, and the 0 may be 1 divided by inf."""
    seen, stack = {*made.tensors}, [*made.tensors] if made.kind == "forward_born" else []
    while stack:
        op = f.makers.get(stack.pop())
        inputs = f.inputs_of(op)
        holds = op is not None and any(o is not None and value_with(f.tensors[o].value, ("inf",)) for o in op.outputs)
        cause = _began(f, op, inputs, "inf") if op is not None and holds and not _bad_inputs(op, inputs, set()) else None
        if cause is not None and cause.kind == "forward_overflow":
            return cause
        stack += [t.id for t in inputs if t.id not in seen]
        seen.update(t.id for t in inputs)
    return None


def _walk(f: Facts, root: str) -> _Walk:
    walk, proven, stack = _Walk(), _proven(f), [root]
    what = {root: value_with(f.tensors[root].value) or "nan"}
    while stack:
        at = stack.pop()
        op = f.makers.get(at)
        if op is None or op.reason == "no_grad":  # nobody asks for its values
            walk.origins.append(there_before(f, at))
            continue
        inputs = f.inputs_of(op)
        bad = _bad_inputs(op, inputs, proven) or _bad_other(op, inputs, what[at])
        late = [id for id in bad if f.makers.get(id) is None and id in f.changed_since]  # their values at that time are unknown
        walk.late += [id for id in late if id not in walk.late]
        if op.name in ROWS and value_with(f.tensors[at].value) == "nan":
            walk.row = op
        if what[at] == "nan" and {*bad.values()} == {"inf"}:
            walk.nan_at = walk.nan_at or op
        cause = _began(f, op, inputs, what[at]) if not bad else None
        is_guess = cause is not None and cause.kind == "forward_constant" and not is_known(f.tensors[at].value)
        if is_guess and walk.row is not None:  # the constant may be a mask, and only softmax made nan of its -inf
            cause = None
        walk.origins += [] if cause is None else [cause]
        if not bad and cause is None and at != root and value_with(f.tensors[at].value):
            walk.first = walk.first or op
        walk.is_open |= (not bad and cause is None) or (bool(late) and not all(is_known(t.value) for t in inputs))
        new = {id: w or what[at] for id, w in bad.items() if id not in what and id not in late}
        what.update(new)
        stack += reversed(new)
    return walk


def _proven(f: Facts) -> set[str]:
    """Tensors of unknown value that must have nan or inf, because an input of their op has it."""
    found: set[str] = set()
    for op in f.document.ops:
        inputs = f.inputs_of(op)
        is_bad = any(t.id in found or value_with(t.value) for t in inputs)
        value = inputs[0].value if len(inputs) == 1 else None
        found_in = bounds(value) if op.name in (*POLE_AT_0, "Sqrt") else None  # undefined for negative numbers
        is_outside = (op.name in POLE_AT_0 and has_zero(value)) or (found_in is not None and found_in[0] < 0)
        if (op.name in ALIKE and is_bad) or is_outside:
            found.update(o for o in op.outputs if o is not None and not is_known(f.tensors[o].value))
    return found


def _bad_inputs(op: Op, inputs: list[Tensor], proven: set[str]) -> dict[str, str]:
    """Inputs that have nan, else those that have inf; "" for an unknown one that must have either."""
    nan, inf = ({t.id: what for t in inputs if value_with(t.value, (what,))} for what in BAD)
    if nan or inf:
        return nan or inf
    unknown = [t for t in inputs if not is_known(t.value)]
    is_alone = len(unknown) == 1 and op.name in (HAND_ON if len(inputs) == 1 else JOIN) and 0 not in unknown[0].value.shape
    return {t.id: "" for t in unknown if is_alone or t.id in proven}


def _bad_other(op: Op, inputs: list[Tensor], what: str) -> dict[str, str]:
    """The unknown operand of a sum or product that is nan, where the other is finite: it is nan, or its inf met a 0."""
    unknown = [t for t in inputs if not is_known(t.value)] if what == "nan" and op.name in LINEAR else []
    is_one = len(unknown) == 1 and not _is_half_known(op) and not (op.name == "Div" and has_zero(inputs[-1].value))
    is_either = op.name == "Mul" and any(has_zero(t.value) for t in inputs)
    what = words.NAN_OR_INF if is_either else what
    return {unknown[0].id: what} if is_one and 0 not in unknown[0].value.shape else {}


def _began(f: Facts, op: Op, inputs: list[Tensor], what: str) -> Cause | None:
    """The op made it, got it as a number, or had to write it. None if its inputs are unknown."""
    if op.name == "Div" and len(inputs) > 1 and has_zero(inputs[1].value):
        return _at(op, "forward_division", what=_quotient(f, op, inputs) or what)
    is_guess = _is_half_known(op) and (op.name not in (*FILLS, *OPERANDS) or op.name == "Convolution")
    if is_guess or not all(is_known(t.value) or _is_finite(f, t.id) for t in inputs):
        return None
    numbers = [n for o in op.inputs if o.tensor is None and (n := number(o.text)) is not None]
    given = [elements_text(f.tensors[o.tensor].value) if o.tensor else o.text for o in op.inputs if o.text != "?"]
    is_pole = (op.name in LOGARITHMS or (op.name == "Pow" and min(numbers, default=0) < 0)) and has_zero(inputs[0].value)
    made = _seen(f, op) or ("inf" if is_pole else what)
    kind = _kind(f, op, inputs, numbers, what)
    if kind == "forward_overflow" and any(f.tensors[o].value.dtype == "float16" for o in op.outputs if o is not None):
        made = f"{made} in float16"
    sign = "-" * (made == "inf" and op.name in LOGARITHMS and kind == "forward_born")
    return _at(op, kind, what=sign + made, inputs=words.COMMA.join(given))


def _quotient(f: Facts, op: Op, inputs: list[Tensor]) -> str:
    """What a division by 0 gave: its result is known, or its numbers are; "" if neither."""
    above, below = (t.value.numbers for t in inputs[:2])
    pairs = [*zip(above, below, strict=True)] if len(above) == len(below) else []
    made = (w for w, is_it in (("nan", 0), ("inf", 1)) if any(b == 0 and bool(a) == is_it for a, b in pairs))
    return _seen(f, op) or next(made, "")


def _seen(f: Facts, op: Op) -> str:
    """Which of nan and inf its first such result has; "" if none is known to have one."""
    return next((w for id in op.outputs if id is not None and (w := value_with(f.tensors[id].value))), "")


def _at(op: Op, kind: str, **said: str) -> Cause:
    ids, nodes = tuple(o for o in op.outputs if o is not None), () if op.node is None else (op.node,)
    return Cause(kind, ids, nodes, op.source, {"op": plain_name(op.name), **said})


def _is_half_known(op: Op) -> bool:
    """Has it an input that the graph has not kept, such as a tensor that requires no gradient?"""
    is_short = op.reconstructed and len(op.inputs) < OPERANDS.get(op.name, 0)
    return is_short or any(o.tensor is None and o.text == "?" for o in op.inputs)


def _is_finite(f: Facts, tensor: str) -> bool:
    """Was it made of finite numbers only, by ops that then give finite results?"""
    for _ in range(MOST_HANDED):
        op, inputs = f.makers.get(tensor), f.inputs_of(f.makers.get(tensor))
        if op is None or op.name not in HAND_ON or len(inputs) != 1 or 0 in inputs[0].value.shape:
            return False
        if is_known(inputs[0].value):
            return not value_with(inputs[0].value)
        tensor = inputs[0].id
    return False


def _kind(f: Facts, op: Op, inputs: list[Tensor], numbers: list[float], what: str) -> str:
    """How an op made it of tensors with finite numbers only."""
    if op.name in FILLS:
        return "forward_put"
    if not all(map(math.isfinite, numbers)):
        return "forward_written"
    if _is_half_known(op):
        return "forward_constant"
    return _kind_of_inf(op, inputs, numbers) if what == "inf" else _kind_of_nan(f, op)


def _kind_of_nan(f: Facts, op: Op) -> str:
    if op.node is not None and has_too_few(f, op.node):
        return "forward_few"
    if op.node is not None and any(0 in t.value.shape for t in f.inputs(op.node)[:1]):
        return "forward_empty"
    return "forward_weightless" if op.name.startswith("NllLoss") else "forward_born"


def _kind_of_inf(op: Op, inputs: list[Tensor], numbers: list[float]) -> str:
    """It overflowed, or it is infinite at this input."""
    is_at_zero = 0.0 in numbers or any(has_zero(t.value) or not is_known(t.value) for t in inputs)
    if op.name.startswith("CtcLoss"):
        return "forward_short"
    is_born = op.name.startswith(INFINITE) or (op.name.startswith(INFINITE_AT_0) and is_at_zero)
    return "forward_born" if is_born else "forward_overflow"


def there_before(f: Facts, leaf: str) -> Cause:
    """No recorded op made it of something that requires grad, and it holds nan or inf."""
    t = f.tensors[leaf]
    users = [op.node for op in f.users.get(leaf, ()) if op.node is not None]
    said = {"what": value_with(t.value) or "nan", "tensor": t.name or words.THE_TENSOR}
    if (made := f.live.made_of_data(leaf)) is not None:
        is_one = math.prod(made.detail or (0,)) == 1 and SPREAD.search(getattr(made.source, "expression", "")) is not None
        of_nan = "given_of_one" if is_one else "given_of_product" if made.name.strip("_") in FACTORS else "given_made"
        kind = of_nan if said["what"] == "nan" else "given_made"
        return Cause(kind, (leaf,), tuple(users[:1]), made.source, {**said, "op": spelling(made)})
    return Cause("given_leaf" if t.requires_grad else "given", (leaf,), tuple(users[:1]), t.source, said)


def _diverged(f: Facts, leaves: list[str], what: str) -> Cause:
    """Leaves have it now, and were changed since the pass: after one bad step all later losses have it."""
    changed = f.live.changed(*f.changed_since[leaves[0]])
    names = [f.tensors[id].name or words.THE_TENSOR for id in leaves[:MOST]] + ["…"] * (len(leaves) > MOST)
    said = {"what": what, "leaves": words.COMMA.join(names)}
    return Cause("diverged", tuple(leaves), source=None if changed is None else changed.source, said=said)
