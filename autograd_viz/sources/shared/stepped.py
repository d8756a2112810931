"""What steppers have done to a graph: the nodes that they have called, and the numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from ...graph.model import Value
from ...graph.trace import Step
from ...runtime.alive import Alive

_moves = itertools.count()
_passes: Alive[int] = Alive()  # a pass -> when it last moved


def moved(stepped: Any) -> None:
    """A pass has called a node, or has taken a call back."""
    _passes[stepped] = next(_moves)


def last_pass(nodes: Iterable[Any]) -> Any:
    """The stepper's pass that went through one of these nodes and moved last; None if there is none.

    Graphs that share only leaves are different graphs.
    """
    nodes = list(nodes)
    own = [n for n in nodes if not hasattr(n, "variable")] or nodes
    found = [(when, p) for p, when in _passes.items() if not p.nodes.isdisjoint(own)]
    return max(found, key=lambda f: f[0])[1] if found else None


def numbers_of(steps: Mapping[Any, Step], ids: Mapping[Any, str]) -> dict[str, Value | None]:
    """What a stepper saw, by address: what went along each arrow, and at `arrived:n2.0` what arrived, after hooks.

    Args:
        steps: the step that called a node.
        ids: the node's id in the document in question.
    """
    found: dict[str, Value | None] = {}
    for node, step in steps.items():
        if node in ids:
            found |= {f"next:{ids[node]}.{i}": g for i, g in enumerate(step.grad_inputs)}
            found |= {f"arrived:{ids[node]}.{i}": g for i, g in enumerate(step.grad_outputs)}
    return found | grads_before(steps, ids)


def grads_before(steps: Mapping[Any, Step], ids: Mapping[Any, str]) -> dict[str, Value | None]:
    """The grad of each leaf before a stepper's pass changed it: `before:n3`, by the id of its AccumulateGrad."""
    known = [
        (ids[node], c.before) for node, step in steps.items() if node in ids for c in step.changes if c.at.endswith(".grad")
    ]
    return {f"before:{id}": before for id, before in known}
