"""Why grad is None: the tensor does not require grad, its path to the loss is cut, or no pass has written it."""

from __future__ import annotations

import linecache
import re
from typing import Any

from ... import words
from ...graph.surroundings import Source
from ...graph.text import few_names
from ..causes.cause import Cause, cause_of, source_of
from ..causes.code import maker_text, spelling
from ..causes.facts import Facts
from ..causes.history import Event, Op
from ..causes.ops import cuts_of
from ..causes.paths import CUTS, behind, cuts_between, is_op, leading_from, origins, reaches, with_history
from ..causes.question import Question
from ..sentences import is_differentiable
from .hooks import stop

# the sentence for an op that detaches; other ops are called by their name
NUMBERS = ("item", "tolist", "numpy", "__float__", "__array__", "__int__")
HOW = {
    "detach": "cut_detach", "detach_": "cut_detach", "data": "cut_data", "tensor": "cut_new", "as_tensor": "cut_new",
    "Tensor": "cut_new", "Parameter": "cut_leaf", "grad": "cut_gradient",
    **dict.fromkeys((*NUMBERS, "__bool__", "__index__"), "cut_number"),
}  # fmt: skip
# the library's function that switched grad mode off -> the kind of cause
MODES = {"sample": "cut_sample", "checkpoint": "cut_checkpoint", "set_grad_enabled": "cut_mode"}
PUTTING = re.compile(r"\.data\s*=(?!=)|\.copy_\(|load_state_dict\(|vector_to_parameters\(")  # takes numbers without a history
CLASSES = re.compile(r"\b(?:torch\.)?\w*Tensor\(")  # they ask each tensor of a list for its number
ASSIGNED, NEAR = re.compile(r"\s*(\w+)\s*="), 8  # lines
UPDATES = ("sub", "add", "__sub__", "__add__", "addcmul", "mul")


def missing(q: Question) -> list[Cause]:
    """Why the tensor has no gradient. The nearest cause comes first."""
    if not q.tensor.requires_grad:
        return without_grad(q)
    if q.history.is_running():
        return [Cause("running")]
    if q.is_leaf or q.tensor.retains_grad:
        return _leaf(q)
    is_beside = q.op is not None and q.op is not q.root_op and not q.is_reached_from(q.root_op)
    return [*(cuts_before(q, q.root_op) if is_beside else []), _not_leaf(q)]  # beside the loss, retain_grad() would not help


def _not_leaf(q: Question) -> Cause:
    """No leaf; or a leaf was made and used up at once: `torch.randn(3, requires_grad=True) * 0.1`, `w = w.to(device)`."""
    leaves = [] if q.op is None else [g for o in behind([q.op]) for g in o.given if not is_op(g)]
    is_lost = len({*leaves}) == 1 and q.name_of(leaves[0]) is None and q.name_of(q.tensor)
    op, roots = q.op, [p.root for p in q.passes if q.op is not None and p.root is not None and p.number < q.op.number]
    is_update = is_lost and op is not None and op.name in UPDATES and any(reaches(r, leaves[0]) for r in roots)
    kind = "leaf_updated" if is_update else "leaf_lost" if is_lost else "not_leaf"
    return cause_of(kind, q.op, op=maker_text(q.op, q.tensor))


def _leaf(q: Question) -> list[Cause]:
    """A leaf that could have a gradient. No pass ran, the pass did not reach it, or its gradient was cleared."""
    last, made = q.last, q.events("made", "placed")
    if last is None or (made and made[0].number > last.number):
        return _no_pass(q, made)
    if (since := _since(q, last, made)) is not None:
        return [since]
    if q.is_reached_from(q.root_op):
        return [_through(q, last)]
    cuts, is_known = cuts_before(q, q.root_op), q.history.is_whole  # else the ops inside of a model may have used it
    return cuts or (_unused(q, last, q.history.used(q.tensor)) if is_known else [Cause("not_recorded")])


def _since(q: Question, last: Any, made: list[Event]) -> Cause | None:
    """What happened in the last pass or after it, or too late for it."""
    cleared, on = [c for c in q.history.clearings(q.tensor) if c.number > last.number], q.events("switched_on")
    roots = [p.root for p in q.passes if p.root is not None]
    if cleared and (not roots or any(map(q.is_reached_from, roots))):
        return _cleared(q, last, cleared[0])
    if last.error:
        return cause_of("failed", last, error=last.error.split("\n")[0][:90])
    if on and on[-1].number > last.number:
        return cause_of("late", on[-1])
    if made and q.root_op is not None and made[-1].number > q.root_op.number:
        return cause_of("made_after", made[-1])
    return None


