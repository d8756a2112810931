"""The reason for a grad, and the mistakes behind wrong guesses. Both come from the dry run."""

from __future__ import annotations

from .. import words
from ..answers.causes.why import Why
from ..graph.model import Value
from ..graph.text import value_text
from ..graph.trace import Step, Trace
from .dry_run import DryRun, labels
from .question import Slip

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
    rules = [f"`{rule}`" for rule in rules_of(step, value)]
    if not rules:
        return words.GRAD_SENT.format(node=called[step.node], value=value_text(value))
    return words.GRAD_BY_RULE.format(node=called[step.node], rules=words.COMMA.join(rules))


def rules_of(step: Step, value: Value) -> list[str]:
    """The formulas of a step that give this value."""
    given = value_text(value)
    return list(dict.fromkeys(f.text for f in step.formulas if f.text.endswith(given) and f.text != given))


def _final(dry_run: DryRun, tensor: str) -> str:
    """The stepper's answer to "Why is grad so?" at the end."""
    why, steps = Why(dry_run.document), dry_run.trace.steps
    found = why.at_start()
    for k, step in enumerate(steps):
        found |= why.after(step, Trace(steps[:k]))
    return found[tensor]


def slips_grad(dry_run: DryRun, tensor: str) -> tuple[Slip, ...]:
    """Wrong guesses, and the mistakes behind them."""
    right = dry_run.grad(tensor)
    if right is None:
        return (("zero", words.SLIP_ZERO_FOR_NONE),)
    none = [] if any(right.numbers) else [("none", words.SLIP_NONE_FOR_ZERO)]
    return (*none, ("shape", words.SLIP_SHAPE.format(shape=right.shape)), *_slips_sum(dry_run, tensor))


def _slips_sum(dry_run: DryRun, tensor: str) -> list[Slip]:
    """Guesses that are only one contribution, or only the gradient of this pass."""
    sent = [value for _, value in dry_run.arrivals(tensor)]
    added = [s.accumulation for s in dry_run.trace.steps if s.accumulation and s.accumulation.tensor == tensor]
    alone = [words.SLIP_ONE_OF_MANY.format(given=value_text(v), count=len(sent)) for v in sent]
    new = [(a.incoming, words.SLIP_NOT_ADDED.format(given=value_text(a.incoming))) for a in added if a.old is not None]
    return [*(zip(sent, alone, strict=True) if len(sent) > 1 else ()), *new]
