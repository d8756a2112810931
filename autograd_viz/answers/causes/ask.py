"""Passes the question "why is this gradient so?" to the files that can answer it."""

from __future__ import annotations

from .bad_numbers import bad_causes, bad_loss
from .cause import Cause, cause_of
from .hooks import hook_causes
from .missing import missing
from .present import last_write, loss_causes, lost_part, never_stepped, old, plain_gradient, several, skip, without_step
from .question import Question
from .sizes import no_effect, size_causes
from .zeros import zero_causes

UNKNOWN = ("not_recorded", "zero_old", "bad_elsewhere")  # the graph at hand does not say
FEW = 200  # ops of a pass that is run again even if nothing stands out


def causes_of(q: Question) -> list[Cause]:
    """Why the tensor's grad is what it is. The nearest cause comes first."""
    return [_unknown(q) if c.kind == "not_recorded" else c for c in _causes(q)]


def _unknown(q: Question) -> Cause:
    """Why nothing is known: the ops were recorded, and do not show it; or their graph is gone; or nobody has recorded them."""
    if not (q.history.is_recorded or q.facts.loss):
        return Cause("no_loss_here")
    return Cause("not_shown" if q.history.is_recorded or q.facts.is_recorded else "not_recorded")


def _causes(q: Question) -> list[Cause]:
    if ranks := q.history.shards(q.tensor):
        return [cause_of("sharded_missing" if q.grad is None else "sharded", ranks=str(ranks))]
    if q.grad is None:
        return missing(q)
    off = [] if q.tensor.requires_grad else q.events("switched_off")
    return [cause_of("off_now", off[-1])] if off else _of_numbers(q)


def _of_numbers(q: Question) -> list[Cause]:
    """Why a gradient exists, and why it has its value."""
    state, since, before = q.history.state_of(q.tensor), last_write(q), old(q)
    zeroed = [c for c in since if c.kind == "grad_zeroed" and state == "zero"]
    if zeroed or (before and state in ("nan", "inf", "zero")):
        return [*zeroed, *before]
    if state in ("nan", "inf"):
        return _or_gone(q, [*bad_causes(q.facts), *skip(q)]) or [Cause("not_recorded")]
    if state == "zero":
        zeros = no_effect(q.facts) or zero_causes(q.facts)
        return _or_gone(q, [*zeros, *without_step(q), *bad_loss(q.facts)]) or [Cause("not_recorded")]
    idle = without_step(q)
    found = [*before, *idle, *since, *([] if idle else [*several(q), *never_stepped(q)]), *lost_part(q)]
    if not before and (state or len(q.ops) <= FEW):
        f = q.facts
        found += no_effect(f) or [*zero_causes(f), *size_causes(f), *hook_causes(f), *bad_loss(f)]
        found = found or loss_causes(f)
    return _or_gone(q, found) or [plain_gradient(q)]


def _or_gone(q: Question, found: list[Cause]) -> list[Cause]:
    """What was found. If that is nothing, and no graph that is left leads to the tensor: that the root of the pass is gone."""
    if q.last is None or q.last.root is not None or any(c.kind not in UNKNOWN for c in found) or q.facts.is_connected:
        return found
    return [cause_of(q.history.unknown_root, q.last)]
