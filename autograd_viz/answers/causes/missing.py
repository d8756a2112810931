"""Why grad is None."""

from __future__ import annotations

from typing import Any

from ... import words
from ...graph.text import few_names
from .became_number import number_of
from .cause import Cause
from .document_cuts import cuts_of
from .facts import Facts
from .history import Event, Op
from .paths import behind, cuts_between, reaches
from .question import Question
from .spelling import spelled
from .stopped import stopped
from .without_grad import cut_at, without_grad


def missing(q: Question) -> list[Cause]:
    """Why the tensor has no gradient. The nearest cause comes first."""
    t = q.tensor
    if not t.requires_grad:
        return without_grad(q)
    if q.history.is_running():
        return [Cause("running")]
    if not q.is_leaf and not t.retains_grad:
        return [*_beside(q), *_not_leaf(q)]
    return _leaf(q)


def _not_leaf(q: Question) -> list[Cause]:
    op = q.history.op_of(q.tensor)
    name = spelled(op) if op is not None else q.tensor.grad_fn.name()
    made = _became(q, op)
    return [made] if made is not None else [Cause("not_leaf", source=None if op is None else op.source, said={"op": name})]


def _became(q: Question, op: Op | None) -> Cause | None:
    """A leaf was made and used up at once: `torch.randn(3, requires_grad=True) * 0.1`, `w = w.to(device)`."""
    leaves = [g for o in behind([op]) for g in o.given if not hasattr(g, "given")] if op is not None else []
    alone = leaves[0] if len({*leaves}) == 1 else None
    if op is None or alone is None or q.name_of(alone) is not None or not q.name_of(q.tensor):
        return None
    return Cause("leaf_lost", source=op.source, said={"op": spelled(op)})


def _beside(q: Question) -> list[Cause]:
    """The loss was not computed from it, so retain_grad() would not help."""
    root, own = q.root_op, q.history.op_of(q.tensor)
    if root is None or own is None or own is root or reaches(root, own):
        return []
    return cut(q, root, own)


def cut(q: Question, root: Op, subject: Any) -> list[Cause]:
    """Where the path from the tensor to the root lost its history."""
    return [cut_at(q, c, "path_") for c in cuts_between(root, subject)[:2]]


def _leaf(q: Question) -> list[Cause]:
    """A leaf that could have a gradient. No pass ran, the pass did not reach it, or its gradient was cleared."""
    last, made = q.last, q.history.events_of(q.tensor, "made", "placed")
    if last is None or (made and made[0].number > last.number):
        return _no_pass(q)
    since = _since(q, last)
    root = q.root_op
    if since is not None:
        return [since]
    if root is not None and reaches(root, q.subject):
        return [_through(q, last)]
    found = cut(q, root, q.subject) if root is not None else []
    return found or _unused(q, last, q.history.used(q.tensor))


def _since(q: Question, last: Any) -> Cause | None:
    """What happened in the last pass or after it, or too late for it."""
    cleared = [c for c in q.history.clearings(q.tensor) if c.number > last.number]
    on, made = (q.history.events_of(q.tensor, *kinds) for kinds in (("switched_on",), ("made", "placed")))
    if cleared and _reached(q):
        return _cleared(q, last, cleared[0])
    if last.error:
        return Cause("failed", source=last.source, said={"error": last.error.split("\n")[0][:90]})
    if on and on[-1].number > last.number:
        return Cause("late", source=on[-1].source)
    if made and q.root_op is not None and made[-1].number > q.root_op.number:
        return Cause("made_after", source=made[-1].source)
    return None


def _stepped(q: Question) -> list[Cause]:
    """A stepper has run a pass. A recorder does not see it; the document shows it."""
    f = q.facts
    if not any(f.live.has_run(node) for node, _ in f.starts):
        return []
    return [Cause("awaited")] if f.is_connected else cuts_of(f)[:2] or [Cause("no_path")]


