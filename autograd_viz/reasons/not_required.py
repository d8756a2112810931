"""Why requires_grad is False: by its type, by where a tensor was made, or because nobody asked."""

from __future__ import annotations

import ast

from .. import words
from ..graph.model import Op
from ..graph.text import value_text
from ..sentences import is_differentiable
from .backward_lines import started_at
from .cause import Cause
from .changes import detached_line
from .code import alias_of, statement_of
from .cutting import Maker, detaching
from .facts import Facts, takes_the_shape
from .made import made_at, made_by
from .switches import switched_off_line

UNCUT = ("plain", "computed", "taken", "parameter")  # ways of making that cut nothing off


def not_required(f: Facts) -> Cause:
    """requires_grad is False: by its type, by where it was made, or because nobody asked."""
    t = f.subject
    if not is_differentiable(t.value.dtype):
        return Cause("dtype", (t.id,), source=made_at(f), said={"dtype": t.value.dtype})
    if f.live.is_inference(t.id):
        return Cause("inference", (t.id,), source=t.source)
    return _made_outside(f)


def _made_outside(f: Facts) -> Cause:
    """By the line that made it, or the line that switched it off."""
    t = f.subject
    op, read = f.makers.get(t.id), made_by(f)
    update = _update(f, read)
    if update is not None:
        return update
    detached = op.source if op is not None and op.name == "Detach" else detached_line(t.name, f.here)
    if detached is not None or (op is not None and op.name == "Detach"):
        return Cause("made_detach", (t.id,), source=detached)
    if read is not None and read.how not in UNCUT:
        return Cause(f"made_{read.how}", (t.id,), source=read.source, said={"what": read.what})
    other = alias_of(t.name, f.here) if t.source is None else None
    is_off = f.live.is_parameter(t.id)
    off = f.live.switched_at(t.id) or switched_off_line(t.name, f.here, is_off) or switched_off_line(other, f.here, is_off)
    if off is not None or is_off:
        return Cause("switched_off", (t.id,), source=off)
    return _not_asked(f, read) if op is None else _not_recorded(f, op)


def _update(f: Facts, read: Maker | None) -> Cause | None:
    """A step of gradient descent that makes a new tensor and gives it the leaf's name: `w = w - lr * w.grad`."""
    name = f.subject.name or ""
    made = statement_of(made_at(f) if read is None else read.source)
    value = getattr(made.node, "value", None) if made is not None and isinstance(made.node, ast.Assign) else None
    reads = {ast.unparse(n) for n in ast.walk(value) if isinstance(n, ast.Attribute | ast.Name)} if value is not None else set()
    is_update = made is not None and made.assigns(name) and {name, f"{name}.grad"} <= reads
    return Cause("made_update", (f.subject.id,), source=made.source) if made is not None and is_update else None


def _not_asked(f: Facts, read: Maker | None) -> Cause:
    """No op made it that is known: nobody asked, or it was computed where nothing is recorded."""
    t = f.subject
    if read is not None and read.how == "computed":
        return Cause("computed" if f.live.is_recording() else "mode_off", (t.id,), source=read.source)
    is_taken = read is not None and read.how == "taken"
    other = alias_of(t.name, f.here) if t.source is None else None
    line = t.source or (read.source if read and other is None else None)
    if is_taken and not f.live.is_recording():
        return Cause("mode_off", (t.id,), source=line)
    if read is None and t.name is None and t.source is None and _is_root_of_pass(f):
        return Cause("computed", (t.id,), source=f.here)
    is_made = (read is not None and read.how in ("plain", "parameter")) or (t.source is not None and not is_taken)
    return Cause("not_asked" if is_made else "not_asked_or_cut", (t.id,), source=line)


def _is_root_of_pass(f: Facts) -> bool:
    """The question is about a pass that failed, and it starts from something computed in its line."""
    asked = statement_of(f.here)
    return asked is not None and isinstance(started_at(asked.node), ast.Call | ast.BinOp | ast.List | ast.Tuple)


def _not_recorded(f: Facts, op: Op) -> Cause:
    """An op made it, and recorded nothing."""
    t = f.subject
    cutting = _cutting_op(f, t.id)
    if cutting is not None:
        return _cut_or_early(f, cutting)
    origins = _origins(f, t.id)
    names = words.COMMA.join(f.tensors[o].name or "" for o in origins)
    kind = "made_of_constants" if origins else "made_of_unnamed"
    return Cause(kind, (t.id, *origins), source=op.source, said={"op": op.name, "origins": names})


def _cut_or_early(f: Facts, op: Op) -> Cause:
    """An op was given something that requires grad, and its result does not: it never does, or it ran too early."""
    wanted = [o.tensor for o in op.inputs if o.tensor is not None and f.tensors[o.tensor].requires_grad]
    is_flat = any(not is_differentiable(f.tensors[o].value.dtype) for o in op.outputs if o is not None)
    said = {"op": op.name, "operand": _called(f, wanted[0])}
    if op.name == "Detach":
        cut = detaching(statement_of(op.source))
        how, what = ("detach", "") if cut is None or cut.how == "parameter" else (cut.how, cut.what)
        return Cause(f"made_{how}", (f.subject.id,), source=op.source, said={"what": what})
    if is_flat or takes_the_shape(op) or _is_recorded_elsewhere(f, wanted):
        return Cause("made_by_cutting_op", (f.subject.id,), source=op.source, said=said)
    return Cause("made_early", (f.subject.id,), source=op.source, said=said)


def _cutting_op(f: Facts, tensor: str) -> Op | None:
    """The op that made the tensor, or the nearest behind it, that was given something that requires grad."""
    seen, stack = {tensor}, [tensor]
    while stack:
        op = f.makers.get(stack.pop(0))
        operands = [] if op is None else [o.tensor for o in op.inputs if o.tensor is not None and o.tensor not in seen]
        if any(f.tensors[o].requires_grad for o in operands):
            return op
        seen.update(operands)
        stack += operands
    return None


def _origins(f: Facts, tensor: str) -> list[str]:
    """The tensors with names that it was computed from, and that could require grad."""
    seen, stack, found = {tensor}, [tensor], []
    while stack:
        op = f.makers.get(stack.pop())
        for operand in () if op is None else op.inputs:
            if operand.tensor is None or operand.tensor in seen:
                continue
            seen.add(operand.tensor)
            t = f.tensors[operand.tensor]
            if t.name and f.makers.get(t.id) is None and is_differentiable(t.value.dtype):
                found.append(t.id)
            stack.append(operand.tensor)
    return found[:4]


def _is_recorded_elsewhere(f: Facts, tensors: list[str]) -> bool:
    """Their ops do record: this op is one that never does."""
    return any(f.tensors[t].grad_fn is not None for t in tensors)


def _called(f: Facts, tensor: str) -> str:
    return f.tensors[tensor].name or value_text(f.tensors[tensor].value)
