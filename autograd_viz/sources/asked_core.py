"""A question about a tensor of the core: which graph is meant, and what only the live graph knows of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FrameType, TracebackType
from typing import Any, NamedTuple

import numpy as np

from ..core.accumulate_grad import AccumulateGrad
from ..core.backward import as_tuple
from ..core.node import Node
from ..core.provenance import PACKAGE
from ..core.saved import SavedResult, SavedTensor
from ..core.tensor import Tensor
from ..graph.model import Source, Value
from ..graph.passes import Changed, Pass
from .from_core import CoreGraph, is_tensor, value_of
from .kept import raw_saved, version_of
from .names import names_by_identity, source_at
from .reach import backward_of

MOST_ROOTS = 8  # graphs that are looked at when the loss is not named


def roots_for(tensor: Tensor, variables: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """The ends of the graphs, among the caller's variables, that the tensor's gradient would come from.

    Those that lead to the tensor; if none does, those on which backward() was called; else what looks like a loss.
    """
    known = [t for _, t in names_by_identity(variables, is_tensor) if t is not tensor]
    made = [t for t in dict.fromkeys(known) if _grad_fn(t) is not None]
    ends, leads = _ends(made, backward_of(tensor))
    mine = [t for t in ends if t._grad_fn in leads]
    if not mine and tensor.requires_grad and _was_root(tensor):
        return (tensor,)
    asked = [t for t in ends if _was_root(t)]
    found = _most_likely(mine) or _latest_asked(asked) or [t for t in _most_likely(ends)[-1:] if t._data.size == 1]
    return tuple((found or _like_a_loss(known))[-MOST_ROOTS:])


def numbers_of(graph: CoreGraph) -> dict[str, Value | None]:
    """The numbers of the last pass: on the arrows, and at `arrived:n2.0` what hooks left of what arrived at output 0 of n2."""
    found = dict(graph.past().values)
    for node, id in graph.node_ids.items():
        for i, g in enumerate(node._passed[0] if node._passed else ()):
            if g is not None:
                found[f"arrived:{id}.{i}"] = value_of(np.asarray(g))
    return found


def _grad_fn(tensor: Tensor) -> Node | None:
    node = backward_of(tensor)
    return None if isinstance(node, AccumulateGrad) else node


def _was_root(tensor: Tensor) -> bool:
    return any(e.kind == "backward" for e in tensor._events)


def _latest_asked(tensors: list[Tensor]) -> list[Tensor]:
    """The one on which backward() was called last, if it was on any."""
    asked = [(e.order, i) for i, t in enumerate(tensors) for e in t._events if e.kind == "backward"]
    return [tensors[max(asked)[1]]] if asked else []


def _most_likely(ends: list[Tensor]) -> list[Tensor]:
    """That on which backward() was called last, else those of one element, else all; the latest last."""
    found = sorted(ends, key=lambda t: t._grad_fn._sequence if t._grad_fn is not None else 0)
    return _latest_asked(found) or [t for t in found if t._data.size == 1] or found


def _like_a_loss(known: list[Tensor]) -> list[Tensor]:
    """A number with a fraction that was computed, and is outside every graph."""
    numbers = [t for t in known if not t.requires_grad and t._data.size == 1 and t._data.dtype.kind == "f"]
    computed = [t for t in numbers if t._made_by is None or t._made_by.inputs]
    return computed[-1:]


def _ends(made: Iterable[Tensor], target: Node | None) -> tuple[list[Tensor], set[Node]]:
    """The tensors whose nodes no other's lead to, and all nodes that lead to the target."""
    senders: dict[Node, list[Node]] = {}
    stack: list[Node] = [t._grad_fn for t in made if t._grad_fn is not None]
    seen = set(stack)
    while stack:
        node = stack.pop()
        for after in node._next:
            if after is not None:
                senders.setdefault(after, []).append(node)
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
    leads: set[Node] = set()
    back = list(senders.get(target, ())) if target is not None else []
    while back:
        node = back.pop()
        if node not in leads:
            leads.add(node)
            back += senders.get(node, ())
    return [t for t in made if t._grad_fn not in senders], leads