def _unwatched(q: Question) -> list[Cause]:
    """Nobody has seen the passes. A recording of the ops shows a path that was cut, and whether a pass has freed the graph."""
    f = q.facts
    if not (f.loss and f.is_recorded):
        return [Cause("not_recorded")]
    if f.is_connected:
        return [Cause("pass_unseen" if f.document.is_freed else "not_freed")]
    root = few_names([f.tensors[id].name or words.THE_LOSS.lower() for id in f.loss])
    return cuts_of(f)[:2] or [Cause("no_path_from", said={"root": root}), *_unrecorded(f)]


def _no_pass(q: Question) -> list[Cause]:
    if not q.history.is_recorded:
        return _stepped(q) or _unwatched(q)
    made = q.history.events_of(q.tensor, "made", "placed")
    grads = [p for p in q.history.passes if p.name == "grad" and (not made or p.number > made[0].number)]
    if grads:
        return [Cause("functional", source=grads[-1].source)]
    return _stepped(q) or [Cause("no_pass")]


def _reached(q: Question) -> bool:
    """Did one of the last passes reach it? If unknown, yes is assumed."""
    known = [p.root for p in q.passes if p.root is not None]
    return not known or any(reaches(r, q.subject) for r in known)


def _cleared(q: Question, last: Event, cleared: Event) -> Cause:
    steps = [s for h in q.history.optimizers(q.tensor) if h.holds for s in h.steps]
    between = [s for s in steps if last.number < s.number < cleared.number]
    after = [s for s in steps if s.number > cleared.number]
    kind = "cleared" if between or not after else "cleared_before_step"
    said = {"by": spelled(cleared) if cleared.name != "grad" else "grad = None", "pass": _at(last)}
    return Cause(kind, source=cleared.source, said={**said, "step": _at(after[0] if after else None)})


def _through(q: Question, last: Any) -> Cause:
    """The pass reached it, and grad is None."""
    if last.wanted:
        return Cause("left_out", source=last.source)
    if q.root is not None and q.history.op_of(q.root) is not last.root:
        return Cause("other_root", source=last.source)
    if (found := stopped(q.facts)) is not None:
        return found
    return Cause("nothing_known" if q.is_leaf else "retained_late", source=last.source)


def _unused(q: Question, last: Any, used: Event | None) -> list[Cause]:
    """The last pass began elsewhere, or did not use the tensor."""
    replaced = q.history.owner_of(q.tensor)
    before = q.passes[-2].number if len(q.passes) > 1 else None
    if (number := number_of(q)) is not None:
        return [Cause("path_cut_number", source=number[0].source, said={"op": spelled(number[0])})]
    if q.root_op is None and used is None:
        return [Cause(q.history.unknown_root, source=last.source)]
    if replaced is not None:
        return [Cause("replaced", source=replaced.source, said={"part": replaced.name})]
    if not q.history.knows_uses:
        return [Cause("no_path", source=last.source), *_unrecorded(q.facts)]
    if used is None or (before is not None and used.number < before):
        return [Cause("not_used", source=last.source)]
    return [_used_beside(q, last, used)]


def _unrecorded(f: Facts) -> list[Cause]:
    """What the loss uses and no op is known to have made: under no_grad() nothing is remembered."""
    used = [f.tensors[id] for id in sorted(f.behind_loss)]
    names = [t.name for t in used if t.name and not t.requires_grad and t.source is None and t.id not in f.makers]
    return [Cause("unrecorded", said={"names": few_names(names)})] if names else []


def _used_beside(q: Question, last: Any, used: Event) -> Cause:
    """An op used it, and the loss was not computed from the result."""
    said = {"op": spelled(used), "pass": _at(last)}
    if used.number > last.number:
        return Cause("used_after", source=used.source, said=said)
    return Cause("not_in_loss", source=used.source, said=said)


def _at(event: Any) -> Any:
    return None if event is None else event.source