def _no_pass(q: Question, made: list[Event]) -> list[Cause]:
    if not q.history.is_recorded:
        return _stepped(q.facts) or _unwatched(q.facts)
    grads = [p for p in q.history.passes if p.name == "grad" and (not made or p.number > made[0].number)]
    by_hand, cleared = q.events("set"), q.history.clearings(q.tensor)
    if by_hand and cleared and cleared[-1].number > by_hand[-1].number:
        return [cause_of("set_cleared", cleared[-1], by=spelling(cleared[-1]), set=by_hand[-1].source)]
    cuts = [] if grads or q.is_reached_from(q.root_op) else cuts_before(q, q.root_op)
    return [cause_of("functional", grads[-1])] if grads else _stepped(q.facts) or cuts or [Cause("no_pass")]


def _stepped(f: Facts) -> list[Cause]:
    """A stepper has run a pass. A recorder does not see it; the document shows it."""
    if not any(f.live.has_run(node) for node, _ in f.starts):
        return []
    return [Cause("awaited")] if f.is_connected else cuts_of(f)[:2] or [Cause("no_path")]


def _unwatched(f: Facts) -> list[Cause]:
    """Nobody has seen the passes. A recording of the ops shows a path that was cut, and whether a pass has freed the graph."""
    if not (f.loss and f.is_recorded):
        return [Cause("not_recorded")]
    if f.is_connected:
        return [Cause("pass_unseen" if f.document.is_freed else "not_freed")]
    root = few_names([f.tensors[id].name or words.THE_LOSS.lower() for id in f.loss])
    return cuts_of(f)[:2] or [cause_of("no_path_from", root=root), *_unrecorded(f)]


def _cleared(q: Question, last: Event, cleared: Event) -> Cause:
    steps = [s for h in q.optimizers for s in h.steps]
    after = [s for s in steps if s.number > cleared.number]
    is_between = any(last.number < s.number < cleared.number for s in steps)
    kind = "cleared" if is_between or not after else "cleared_before_step"
    by, step = spelling(cleared) if cleared.name != "grad" else "grad = None", source_of(after[0]) if after else None
    return cause_of(kind, cleared, by=by, **{"pass": last.source}, step=step)


def _through(q: Question, last: Any) -> Cause:
    """The pass reached it, and grad is None."""
    if last.wanted:
        return cause_of("left_out", last)
    if q.root is not None and q.history.op_of(q.root) is not last.root:
        return cause_of("other_root", last)
    if (stopped := stop(q.facts)) is not None or not q.is_leaf:
        return stopped or cause_of("retained_late", last)
    if not getattr(q.tensor, "_post_accumulate_grad_hooks", None) or q.facts.edge is None:
        return cause_of("nothing_known", last)
    return cause_of("cleared_by_hook", last, hook=words.COMMA.join(q.facts.live.hooks(q.facts.edge[0])))


def _unused(q: Question, last: Any, used: Event | None) -> list[Cause]:
    """The last pass began elsewhere, or did not use the tensor."""
    replaced = q.history.owner_of(q.tensor)
    before = q.passes[-2].number if len(q.passes) > 1 else None
    if q.number is not None:
        number = q.number[0]
        called = CLASSES.search(getattr(number.source, "text", "")) if number.name == "__float__" else None
        kind, op = ("path_cut_new", f"{called[0]})") if called is not None else ("path_cut_number", spelling(number))
        return [cause_of(kind, number, op=op)]
    is_unknown = q.root_op is None and used is None
    if is_unknown or replaced is not None:
        by_other = [] if replaced is None else [cause_of("replaced", replaced, part=replaced.name)]
        return [cause_of(q.history.unknown_root, last)] if is_unknown else by_other
    if not q.history.knows_uses:
        return [cause_of("no_path", last), *_unrecorded(q.facts)]
    was_reached = any(q.is_reached_from(p.root) for p in q.passes[:-1] if p.root is not None)
    was_reached |= any(h.has_moved for h in q.holders)
    if used is not None and before is not None and used.number < before and not _is_deepcopied(used):  # a layer that is skipped
        was_reached |= any(used.detail < p.number < used.number for p in q.passes)
    is_target = used is not None and used.name in ("data", "detach") and used.detail < last.number < used.number
    if is_target and not was_reached and before is not None:  # since it was used, it was only copied or written
        return [cause_of("no_path", last)]
    is_copied = used is not None and _is_deepcopied(used) and not was_reached
    is_of_other = used is not None and any(op.number == used.number for op in q.ops)  # it had another leaf of the same memory
    if was_reached or used is None or is_of_other or (before is not None and used.number < before and not is_copied):
        return [cause_of("not_used_now" if was_reached else "not_used", last)]
    return [_beside_loss(q, last, used)]


