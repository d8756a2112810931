"""What a step tells stops and pins: norms and signs of its gradients. A page gets the same facts (stops.js, pins.js)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..graph.model import Node, Value
from ..graph.text import norm_of, number_text
from ..graph.trace import Step


class Fact(NamedTuple):
    """One gradient."""

    norm: float  # Euclidean; nan or inf if an element is
    sign: int  # of the mean of its finite elements: 1, -1 or 0 (also for complex numbers)
    text: str  # the number, if it has one element


@dataclass(frozen=True, slots=True)
class Facts:
    """The gradients of one step."""

    node: str  # the node that ran
    ends: tuple[str, ...]  # the node of each of its next_functions, or ""
    sent: tuple[Fact, ...]  # what earlier steps have sent to it
    came: tuple[Fact | None, ...]  # what arrived, by output of its op: the sums, after hooks and edits
    left: tuple[Fact | None, ...]  # what left, by next_function
    grads: tuple[tuple[str, Fact | None, Fact | None], ...]  # tensors whose grad changed: (id, grad before, grad after)

    def plain(self) -> dict[str, Any]:
        """As JSON. `sent` is left out where it is what came."""
        came, left = map(_plain, self.came), map(_plain, self.left)
        sent = {} if self.sent == self.came else {"sent": [_plain(f) for f in self.sent]}
        grads = [[id, _plain(before), _plain(after)] for id, before, after in self.grads]
        return {"node": self.node, "ends": self.ends, "came": [*came], "left": [*left], **sent, "grads": grads}


def facts_of(step: Step, node: Node, sent: Iterable[Value]) -> Facts:
    """The facts of a step of a node, to which earlier steps have sent these gradients."""
    grads = [(c.at.removesuffix(".grad"), fact_of(c.before), fact_of(c.after)) for c in step.changes if c.at.endswith(".grad")]
    return Facts(
        step.node,
        tuple(after.node or "" for after in node.next_functions),
        _facts(sent),
        tuple(map(fact_of, step.grad_outputs)),
        tuple(map(fact_of, step.grad_inputs)),
        tuple(grads),
    )


def fact_of(value: Value | None) -> Fact | None:
    """The fact of a gradient; None if there is none, or if it has no elements."""
    norm = norm_of(value)
    if value is None or norm is None:
        return None
    return Fact(norm, _sign(value), number_text(value.numbers[0]) if math.prod(value.shape) == 1 and value.numbers else "")


def there(facts: Iterable[Fact | None]) -> list[Fact]:
    """Those that exist."""
    return [f for f in facts if f is not None]


def _facts(values: Iterable[Value]) -> tuple[Fact, ...]:
    return tuple(there(map(fact_of, values)))


def _sign(value: Value) -> int:
    real = (n for n in value.numbers if not isinstance(n, complex) and math.isfinite(n))
    mean = math.fsum(real) if value.summary is None else value.summary.mean
    return int(mean > 0) - int(mean < 0)


def _plain(fact: Fact | None) -> list[Any] | None:
    if fact is None:
        return None
    norm = fact.norm if math.isfinite(fact.norm) else str(fact.norm)
    return [norm, fact.sign, fact.text] if fact.text else [norm, fact.sign]