class CoreLive:
    """`reasons.Live` for a graph of the core."""

    def __init__(self, graph: CoreGraph) -> None:
        self._graph = graph
        self._nodes = {id: node for node, id in graph.node_ids.items()}

    def has_run(self, node: str) -> bool | None:
        """Every node of the core remembers its last call."""
        return self._nodes[node]._passed is not None

    def changed(self, node: str, saved: str) -> Changed | None:
        """As the version counter has it, which all tensors of one memory share."""
        n = self._nodes[node]
        kept = raw_saved(n).get(saved)
        inner = kept.tensor if isinstance(kept, SavedTensor) else kept
        counter: Any = kept.counter if isinstance(kept, SavedResult) else getattr(inner, "_counter", None)
        if not counter:
            return None
        first = next((place for version, place in counter[1:] if version == version_of(kept)), None)
        name = next((name for t, name in self._graph.names.items() if t._counter is counter), None)
        return Changed(name, counter[0], None if first is None else source_at(*first))

    def is_inference(self, tensor: str) -> bool:
        """Made in inference mode."""
        return self._graph.tensors[tensor].is_inference()

    def switched_at(self, tensor: str) -> Source | None:
        """The last requires_grad_() that changed something."""
        places = [e.at for e in self._graph.tensors[tensor]._events if e.kind == "requires_grad"]
        return source_at(places[-1].code, places[-1].lasti) if places else None

    def passes(self) -> tuple[Pass, ...]:
        """The calls of Tensor.backward()."""
        known = {t: self._graph.tensor_id(t) or "" for t in self._graph.names}
        known |= {t: id for id, t in self._graph.tensors.items()}
        found = [(e.order, id, e.at) for t, id in known.items() for e in t._events if e.kind == "backward"]
        return tuple(Pass(id, source_at(at.code, at.lasti)) for _, id, at in sorted(found, key=lambda f: f[0]))

    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """Rows of grad without anything else than zeros; none if there is no grad."""
        grad = self._graph.tensors[tensor]._grad
        if grad is None or grad._data.ndim < 2:
            return ()
        return tuple(np.flatnonzero(~grad._data.reshape(grad._data.shape[0], -1).any(axis=1)).tolist())

    def hooks(self, node: str) -> tuple[str, ...]:
        """The hooks of the tensors that arrive at the node, and the node's own."""
        found: list[Any] = []
        n = self._nodes[node]
        if isinstance(n, AccumulateGrad) and n.variable._extra is not None:
            found += (n.variable._extra.hooks or {}).values()
        if n._extra is not None:
            found += [h for of_output in n._extra.tensor_hooks.values() for h in of_output.values()]
            found += [*n._extra.prehooks.values(), *n._extra.posthooks.values()]
        return tuple(getattr(h, "__name__", type(h).__name__) for h in found)


class Where(NamedTuple):
    """A frame of the user's, and the instruction at which it was."""

    frame: FrameType
    lasti: int


def users_frame(traceback: TracebackType | None, otherwise: FrameType) -> tuple[Where, Tensor | None]:
    """Where an error left the user's code for the last time, and the tensor on which backward() was called there, if any."""
    where, root = Where(otherwise, otherwise.f_lasti), None
    while traceback is not None:
        frame = traceback.tb_frame
        if not frame.f_code.co_filename.startswith((PACKAGE, "<autograd_viz")):
            where, root = Where(frame, traceback.tb_lasti), None
        elif root is None and frame.f_code.co_name in ("backward", "grad"):
            given = next((frame.f_locals[n] for n in ("self", "tensors", "outputs") if n in frame.f_locals), None)
            root = next((t for t in as_tuple(given) if is_tensor(t)), None)
        traceback = traceback.tb_next
    return where, root


def failing_node(traceback: TracebackType | None) -> Node | None:
    """The node that was running when the error was raised."""
    found = None
    while traceback is not None:
        frame = traceback.tb_frame
        node = frame.f_locals.get("node") or frame.f_locals.get("self")
        if frame.f_code.co_filename.startswith((PACKAGE, "<autograd_viz")) and isinstance(node, Node):
            found = node
        traceback = traceback.tb_next
    return found
