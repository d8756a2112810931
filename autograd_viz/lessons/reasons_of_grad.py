"""The reason for a grad, and the mistake behind a wrong guess. Both come from the dry run."""

from __future__ import annotations

from .. import words
from ..graph.model import Value
from ..graph.text import value_text
from ..graph.trace import Step, Trace
from ..reasons.why import Why
from .dry_run import DryRun, labels
from .reading import Reading, agrees

FEW = 3  # the largest number of steps in the reason
LONGEST = 60  # the largest number of characters of a sum


def why_grad(dry_run: DryRun, tensor: str) -> str:
    """The gradients sent to the tensor, their rules, and the result."""
    arrivals, called = dry_run.arrivals(tensor), labels(dry_run.document)
    said = [_sent(step, value, called) for step, value in arrivals[-FEW:]]
    if len(arrivals) > 1:
        parts = " + ".join(value_text(value) for _, value in arrivals)
        said.append(words.GRAD_TOGETHER.format(count=len(arrivals), parts=parts) if len(parts) <= LONGEST else "")
    return words.BETWEEN.join(filter(None, [*dict.fromkeys(said), _final(dry_run, tensor)]))


def _sent(step: Step, value: Value, called: dict[str, str]) -> str:
    """The gradient that a step sent, with the formulas behind it."""
    rules = [f"`{f.text}`" for f in step.formulas if f.text.endswith(value_text(value)) and f.text != value_text(value)]
    if not rules:
        return words.GRAD_SENT.format(node=called[step.node], value=value_text(value))
    return words.GRAD_BY_RULE.format(node=called[step.node], rules=words.COMMA.join(dict.fromkeys(rules)))


def _final(dry_run: DryRun, tensor: str) -> str:
    """The stepper's answer to "Why is grad so?" at the end."""
    why, steps = Why(dry_run.document), dry_run.trace.steps
    found = why.at_start()
    for k, step in enumerate(steps):
        found |= why.after(step, Trace(steps[:k]))
    return found[tensor]


def slip_grad(dry_run: DryRun, tensor: str, given: Reading) -> str:
    """The mistake behind a wrong guess, or ""."""
    right = dry_run.grad(tensor)
    if right is None:
        return words.SLIP_ZERO_FOR_NONE if given.numbers is not None and not any(given.numbers) else ""
    if given.numbers is None:
        return "" if any(right.numbers) else words.SLIP_NONE_FOR_ZERO
    if given.shape != right.shape:
        return words.SLIP_SHAPE.format(shape=right.shape)
    return _slip_sum(dry_run, tensor, given)


def _slip_sum(dry_run: DryRun, tensor: str, given: Reading) -> str:
    """Is the guess only one contribution, or only the gradient of this pass?"""
    sent = [value for _, value in dry_run.arrivals(tensor)]
    if len(sent) > 1 and any(agrees(given, value) for value in sent):
        return words.SLIP_ONE_OF_MANY.format(given=_text(given, sent), count=len(sent))
    added = [s.accumulation for s in dry_run.trace.steps if s.accumulation and s.accumulation.tensor == tensor]
    if any(a.old is not None and agrees(given, a.incoming) for a in added):
        return words.SLIP_NOT_ADDED.format(given=_text(given, [a.incoming for a in added]))
    return ""


def _text(given: Reading, values: list[Value]) -> str:
    """The guess in the notation of the pass."""
    return next(value_text(v) for v in values if agrees(given, v))
