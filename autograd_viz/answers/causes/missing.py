"""Why grad is None."""

from __future__ import annotations

from typing import Any

from ... import words
from ...graph.text import few_names
from .cause import Cause, cause_of, source_of
from .code import maker_text, spelled
from .document_cuts import cuts_of
from .facts import Facts
from .history import Event
from .hooks import stop
from .paths import behind, is_op
from .question import Question
from .without_grad import cuts_before, without_grad


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
    return cause_of("leaf_lost" if is_lost else "not_leaf", q.op, op=maker_text(q.op, q.tensor))


def _leaf(q: Question) -> list[Cause]:
    """A leaf that could have a gradient. No pass ran, the pass did not reach it, or its gradient was cleared."""
    last, made = q.last, q.events("made", "placed")
    if last is None or (made and made[0].number > last.number):
        return _no_pass(q, made)
    if (since := _since(q, last, made)) is not None:
        return [since]
    if q.is_reached_from(q.root_op):
        return [_through(q, last)]
    return cuts_before(q, q.root_op) or _unused(q, last, q.history.used(q.tensor))


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
    return [cause_of("functional", grads[-1])] if grads else _stepped(q.facts) or [Cause("no_pass")]


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
    by, step = spelled(cleared) if cleared.name != "grad" else "grad = None", source_of(after[0]) if after else None
    return cause_of(kind, cleared, by=by, **{"pass": last.source}, step=step)


def _through(q: Question, last: Any) -> Cause:
    """The pass reached it, and grad is None."""
    if last.wanted:
        return cause_of("left_out", last)
    if q.root is not None and q.history.op_of(q.root) is not last.root:
        return cause_of("other_root", last)
    return stop(q.facts) or cause_of("nothing_known" if q.is_leaf else "retained_late", last)


def _unused(q: Question, last: Any, used: Event | None) -> list[Cause]:
    """The last pass began elsewhere, or did not use the tensor."""
    replaced = q.history.owner_of(q.tensor)
    before = q.passes[-2].number if len(q.passes) > 1 else None
    if q.number is not None:
        return [cause_of("path_cut_number", q.number[0], op=spelled(q.number[0]))]
    if q.root_op is None and used is None:
        return [cause_of(q.history.unknown_root, last)]
    if replaced is not None:
        return [cause_of("replaced", replaced, part=replaced.name)]
    if not q.history.knows_uses:
        return [cause_of("no_path", last), *_unrecorded(q.facts)]
    if used is None or (before is not None and used.number < before):
        return [cause_of("not_used", last)]
    kind = "used_after" if used.number > last.number else "not_in_loss"  # the loss was not computed from the op's result
    return [cause_of(kind, used, op=spelled(used), **{"pass": last.source})]


def _unrecorded(f: Facts) -> list[Cause]:
    """What the loss uses and no op is known to have made: under no_grad() nothing is remembered."""
    used = [f.tensors[id] for id in sorted(f.behind_loss)]
    names = [t.name for t in used if t.name and not t.requires_grad and t.source is None and t.id not in f.makers]
    return [cause_of("unrecorded", names=few_names(names))] if names else []
