"""Why a tensor does not require grad."""

from __future__ import annotations

from ... import words
from ...graph.surroundings import Source
from ..sentences import is_differentiable
from .cause import Cause
from .history import Op
from .paths import CUTS, is_op, origins
from .question import Question
from .spelling import spelled

# the sentence for an op that detaches; other ops are called by their name
HOW = {
    "detach": "cut_detach", "detach_": "cut_detach", "data": "cut_data", "tensor": "cut_new", "as_tensor": "cut_new",
    "Tensor": "cut_new", "Parameter": "cut_leaf", "numpy": "cut_number", "item": "cut_number", "tolist": "cut_number",
    "grad": "cut_gradient", "__array__": "cut_number", "__float__": "cut_number",
    "__int__": "cut_number", "__bool__": "cut_number", "__index__": "cut_number",
}  # fmt: skip
NUMBERS = ("item", "tolist", "numpy", "__float__", "__array__", "__int__")


# the library's function that switched grad mode off -> the kind of cause
MODES = {"sample": "cut_sample", "checkpoint": "cut_checkpoint", "set_grad_enabled": "cut_mode"}
UPDATES = ("sub", "add", "__sub__", "__add__", "addcmul", "mul")


def cut_at(q: Question, op: Op, path: str = "") -> Cause:
    """The cause for an op that detached its result. For a grad mode that was left off, its line."""
    said = {"op": spelled(op)}
    if op.name in HOW or op.cut == "op":
        return Cause(f"{path}{HOW.get(op.name, 'cut_op')}", source=op.source, said=said)
    mode = q.history.mode_of(op) if op.cut == "no_grad" else None
    kind = "cut_inference" if op.cut == "inference" else MODES.get("" if mode is None else mode.name, "cut_no_grad")
    if kind == "cut_no_grad" and not path and _is_update(q, op):
        kind = "cut_update"
    source = mode.source if mode is not None and kind == "cut_mode" else op.source
    return Cause(f"{path}{kind}", source=source, said=said)


def _is_update(q: Question, op: Op) -> bool:
    """Is it `a = a - lr * a.grad`? The result has the name of its input, a leaf."""
    leaves = [g for g in op.given if not is_op(g)]
    return op is q.history.op_of(q.tensor) and op.name in UPDATES and all(q.name_of(leaf) is None for leaf in leaves)


def without_grad(q: Question) -> list[Cause]:
    """Why the tensor does not require grad."""
    op = q.history.op_of(q.tensor)
    found = lost(q, op) if op is not None and (op.given or op.cut in CUTS) else []
    early = None if found else q.history.early(q.tensor)
    if early is not None:
        operand = q.name_of(early[1]) or words.THE_TENSOR
        return [Cause("made_early", source=early[0].source, said={"op": spelled(early[0]), "operand": operand})]
    return found or [_not_required(q)]


def _not_required(q: Question) -> Cause:
    """None of its inputs has a history, as far as is known."""
    t, name = q.tensor, str(q.tensor.dtype).rpartition(".")[2]
    off, numbers = q.history.events_of(t, "switched_off"), _numbers_before(q)
    if not is_differentiable(name):
        return Cause("dtype", source=_made(q), said={"dtype": name})
    if t.is_inference():
        return Cause("inference", source=_made(q))
    if off:
        return Cause("switched_off", source=off[-1].source)
    if numbers is not None:
        return Cause("made_of_number", source=numbers.source, said={"op": spelled(numbers)})
    op = q.history.op_of(t)
    return Cause(q.history.unmade(t), source=_made(q) or (None if op is None else op.source))


def lost(q: Question, op: Op) -> list[Cause]:
    """Where the inputs of an op lost their history: at most two places."""
    found = sorted((cut_at(q, cut) for cut in origins(op)), key=lambda c: c.kind != "cut_gradient")
    return list({_line(c.source): c for c in reversed(found)}.values())[::-1][:2]


def _made(q: Question) -> Source | None:
    found = q.history.events_of(q.tensor, "made", "placed")
    return found[-1].source if found else None


def _numbers_before(q: Question) -> Op | None:
    """The last tensor with a history that became a number, in the statement that made this one, or shortly before."""
    made = q.history.events_of(q.tensor, "made")
    if not made:
        return None
    before = [op for op in q.history.left if op.number < made[-1].number and op.name in NUMBERS]
    last = before[-1] if before else None
    same = last is not None and last.source is not None and made[-1].source is not None
    return last if same and last is not None and _line(last.source) == _line(made[-1].source) else None


def _line(source: Source | None) -> tuple[str, int] | None:
    return None if source is None else (source.file, source.line)
