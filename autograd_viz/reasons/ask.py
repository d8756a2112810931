"""The question "why is this gradient so?", handed to those who can answer it."""

from __future__ import annotations

from ..graph.model import Source
from .accumulation import never_cleared
from .bad_numbers import bad_causes, bad_loss
from .cause import Cause
from .facts import Facts
from .fine import sum_causes
from .missing import missing_causes
from .op_lines import with_lines
from .refused import refusal
from .settled import settled_cause
from .sizes import size_causes
from .stale import failed_causes, freed_cause, modified_causes
from .unheld import is_unpassed, losses_of_passes, without_guesses
from .unnoticed import unnoticed_causes, written_causes
from .zeros import zero_causes

MOST = 3  # causes of one kind of question
# what stands in grad did not come with the last pass alone
OLD = (
    "no_graph", "no_graph_of",
    "bad_elsewhere", "zeroed", "zeroed_at", "zeroed_by", "zeroed_or_cancelled", "cancelled", "zero_old", "bad_old",
    "bad_since", "bad_clipped",
)  # fmt: skip
CHANGED = ("accumulated", "accumulated_or_edited", "scaled", "edited")


def causes_of(f: Facts) -> list[Cause]:
    """Why the subject's grad is what it is; the first is the nearest."""
    if ranks := f.live.shards(f.subject.id):
        return [_sharded(f, ranks)]
    f = with_lines(f.with_losses(losses_of_passes(f)))
    if f.subject.grad is None:
        return missing_causes(f)
    return failed_causes(f) or _causes_of_numbers(f)


def _sharded(f: Facts, ranks: int) -> Cause:
    """It is no leaf of the graph: FSDP gathers that for each pass."""
    kind = "sharded_missing" if f.subject.grad is None else "sharded"
    return Cause(kind, (f.subject.id,), said={"ranks": str(ranks)})


def _causes_of_numbers(f: Facts) -> list[Cause]:
    """Why there is a gradient, and why it is what it is."""
    passed = f.with_losses(()) if is_unpassed(f) else f
    settled = settled_cause(passed)
    found = bad_causes(passed) or ([settled] if settled is not None else zero_causes(passed))
    found = without_guesses(f, found) if found else []
    if not found:
        unnoticed = unnoticed_causes(f)
        shared = any(c.kind == "start_not_one" for c in unnoticed)  # then the numbers that were kept are not to be trusted
        sums = [c for c in sum_causes(f, False) if not (shared and c.kind in CHANGED)]
        return [*without_guesses(f, size_causes(f), of_size=True), *sums, *unnoticed, *never_cleared(f), *bad_loss(f)]
    if any(c.kind in OLD for c in found):
        return found
    if found[0].kind == "other_pass":
        return found[:1]
    more = [*sum_causes(f, True), *written_causes(f), *(bad_loss(f) if found[0].kind != "zero_ignored" else [])]
    return [*found[:MOST], *(c for c in more if c not in found)]


def causes_of_error(f: Facts | None, message: str, node: str | None = None, line: Source | None = None) -> list[Cause]:
    """What an error of autograd was about.

    Args:
        f: the graph of the pass that raised, if it can be had.
        message: the error's text.
        node: the node that raised, if known.
        line: of the user's, at which it was raised.
    """
    f = None if f is None else with_lines(f)
    if f is not None and "modified by an inplace operation" in message:
        found = modified_causes(f, f.passed if node is None else [node])
        if found:
            return found[:MOST]
    if f is not None and "through the graph a second time" in message:
        cause = freed_cause(f, f.passed if node is None else [node], failed=True)
        if cause is not None:
            return [cause]
    return refusal(f, message, node, line)