def _beside_loss(q: Question, last: Any, used: Event) -> Cause:
    """An op used the tensor, and the loss was not computed from its result."""
    grads = [p for p in q.history.passes if p.name == "grad" and p.keeps and q.is_reached_from(p.root)]
    if grads:  # as the last bias of a potential, of which the loss has only the slope
        return cause_of("only_in_grad", grads[-1])
    is_copied = _is_deepcopied(used)
    is_of_data = q.root_op is None and not is_copied and used.number < last.number  # nothing with a graph made the loss
    number = number_left(q) if is_of_data else None
    if number is not None and leading_from(q.subject, behind([number])):
        return cause_of("left_as_number", number, op=spelling(used), number=spelling(number))
    unused = "left_in_weights" if _is_put(used.source) and not is_copied else "not_in_loss"
    kind = "copied" if is_copied else "used_after" if used.number > last.number else unused
    return cause_of(kind, used, op=spelling(used), **{"pass": last.source})


def _is_deepcopied(used: Event) -> bool:
    return used.name == "data" and used.source is not None and "deepcopy" in used.source.text


def _is_put(source: Source | None) -> bool:
    """Does a line, or one after it that has its result, put values into a tensor that is there?"""
    made = None if source is None else ASSIGNED.match(source.text)
    after = linecache.getlines(source.file)[source.end_line : source.end_line + NEAR] if source is not None and made else []
    named = [line for line in after if made is not None and re.search(rf"\b{made[1]}\b", line.partition("=")[2] or line)]
    return source is not None and any(PUTTING.search(line) for line in (source.text, *named))


def number_left(q: Question) -> Op | None:
    """Where a tensor with a graph last became a number before the last pass, in the same iteration; no pass used that graph."""
    passes = q.history.passes
    began = passes[-2].number if len(passes) > 1 else None
    passed = {op for p in passes if p.root is not None for op in with_history([p.root])}
    for op in reversed(q.history.left):
        is_near = op.number < passes[-1].number and (began is None or op.number > began)
        given = [g for g in op.given if is_op(g) and (not g.cut or g.name in ("detach", "data"))]
        if op.name in NUMBERS and is_near and given and passed.isdisjoint(behind(given)):
            return op
    return None


def _unrecorded(f: Facts) -> list[Cause]:
    """What the loss uses and no op is known to have made: under no_grad() nothing is remembered."""
    used = [f.tensors[id] for id in sorted(f.behind_loss)]
    names = [t.name for t in used if t.name and not t.requires_grad and t.source is None and t.id not in f.makers]
    return [cause_of("unrecorded", names=few_names(names))] if names else []


def without_grad(q: Question) -> list[Cause]:
    """Why the tensor does not require grad."""
    name = "" if q.op is None else q.op.name  # maybe of a write into a parameter that was there before
    is_in_place = name.startswith(("__i", "__setitem__")) or (name.endswith("_") and not name.startswith("__"))
    is_moved = is_in_place and (type(q.tensor).__name__ == "Parameter" or bool(q.events("switched_off")))
    found = lost(q, q.op) if q.op is not None and not is_moved and (q.op.given or q.op.cut in CUTS) else []
    if found or (early := q.history.early(q.tensor)) is None:
        return found or [_not_required(q)]
    op, operand = early
    return [cause_of("made_early", op, op=spelling(op), operand=q.name_of(operand) or words.THE_TENSOR)]


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
        return cause_of("made_of_number", number, op=spelling(number))
    kind = q.history.unmade(q.tensor)
    if kind == "not_asked" and any(b is q.tensor for m in q.models.values() for b in m.buffers()):
        return cause_of("buffer", at)
    is_frozen = kind == "not_asked" and at is None and type(q.tensor).__name__ == "Parameter"  # it was made with it
    return Cause("frozen" if is_frozen else kind, source=source_of(at) or source_of(q.op))


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
    if op.cut == "constant":
        kind = "cut_constant"
    elif op.name in HOW or op.cut == "op":
        kind = HOW.get(op.name, "cut_op")
    elif op.cut == "inference":
        kind = "cut_inference"
    else:
        kind = MODES.get("" if mode is None else mode.name, "cut_no_grad")
        is_of_leaf = op is q.op and all(q.name_of(leaf) is None for leaf in op.given if not is_op(leaf))
        is_update = is_of_leaf and op.name in UPDATES and not path  # `a = a - lr * a.grad`
        kind = "cut_update" if kind == "cut_no_grad" and is_update else kind
        kind = "cut_before" if kind == "cut_no_grad" and q.op is not None and q.op.cut == "behind" and not path else kind
    return cause_of(path + kind, mode if mode is not None and kind == "cut_mode" else op, op=spelling(op))
