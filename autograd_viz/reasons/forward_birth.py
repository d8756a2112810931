"""Where nan and inf came into the forward pass: back from the loss, as long as what an op was given has them."""

from __future__ import annotations

import math
from typing import NamedTuple

from .. import words
from ..graph.model import Op, Source, Tensor, Value
from ..graph.text import shape_text, value_text
from .backward_lines import backward_line
from .cause import Cause
from .changes import changed_line, has_steps
from .code import statement_of
from .facts import Facts
from .hazards import has_too_few, value_with
from .loss_code import statements_of_loss
from .numbers import bounds, has_zero, is_known, number
from .since import changed_since
from .suspects import forward_suspects, has_maker, is_empty
from .walls import range_text
from .written_numbers import writes_infinity, written_at_place, written_behind

MOST = 4  # leaves that are named
MOST_HANDED = 50  # ops that are looked through
BAD = ("nan", "inf")
FILLS = ("MaskedFill", "Where", "MaskedScatter", "Fill")  # ops that put numbers where the user wants them
INFINITE_AT_0 = ("Div", "Reciprocal", "Rsqrt", "Pow", "Log", "Xlogy", "Digamma", "Polygamma")  # ops, where they are infinite
INFINITE = (
    "CtcLoss",
    "Log1p",
    "Logit",
    "Atanh",
    "Erfinv",
    "Tan",
    "Lgamma",
    "Std",
    "Var",
    "Softmax",
    "LogSoftmax",
    "Fill",
    "Full",
)
HAND_ON = (  # of finite numbers they make finite ones, unless these are huge
    "Neg", "Sum", "Mean", "LogSoftmax", "Softmax", "View", "UnsafeView", "Reshape", "T", "Transpose", "Permute", "Squeeze",
    "Unsqueeze", "Expand", "Clone", "Select", "Slice", "Index", "Gather", "Abs", "Relu", "Alias", "ToCopy",
)  # fmt: skip
OPERANDS = {  # how many tensors or numbers are combined; of finite ones they make finite ones, bar overflow and division by 0
    "Add": 2, "Sub": 2, "Rsub": 2, "Mul": 2, "Div": 2, "Mm": 2, "Bmm": 2, "Mv": 2, "Dot": 2, "Addmm": 3, "Addmv": 3,
    "Baddbmm": 3, "Convolution": 3,
}  # fmt: skip
PUT = ("given", "forward_put", "forward_written")  # nobody computed it


class _Walk(NamedTuple):
    """What was found on the ways back from the loss.

    Attributes:
        origins: where they begin, nearest first.
        nan_at: the op that made nan of what had none, if one did.
        is_open: a way ended where nobody knows what an op was given.
        is_late: a way ended at a leaf that was changed since.
    """

    origins: list[Cause]
    nan_at: Op | None
    is_open: bool
    is_late: bool


def forward_births(f: Facts) -> list[Cause]:
    """What brought nan or inf into the forward pass, if the loss itself is nan or inf; empty if it is not, or nobody knows."""
    root = next((r for r in f.loss if value_with(f.tensors[r].value, BAD)), None)
    if root is None:
        return []
    walk = _walked(f, root)
    if walk.origins:
        return _told(f, walk)
    what = value_with(f.tensors[root].value, BAD) or "nan"
    late = None if has_maker(f, what) else diverged(f)
    if walk.is_late and not walk.is_open:
        return [] if late is None else [late]
    known = _given(f) or late
    if known is not None:
        return [known]
    said = {"what": what, "suspects": forward_suspects(f, what)}
    return [Cause("loss_bad" if said["suspects"] else "loss_given", f.loss, said=said), *_written(f)]


def births_of(f: Facts, tensor: str) -> list[Cause]:
    """What brought nan or inf into a tensor of the forward pass that holds it, if that is known."""
    walk = _walked(f, tensor)
    return _told(f, walk) if walk.origins else _written(f)


def _told(f: Facts, walk: _Walk) -> list[Cause]:
    """The nearest origin, those before others that an op made; and the op that made nan of an inf that was put there."""
    made = next((c for c in walk.origins if c.kind not in PUT), walk.origins[0])
    made = _overflow_behind(f, made) or made
    is_mixed = made.kind in PUT and made.said.get("what") == "inf"
    found = [_nan_of_inf(walk.nan_at), made] if is_mixed and walk.nan_at is not None else [made]
    is_open = made.kind == "forward_constant" or (made.kind in PUT and made.source is None)
    return found + (_written(f, "written_there") if is_open else [])


