"""A backward pass of the core, run one node at a time and written down as steps of the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ..core.backward.accumulate_grad import AccumulateGrad
from ..core.backward.backward import start
from ..core.backward.node import Node
from ..core.backward.saved import FREED
from ..core.base.grad_mode import Anomaly, is_grad_enabled, set_grad_enabled
from ..core.tensor.tensor import Tensor
from ..graph.model import Number, Value
from ..graph.trace import Step
from .formulas import formulas_with_numbers, symbolic_formulas
from .from_core import CoreGraph, version_now
from .gradient import as_gradient
from .hook_watch import hooks_watched
from .jacobian import local_jacobians
from .kept import is_stale, kept_array, raw_saved
from .pass_kind import Snapshot
from .snapshots_core import ArraySnapshot, Attached, GradSnapshot, SavedSnapshot, runs_only_ours
from .undoable_pass import Pass
from .unused_parameters import leaves_kept, random_numbers_kept
from .values import value_of
from .written import Ran, read_beside


class CorePass(Pass):
    """A backward pass from one root that has not run yet.

    Args:
        graph: the graph of `root`.
        gradient: the first gradient; None for a single element.
        retain_graph, create_graph: as in `backward`.

    Raises:
        RuntimeError: as `backward` would, in PyTorch's words.
    """

    graph: CoreGraph

    def __init__(
        self, graph: CoreGraph, root: Tensor, gradient: Tensor | None, retain_graph: bool | None, create_graph: bool
    ) -> None:
        task = start(root, gradient, retain_graph, create_graph)
        super().__init__(graph, task, task.keep_graph)

    def advance(self) -> Step | None:
        """Run one node. Ctrl-C on the last line of a `with` would leave grad mode as it was inside."""
        mode = is_grad_enabled()
        try:
            return super().advance()
        finally:
            if is_grad_enabled() != mode:
                set_grad_enabled(mode)

    def grad_snapshot(self, tensor: Tensor, is_about_to_change: bool = False) -> GradSnapshot:
        """The tensor's grad as it is now."""
        return GradSnapshot(tensor)

    def saved_snapshot(self, node: Node) -> Snapshot:
        """A node's saved tensors as they are now."""
        return SavedSnapshot(node)

    def lost(self, node: Node) -> dict[str, str]:
        """The node's saved tensors that it cannot use."""
        kept = raw_saved(node).items()
        return {name: "freed" if k is FREED else "stale" for name, k in kept if k is FREED or is_stale(node, k)}

    def attached(self, node: Node) -> Attached:
        """What the user has attached to a node."""
        return Attached(node)

    def arrived(self, node: Node) -> Sequence[Snapshot]:
        """The gradients that code of the user's may change: hooks, a Function's backward."""
        grads = () if node.is_plain and node._extra is None else self.task.input_buffers[node][1:]
        return [ArraySnapshot(g._data if isinstance(g, Tensor) else g) for g in grads if g is not None]

    def touched(self, node: Node) -> list[Tensor]:
        """The leaf, or the outputs that retain their grad."""
        if isinstance(node, AccumulateGrad):
            return [node.variable]
        return [t for reference in (node._extra.retains if node._extra else {}).values() if (t := reference()) is not None]

    def called(self, touched: list[Tensor], edited: tuple[int, ...]) -> Ran:
        """Call the next node, and at the end of the pass what was to be called then."""
        node = self.task.peek()
        symbols, jacobians = symbolic_formulas(node), local_jacobians(node) if self.shows_jacobians else ()
        arrays = {name: kept_array(kept) for name, kept in raw_saved(node).items()}
        saved = {name: value_of(a) for name, a in arrays.items() if a is not None}
        before = [self.grad_value(t) for t in touched]
        with hooks_watched(self.task) as hooks:
            step = self.task.step()
            if not self.task.ready and self.task.callbacks:
                self.task.end()
        outputs, results = _values(step.grad_outputs), _values(step.results)
        inputs = read_beside(step.grad_inputs, step.results, results, _values)  # nearly always they are the same
        ids = map(self.graph.tensor_id, touched)
        grads = {id: (b, self.grad_value(t)) for id, t, b in zip(ids, touched, before, strict=True) if id is not None}
        formulas = formulas_with_numbers(node, symbols, saved, outputs, results, inputs)
        shapes = tuple(None if r is None else r.shape for r in results)
        id = self.graph.node_ids[node]
        return Ran(id, outputs, inputs, shapes, grads, saved, formulas, tuple(hooks), jacobians, edited)

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Random numbers and leaves are kept, if code of the user's is called."""
        leaves = [n.variable for n in self.nodes if isinstance(n, AccumulateGrad)]
        with ExitStack() as kept:
            if not all(map(runs_only_ours, self.nodes)):
                kept.enter_context(random_numbers_kept())
                kept.enter_context(leaves_kept(leaves))
            yield

    @property
    def leaves_no_trace(self) -> bool:
        """No hook and no Function's backward is called, nothing is recorded, and nobody looks on."""
        return not self.is_recorded and not Anomaly.enabled and all(map(runs_only_ours, self.task.input_buffers))

    def gradient(self, value: Any, node: Node, index: int) -> Any:
        """What the user has typed, in the shape and type of that output."""
        return as_gradient(value, *node._outputs_metadata()[index], as_tensor=self.task.create_graph)

    def value_of(self, gradient: Any) -> Value:
        """A gradient as the document shows it."""
        return value_of(gradient)

    def grad_value(self, tensor: Tensor) -> Value | None:
        """The tensor's grad."""
        return None if tensor._grad is None else value_of(tensor._grad)

    def version_of(self, tensor: Tensor) -> int:
        """How often the tensor has been changed in place."""
        return version_now(tensor)

    def numbers_of(self, tensor: Tensor) -> tuple[Number, ...]:
        """The elements of a tensor of few."""
        return tuple(tensor._data.reshape(-1).tolist())

    def id_of(self, thing: Any) -> str | None:
        """The id of a tensor or node of the graph, else None."""
        if isinstance(thing, Node):
            return self.graph.node_ids.get(thing)
        return self.graph.tensor_id(thing) if isinstance(thing, Tensor) else None


def _values(grads: Sequence[Any]) -> tuple[Value | None, ...]:
    return tuple(None if g is None else value_of(g) for g in grads)
