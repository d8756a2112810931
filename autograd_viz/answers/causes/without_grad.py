"""Why a tensor does not require grad."""

from __future__ import annotations

from ... import words
from ...graph.surroundings import Source
from ..sentences import is_differentiable
from .cause import Cause, cause_of, source_of
from .code import spelled
from .history import Op
from .paths import CUTS, cuts_between, is_op, origins
from .question import Question

# the sentence for an op that detaches; other ops are called by their name
NUMBERS = ("item", "tolist", "numpy", "__float__", "__array__", "__int__")
HOW = {
    "detach": "cut_detach", "detach_": "cut_detach", "data": "cut_data", "tensor": "cut_new", "as_tensor": "cut_new",
    "Tensor": "cut_new", "Parameter": "cut_leaf", "grad": "cut_gradient",
    **dict.fromkeys((*NUMBERS, "__bool__", "__index__"), "cut_number"),
}  # fmt: skip
# the library's function that switched grad mode off -> the kind of cause
MODES = {"sample": "cut_sample", "checkpoint": "cut_checkpoint", "set_grad_enabled": "cut_mode"}
UPDATES = ("sub", "add", "__sub__", "__add__", "addcmul", "mul")


def without_grad(q: Question) -> list[Cause]:
    """Why the tensor does not require grad."""
    found = lost(q, q.op) if q.op is not None and (q.op.given or q.op.cut in CUTS) else []
    if found or (early := q.history.early(q.tensor)) is None:
        return found or [_not_required(q)]
    op, operand = early
    return [cause_of("made_early", op, op=spelled(op), operand=q.name_of(operand) or words.THE_TENSOR)]


def _not_required(q: Question) -> Cause:
    """None of its inputs has a history, as far as is known."""
    made, dtype = q.events("made", "placed"), str(q.tensor.dtype).rpartition(".")[2]
    at = made[-1] if made else None
    if not is_differentiable(dtype):
        return cause_of("dtype", at, dtype=dtype)
    if q.tensor.is_inference():
        return cause_of("inference", at)
    if off := q.events("switched_off"):
        return cause_of("switched_off", off[-1])
    if (number := _number_before(q)) is not None:
        return cause_of("made_of_number", number, op=spelled(number))
    return Cause(q.history.unmade(q.tensor), source=source_of(at) or source_of(q.op))


def _number_before(q: Question) -> Op | None:
    """The last tensor with a history that became a number, in the statement that made this one, or shortly before."""
    made = q.events("made")
    before = [op for op in q.history.left if made and op.number < made[-1].number and op.name in NUMBERS]
    is_there = before and _line(before[-1].source) == _line(made[-1].source) is not None
    return before[-1] if is_there else None


def lost(q: Question, op: Op) -> list[Cause]:
    """Where the inputs of an op lost their history: at most two places."""
    found = sorted((cut_at(q, cut) for cut in origins(op)), key=lambda c: c.kind != "cut_gradient")
    return list({_line(c.source): c for c in reversed(found)}.values())[::-1][:2]


def _line(source: Source | None) -> tuple[str, int] | None:
    return None if source is None else (source.file, source.line)


def cuts_before(q: Question, root: Op | None) -> list[Cause]:
    """Where the path from the tensor to a root lost its history: at most two places."""
    return [] if root is None else [cut_at(q, c, "path_") for c in cuts_between(root, q.subject)[:2]]


def cut_at(q: Question, op: Op, path: str = "") -> Cause:
    """The cause for an op that detached its result. For a grad mode that was left off, its line."""
    mode = q.history.mode_of(op) if op.cut == "no_grad" else None
    if op.name in HOW or op.cut == "op":
        kind = HOW.get(op.name, "cut_op")
    elif op.cut == "inference":
        kind = "cut_inference"
    else:
        kind = MODES.get("" if mode is None else mode.name, "cut_no_grad")
        kind = "cut_update" if kind == "cut_no_grad" and not path and _is_update(q, op) else kind
    return cause_of(path + kind, mode if mode is not None and kind == "cut_mode" else op, op=spelled(op))


def _is_update(q: Question, op: Op) -> bool:
    """Is it `a = a - lr * a.grad`? The result has the name of its input, a leaf."""
    leaves = [g for g in op.given if not is_op(g)]
    return op is q.op and op.name in UPDATES and all(q.name_of(leaf) is None for leaf in leaves)