def _overflow_behind(f: Facts, made: Cause) -> Cause | None:
    """An overflow on the way to what an op was undefined at: the 0 of which log() makes inf may be 1 divided by inf."""
    seen, stack = {*made.tensors}, [*made.tensors] if made.kind == "forward_born" else []
    while stack:
        op = f.makers.get(stack.pop())
        inputs = [] if op is None else [f.tensors[o.tensor] for o in op.inputs if o.tensor is not None]
        holds = op is not None and any(o is not None and value_with(f.tensors[o].value, ("inf",)) for o in op.outputs)
        cause = _began(f, op, inputs, "inf") if op is not None and holds and not _bad_inputs(op, inputs) else None
        if cause is not None and cause.kind == "forward_overflow":
            return cause
        stack += [t.id for t in inputs if t.id not in seen]
        seen.update(t.id for t in inputs)
    return None


def _written(f: Facts, kind: str = "written") -> list[Cause]:
    """The line on the way to the loss in which such a number is written, if there is one."""
    line = written_behind(statements_of_loss(f))
    return [] if line is None else [Cause(kind, f.loss, source=line)]


def _walked(f: Facts, root: str) -> _Walk:
    found: list[Cause] = []
    nan_at, is_open, is_late = None, False, False
    what = {root: value_with(f.tensors[root].value, BAD) or "nan"}
    stack = [root]
    while stack:
        at = stack.pop()
        op = f.makers.get(at)
        if op is None:
            found.append(_there_before(f, at))
            continue
        inputs = [f.tensors[o.tensor] for o in op.inputs if o.tensor is not None]
        bad = _bad_inputs(op, inputs)
        late = [id for id in bad if f.makers.get(id) is None and changed_since(f, id)]
        if late and len(late) == len(bad):  # what they held then, nobody knows
            is_late, is_open = True, is_open or not all(is_known(t.value) for t in inputs)
            continue
        if what[at] == "nan" and {*bad.values()} == {"inf"}:
            nan_at = nan_at or op
        cause = _began(f, op, inputs, what[at]) if not bad else None
        is_open = is_open or (not bad and cause is None)
        found += [] if cause is None else [cause]
        new = {id: w or what[at] for id, w in bad.items() if id not in what and id not in late}
        what.update(new)
        stack += reversed(new)
    return _Walk(found, nan_at, is_open, is_late)


def _bad_inputs(op: Op, inputs: list[Tensor]) -> dict[str, str]:
    """Those that hold nan, else those that hold inf; "" for one that nobody knows, and that must hold either."""
    nan = {t.id: "nan" for t in inputs if value_with(t.value, ("nan",))}
    inf = {t.id: "inf" for t in inputs if value_with(t.value, ("inf",))}
    if nan or inf:
        return nan or inf
    is_alone = len(inputs) == 1 and not is_known(inputs[0].value) and op.name in HAND_ON and 0 not in inputs[0].value.shape
    return {inputs[0].id: ""} if is_alone else {}


def _began(f: Facts, op: Op, inputs: list[Tensor], what: str) -> Cause | None:
    """The op made it, or was given it as a number, or put it there; None if nobody knows what it was given."""
    if not all(is_known(t.value) or _is_finite(f, t.id) for t in inputs):
        return None
    ids, nodes = tuple(o for o in op.outputs if o is not None), () if op.node is None else (op.node,)
    numbers = [n for o in op.inputs if o.tensor is None and (n := number(o.text)) is not None]
    if _is_half_known(op) and (op.name not in (*FILLS, *OPERANDS) or op.name == "Convolution"):
        return None
    made = next((w for id in ids if (w := value_with(f.tensors[id].value, BAD))), what)
    said = {"what": made, "op": op.name, "inputs": _of(f, op)}
    return Cause(_kind(f, op, inputs, numbers, what), ids, nodes, op.source, said)


def _is_half_known(op: Op) -> bool:
    """It was given something that the graph has not kept, as a tensor that requires no gradient."""
    is_short = op.reconstructed and len(op.inputs) < OPERANDS.get(op.name, 0)
    return is_short or any(o.tensor is None and o.text == "?" for o in op.inputs)


