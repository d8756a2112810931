"""A backward pass of the core that runs one node at a time. Each call is a step of the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from ...graph.model import Value
from ...graph.trace import HookRun
from ...twin.core.backward import hooks
from ...twin.core.backward.accumulate_grad import AccumulateGrad
from ...twin.core.backward.backward import start
from ...twin.core.backward.engine import GraphTask
from ...twin.core.backward.node import Node
from ...twin.core.backward.saved import FREED, SavedResult, SavedTensor
from ...twin.core.base.grad_mode import Anomaly, is_grad_enabled, set_grad_enabled
from ...twin.core.op.primitive_node import PrimitiveNode
from ...twin.core.tensor.former import Overwritten
from ...twin.core.tensor.number import Number
from ...twin.core.tensor.tensor import Tensor
from ..shared.formulas import formulas_with_numbers, local_jacobians, symbolic_formulas
from ..shared.replacement import is_own_hook, name_of_hook, runs_of
from ..shared.saved import is_stale, kept_array, raw_saved
from ..shared.stepping.engine_state import keep_random_numbers
from ..shared.stepping.library import Library, Snapshot, as_gradient
from ..shared.stepping.step import Ran, Rules, read_beside
from ..shared.stepping.undoable_pass import Pass
from ..shared.storages import owner
from ..shared.values import FEW, dtype_text, value_of
from .graph import CoreGraph, is_tensor, version_now
from .snapshots import ArraySnapshot, Attachments, GradSnapshot, SavedSnapshot, keep_leaves, runs_only_ours


class HookWatch:
    """Records the hooks that return (see `core.hooks.Observer`), except those of a nested pass."""

    def __init__(self, task: GraphTask) -> None:
        self.task = task
        self.runs: list[HookRun] = []

    def seen(self, grad: Any) -> Value | None:
        """A gradient before a hook."""
        return value_of(grad) if isinstance(grad, Tensor) else None

    def ran(self, kind: str, hook: Any, index: int, seen: Value | None, after: Any) -> None:
        """One gradient went through a hook."""
        if GraphTask.current is self.task and not is_own_hook(hook):
            self.runs.append(HookRun(kind, name_of_hook(hook), seen, self.seen(after), index))

    def ran_for_all(self, kind: str, hook: Any, seen: Sequence[Value | None], after: Sequence[Any]) -> None:
        """A hook got several gradients."""
        if GraphTask.current is self.task:
            self.runs += runs_of(kind, hook, seen, [self.seen(a) for a in after])


@contextmanager
def record_hooks(task: GraphTask) -> Iterator[list[HookRun]]:
    """Inside, every hook of the pass is added to the list when it returns."""
    watch = HookWatch(task)
    outer, hooks.observer = hooks.observer, watch
    try:
        yield watch.runs
    finally:
        hooks.observer = outer


MOST = 1024  # elements of a copy; a larger saved tensor gets no formula and no Jacobian


def twin_of(node: PrimitiveNode) -> Callable[[], PrimitiveNode]:
    """A function that makes the node as it is now, to write its rules, even if it and its saved tensors change."""
    values = [_frozen(getattr(node, slot)) for slot in node.slots]

    def twin() -> PrimitiveNode:
        made = type(node).__new__(type(node))
        Node.__init__(made, node.next_functions, node._outputs_metadata(), 0)
        for slot, kept in zip(made.slots, values, strict=True):
            setattr(made, slot, kept)
        return made

    return twin


def _frozen(kept: Any) -> Any:
    """A copy of a saved value that nobody can change."""
    if isinstance(kept, tuple):
        return tuple(map(_frozen, kept))
    if isinstance(kept, SavedTensor):
        if kept.unpack_hook is not None or not isinstance(kept.tensor, Tensor):
            return kept
        copy = _frozen(kept.tensor)
        return SavedResult(copy) if isinstance(kept, SavedResult) else copy
    if not isinstance(kept, Tensor) or isinstance(kept, Number | Overwritten):
        return kept
    data = kept._data
    return Tensor(np.array(data)) if data.size <= MOST else Overwritten(np.broadcast_to(np.zeros((), data.dtype), data.shape))


CORE = Library(
    is_tensor=is_tensor,
    value_of=value_of,
    grad_of=lambda tensor: tensor._grad,
    version_of=version_now,
    numbers_of=lambda tensor: tuple(tensor._data.reshape(-1).tolist()),
    copy_of=lambda gradient: Tensor((gradient._data if isinstance(gradient, Tensor) else gradient).copy()),
    is_grad_enabled=is_grad_enabled,
    set_grad_enabled=set_grad_enabled,
)


class CorePass(Pass):
    """A backward pass from one root that has not run yet. RuntimeError: as `backward` would, in PyTorch's words."""

    graph: CoreGraph
    library = CORE

    def __init__(
        self, graph: CoreGraph, root: Tensor, gradient: Tensor | None, retain_graph: bool | None, create_graph: bool
    ) -> None:
        task = start(root, gradient, retain_graph, create_graph)
        super().__init__(graph, task, task.keep_graph)
        if gradient is not None:
            self._unread.show(self.places([gradient]))
        drawn = {n.id: {s.name: s.value for s in n.saved if s.value is not None} for n in graph.document.nodes}
        self._drawn = {node: drawn[id] for node, id in graph.node_ids.items()}

    def grad_snapshot(self, tensor: Tensor, is_about_to_change: bool = False) -> GradSnapshot:
        """The tensor's grad as it is now."""
        return GradSnapshot(tensor)

    def saved_snapshot(self, node: Node) -> Snapshot:
        """A node's saved tensors as they are now."""
        return SavedSnapshot(node)

    def lost(self, node: Node) -> dict[str, str]:
        """The node's saved tensors that can no longer be used."""
        kept = raw_saved(node).items()
        return {name: "freed" if k is FREED else "stale" for name, k in kept if k is FREED or is_stale(node, k)}

    def attached(self, node: Node) -> Attachments:
        """What the user has attached to a node."""
        return Attachments(node)

    def arrived(self, node: Node) -> Sequence[Snapshot]:
        """The gradients that the user's code may change: hooks, a Function's backward."""
        grads = [g._data if isinstance(g, Tensor) else g for g in self.task.input_buffers[node][1:] if g is not None]
        return list(map(ArraySnapshot, grads))

    def shows(self, node: Node, attached: Attachments) -> bool:
        """Does it run the user's code, keep the gradient as a grad, or record the pass?"""
        return self.is_recorded or node._extra is not None or not runs_only_ours(node)

    def places(self, gradients: Iterable[Any]) -> list[tuple[int, int]]:
        """The memory of each gradient."""
        arrays = [owner(g._data if isinstance(g, Tensor) else g) for g in gradients if g is not None]
        return [(a.__array_interface__["data"][0], a.nbytes) for a in arrays if isinstance(a, np.ndarray)]

    def touched(self, node: Node) -> list[Tensor]:
        """The leaf, or the outputs that retain their grad."""
        if isinstance(node, AccumulateGrad):
            return [node.variable]
        return [t for reference in (node._extra.retains if node._extra else {}).values() if (t := reference()) is not None]

    def call_node(self, touched: list[Tensor], edited: tuple[int, ...]) -> Ran:
        """Call the next node, and after the last one the callbacks."""
        node = self.task.peek()
        twin, saved = twin_of(node) if isinstance(node, PrimitiveNode) else None, self._saved_values(node)
        with record_hooks(self.task) as hooks:
            step = self.task.step()
            if not self.task.ready and self.task.callbacks:
                self.task.end()
        rules = partial(_rules, twin, step.results, self.shows_jacobians)
        shapes = tuple([None if r is None else r.shape for r in step.results])
        id = self.graph.node_ids[node]
        return Ran(id, step.grad_outputs, step.grad_inputs, shapes, CORE.values, saved, rules, tuple(hooks), edited)

    def _saved_values(self, node: Node) -> dict[str, Callable[[], Value]]:
        drawn = self._drawn.get(node, {})
        arrays = ((name, kept_array(kept)) for name, kept in raw_saved(node).items())
        return {name: _reader_of(array, drawn.get(name)) for name, array in arrays if array is not None}

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Inside, random numbers and leaves are protected if the user's code is called."""
        with ExitStack() as kept:
            if self.calls_user_code:
                kept.enter_context(keep_random_numbers())
                kept.enter_context(keep_leaves([n.variable for n in self.nodes if isinstance(n, AccumulateGrad)]))
            yield

    def runs_code(self, node: Node) -> bool:
        """Does a call of the node run user code?"""
        return not runs_only_ours(node)

    @property
    def leaves_no_trace(self) -> bool:
        """Does it call no hook and no Function's backward, record nothing, and have no observer?"""
        return not self.is_recorded and not Anomaly.enabled and not self.calls_user_code

    def gradient(self, value: Any, node: Node, index: int) -> Any:
        """What the user typed, with the shape and type of that output."""
        return as_gradient(value, *node._outputs_metadata()[index], as_tensor=self.task.create_graph)


def _reader_of(array: Any, drawn: Value | None) -> Callable[[], Value]:
    """A function that reads an array as it is now. A small array is copied; a large one that is drawn has already been read."""
    if array.size <= FEW:
        return partial(value_of, array.copy())
    is_drawn = drawn is not None and drawn.summary is not None and drawn.shape == array.shape
    value = drawn if drawn is not None and is_drawn and drawn.dtype == dtype_text(array.dtype) else value_of(array)
    return lambda: value


def _rules(twin: Callable[[], PrimitiveNode] | None, results: Sequence[Any], jacobians: bool, ran: Ran) -> Rules:
    if twin is None:
        return (), ()
    node = twin()
    values = read_beside(results, ran.left, ran.grad_inputs, CORE.values)  # usually the same objects
    formulas = formulas_with_numbers(node, symbolic_formulas(node), ran.kept, ran.grad_outputs, values, ran.grad_inputs)
    return formulas, local_jacobians(node) if jacobians else ()
