"""What an existing gradient is made of: passes, writes, uses."""

from __future__ import annotations

from typing import Any

from ... import words
from ...graph.text import shape_text, value_text
from ..causes.cause import Cause, cause_of
from ..causes.code import spelling
from ..causes.history import Event, PassEvent
from ..causes.paths import is_op
from ..causes.question import Question
from .missing import cuts_before

MOST_SHOWN, MOST_OPS = 8, 200  # elements of a shown gradient; ops of a graph that is read for it


def old(q: Question) -> list[Cause]:
    """The last pass did not reach it: its grad is from an earlier pass, or has been cleared to zero since."""
    if not q.is_left_over or q.last is None or q.last.root is None:
        return []
    came = [p.number for p in q.passes if q.is_reached_from(p.root)]
    by_hand = [e for e in q.events("set") if not came or e.number > came[-1]]
    if by_hand:
        return [cause_of("grad_set", by_hand[-1])]
    is_zeroed = q.state == "zero" and any("zero" in e.name for e in _writes(q))
    later = [p.number for p in q.passes if p.root is not None and not q.is_reached_from(p.root)]
    steps = [s.number for h in q.optimizers for s in h.steps]
    is_idle = bool(q.optimizers and later) and not any(n > later[0] for n in steps)
    kind = "old_zeroed" if is_zeroed else "old_idle" if is_idle else "old_own" if _is_own(q, came, steps) else "old"
    return [cause_of(kind, q.last), *cuts_before(q, q.last.root)[:1]]


def _is_own(q: Question, came: list[Any], steps: list[Any]) -> bool:
    """Is it trained in its turn, by passes of its own: cleared before the last of these, and stepped once since?"""
    cleared = [c.number for c in q.history.clearings(q.tensor)]
    is_cleared = any(n < came[-1] and (len(came) < 2 or n > came[-2]) for n in cleared if came)
    return is_cleared and sum(n > came[-1] for n in steps) <= 1


def _writes(q: Question) -> list[Event]:
    return [] if q.grad is None else q.history.events_of(q.grad, "written")


def last_write(q: Question) -> list[Cause]:
    """A line has changed grad since the last pass."""
    if not q.passes and (by_hand := q.events("set")):
        return [cause_of("grad_set", by_hand[-1])]
    since = [e for e in _writes(q) if q.last is None or e.number > q.last.number]
    factor = q.history.factor_of(since[-1]) if since else 1
    if factor == 1 or (since and since[-1].name == "clip_grad_value_"):  # what it has changed, if anything, is not known
        return []
    name = since[-1].name
    is_zero, is_clip = name in ("zero_grad", "zero_", "_foreach_zero_"), name.startswith("clip_")
    kind = "grad_zeroed" if is_zero else "clipped" if is_clip else "grad_written"
    by = f"{name}()" if name else words.A_WRITE
    return [cause_of(kind, since[-1], by=by, factor="?" if factor is None else factor)]


def added(q: Question) -> list[PassEvent]:
    """The passes that reached it since its grad was cleared. Old ones count only if all later passes of their line did."""
    cleared = [*q.history.clearings(q.tensor), *q.events("made", "switched_on"), *(e for e in _writes(q) if "zero" in e.name)]
    until = q.last.number if q.was_cleared and q.last is not None else None
    used = q.history.used(q.tensor) if q.is_leaf else None
    begins = [*(e.number for e in cleared if until is None or e.number < until), *([] if used is None else [used.detail])]
    since = max(begins, default=None)
    after = [p for p in q.passes if (since is None or p.number > since) and not p.error and not p.wanted and p.has_graph]
    came = [p for p in after if q.is_reached_from(p.root)]
    of_others = {p.source for p in after if p.root is not None and p not in came}
    lines = {p.source for p in came} - of_others
    return [p for p in after if p in came or (p.root is None and p.source in lines)]


def lost_part(q: Question) -> list[Cause]:
    """One use of it became a number, so its gradient lacks that part. A number of a tensor without history is no part."""
    if q.number is None or all(is_op(g) and g.cut for g in q.number[0].given):
        return []
    number, user = q.number
    nodes = [o.node for o in q.facts.document.ops if o.node and o.source == user.source]
    return [Cause("lacks_number", nodes=tuple(nodes[:1]), source=number.source, said={"op": spelling(number)})]


def plain_gradient(q: Question) -> list[Cause]:
    """Nothing stands out: the op that sent it, and for several uses, the gradient of each."""
    is_small = q.grad.numel() <= MOST_SHOWN and len(q.ops) <= MOST_OPS
    value = q.facts.subject.grad if is_small else None
    grad = shape_text(tuple(q.grad.shape)) if value is None else value_text(value)
    uses = (op for op in q.ops for g in op.given if g is q.tensor or (is_op(g) and g == q.subject))
    users = sorted(uses, key=lambda op: op.number)
    if not users:
        return [cause_of("fine_unseen", grad=grad)]
    said = {"grad": grad, "op": spelling(users[0]), "count": str(len(users)), "other": users[-1].source}
    if len(users) == 1:
        return [cause_of("fine", users[0], **said)]
    sent = [] if (f := q.facts).edge is None else [f.sent(*s) for s in f.senders.get(f.edge, ())]
    parts = "" if None in sent else " + ".join(value_text(v) for v in sent if v is not None)  # `3.0 + 3.0`
    return [cause_of("fine_paths", users[0], **said, parts=parts)]