def _is_finite(f: Facts, tensor: str) -> bool:
    """It was made of finite numbers alone, by ops that make finite ones of them."""
    for _ in range(MOST_HANDED):
        op = f.makers.get(tensor)
        inputs = [] if op is None else [o.tensor for o in op.inputs if o.tensor is not None]
        if op is None or op.name not in HAND_ON or len(inputs) != 1 or 0 in f.tensors[inputs[0]].value.shape:
            return False
        tensor = inputs[0]
        if is_known(f.tensors[tensor].value):
            return value_with(f.tensors[tensor].value, BAD) is None
    return False


def _kind(f: Facts, op: Op, inputs: list[Tensor], numbers: list[float], what: str) -> str:
    """How an op came to it that was given tensors of finite numbers alone."""
    if op.name in FILLS:
        return "forward_put"
    if not all(map(math.isfinite, numbers)):
        return "forward_written"
    if _is_half_known(op):
        return "forward_constant"
    if what == "inf":
        return "forward_overflow" if _overflows(op, [t.value for t in inputs], numbers) else "forward_born"
    if op.node is not None and has_too_few(f, op.node):
        return "forward_few"
    is_of_nothing = op.node is not None and is_empty(f, op.node)
    return "forward_empty" if is_of_nothing else "forward_weightless" if op.name.startswith("NllLoss") else "forward_born"


def _overflows(op: Op, inputs: list[Value], numbers: list[float]) -> bool:
    """It made inf of finite numbers, and not because it is infinite where they are."""
    at_zero = op.name.startswith(INFINITE_AT_0) and (0.0 in numbers or any(has_zero(v) or not is_known(v) for v in inputs))
    return not at_zero and not op.name.startswith(INFINITE)


def _nan_of_inf(op: Op) -> Cause:
    ids = tuple(o for o in op.outputs if o is not None)
    return Cause("nan_of_inf", ids, () if op.node is None else (op.node,), op.source, {"op": op.name})


def _of(f: Facts, op: Op) -> str:
    return "; ".join(_shown(f.tensors[o.tensor].value) if o.tensor is not None else o.text for o in op.inputs if o.text != "?")


def _shown(value: Value) -> str:
    """The elements; of many the shape and the range."""
    text = value_text(value)
    return text if text != shape_text(value.shape) or bounds(value) is None else f"{text}: {range_text(value)}"


# -- what was there before any op -------------------------------------------------------------------------------------


def _there_before(f: Facts, leaf: str) -> Cause:
    """A tensor that no op made holds it."""
    t = f.tensors[leaf]
    line: Source | None = t.source if t.requires_grad else written_at_place(t.source) or t.source
    said = {"what": value_with(t.value, BAD) or "nan", "tensor": t.name or words.THE_TENSOR}
    users = [op.node for op in f.users.get(leaf, ()) if op.node is not None]
    made = statement_of(t.source)
    is_stepped = t.requires_grad and has_steps(f.here) and not (made is not None and writes_infinity(made.node))
    return Cause("given_leaf" if is_stepped else "given", (leaf,), tuple(users[:1]), line, said)


def _given(f: Facts) -> Cause | None:
    """A leaf that the loss was computed from holds it."""
    leaves = [id for id in f.behind_loss if f.makers.get(id) is None and value_with(f.tensors[id].value, BAD)]
    leaf = next((id for id in leaves if not changed_since(f, id)), None)
    return None if leaf is None else _there_before(f, leaf)


def diverged(f: Facts) -> Cause | None:
    """Leaves hold it now, since an optimizer's step at the latest: after one such step all later losses have it."""
    leaves = [id for id in f.tensors if id in f.behind_loss and id not in f.makers]
    bad = {id: what for id in leaves if (what := value_with(f.tensors[id].value, BAD))}
    named = [id for id in bad if f.tensors[id].requires_grad and f.tensors[id].name is not None and changed_since(f, id)]
    if not named:
        return None
    ran = backward_line(f.here)
    step = None if ran is None else changed_line(f.tensors[named[0]].name or "", f.here, ran)
    what = value_with(f.tensors[f.loss[0]].value, BAD) or bad[named[0]]
    names = [f.tensors[id].name or "" for id in named[:MOST]] + ["…"] * (len(named) > MOST)
    said = {"what": what, "leaves": words.COMMA.join(names)}
    return Cause("diverged", tuple(named), source=step, said=said)
