"""A question about a tensor of the core: which graph is meant, and what only the live graph knows about it."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ...graph.model import Value
from ...graph.passes import Changed
from ...graph.surroundings import Source
from ...twin.core.backward.accumulate_grad import AccumulateGrad
from ...twin.core.backward.node import Node
from ...twin.core.backward.saved import SavedResult, SavedTensor
from ...twin.core.base import events
from ...twin.core.tensor.tensor import Tensor
from ..shared.finite_differences import disagrees
from ..shared.questions import Access, Live, grads_before, roots_among
from ..shared.replacement import is_own_hook, name_of_hook
from ..shared.saved import kept_array, raw_saved, version_of
from ..shared.source_code import definition_of, source_at
from ..shared.values import value_of
from .graph import CoreGraph, is_tensor
from .reach import backward_of

TWIN = f"{__package__.partition('.')[0]}.twin"


def _grad_fn(tensor: Tensor) -> Node | None:
    node = backward_of(tensor)
    return None if isinstance(node, AccumulateGrad) else node


def _is_computed(t: Tensor) -> bool:
    """Is it one floating-point number that was computed, or whose origin is unknown?"""
    is_number = not t.requires_grad and t._data.size == 1 and t._data.dtype.kind == "f"
    return is_number and (t._made_by is None or bool(t._made_by.inputs))


ACCESS = Access(
    is_tensor=is_tensor,
    grad_fn=_grad_fn,
    end=backward_of,
    after=lambda node: [after for after in node._next if after is not None],
    order=lambda node: node._sequence,
    size=lambda t: t._data.size,
    passes=lambda t: [e.order for e in t._events if e.kind == "backward"],
    is_computed=_is_computed,
)


roots_for = partial(roots_among, access=ACCESS)


def numbers_of(graph: CoreGraph) -> dict[str, Value | None]:
    """The numbers of the last pass, by address. `arrived:n2.0` is what arrived at output 0 of n2, after hooks."""
    arrived = {f"arrived:{id}.{i}": g for node, id in graph.node_ids.items() for i, g in enumerate(_arrived(node))}
    return {**graph.past().values, **{at: g for at, g in arrived.items() if g is not None}}


def _arrived(node: Node) -> tuple[Value | None, ...]:
    """What arrived at a node in its last call, after hooks."""
    return tuple(None if g is None else value_of(np.asarray(g)) for g in (node._passed[0] if node._passed else ()))


class CoreLive(Live):
    """`reasons.Live` for a graph of the core."""

    def has_run(self, node: str) -> bool | None:
        """Has a pass called it? Every node of the core remembers its last call."""
        return self._nodes[node]._passed is not None

    def numbers(self) -> dict[str, Value | None]:
        """What was in the grads before a stepper's pass, if that was the last pass."""
        # of the steps since which no pass has called their node
        steps = {node: step for node, step in self._seen.items() if _arrived(node) == step.grad_outputs}
        return grads_before(steps, self._graph.node_ids)

    def changed(self, node: str, saved: str) -> Changed | None:
        """How a saved tensor was modified, by the version counter. All tensors of one memory share it."""
        kept = raw_saved(self._nodes[node]).get(saved)
        counter = counter_of(kept)
        if not counter:
            return None
        name = next((name for t, name in self._graph.names.items() if t._counter is counter), None)
        return Changed(name, counter[0], _source(counter, version_of(kept)))

    def kept(self, node: str, saved: str) -> Any:
        """As it is kept."""
        return kept_array(raw_saved(self._nodes[node]).get(saved))

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """Rows of grad that hold only zeros; empty if there is no grad."""
        grad = self._graph.tensors[tensor]._grad
        if grad is None or grad._data.ndim < 2:
            return ()
        return tuple(np.flatnonzero(~grad._data.reshape(grad._data.shape[0], -1).any(axis=1)).tolist())

    def grad_changed(self, tensor: str) -> Changed | None:
        """How grad was changed, by its version counter: the line, if the user made the last change."""
        counter: Any = getattr(self._graph.tensors[tensor]._grad, "_counter", None)
        is_counted = type(counter) is list and counter[0]
        return Changed(None, counter[0], _source(counter, counter[0] - 1)) if is_counted else None

    def disagrees(self, node: str, given: list[str]) -> bool | None:
        """Runs it again, as a program that nobody records."""
        if (function := getattr(self._nodes[node], "_forward_cls", None)) is None:
            return None
        passes, inputs = [*events.passes], [self._graph.tensors[id] for id in given]
        wanted = [i for i, t in enumerate(inputs) if t.requires_grad]
        found = disagrees(import_module(TWIN), function, [t._data for t in inputs], wanted)
        events.passes.clear()
        events.passes.extend(passes)
        return found

    def written_at(self, node: str) -> Source | None:
        """The line of the `def backward` of a user's Function."""
        function = getattr(self._nodes[node], "_forward_cls", None)
        return None if function is None else definition_of(function.backward)

    def hooks(self, node: str) -> tuple[str, ...]:
        """The hooks of the tensors that arrive at the node, and the hooks of the node."""
        found: list[Any] = []
        n = self._nodes[node]
        if isinstance(n, AccumulateGrad) and n.variable._extra is not None:
            found += (n.variable._extra.hooks or {}).values()
        if n._extra is not None:
            found += [h for of_output in n._extra.tensor_hooks.values() for h in of_output.values()]
            found += [*n._extra.prehooks.values(), *n._extra.posthooks.values()]
        return tuple(name_of_hook(h) for h in found if not is_own_hook(h))


def counter_of(kept: Any) -> Any:
    """The version counter of a saved tensor, which all tensors of its memory share."""
    inner = kept.tensor if isinstance(kept, SavedTensor) else kept
    return kept.counter if isinstance(kept, SavedResult) else getattr(inner, "_counter", None)


def line_after(counter: Any, version: int) -> Any:
    """The place that made the next version."""
    return next((place for v, place in counter[1:] if v == version), None)


def _source(counter: Any, version: int) -> Source | None:
    place = line_after(counter, version)
    return None if place is None else source_at(*place)
