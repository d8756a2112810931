"""A backward pass of PyTorch's, run one node at a time and written down as steps of the document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch

from ...graph import trace
from ...graph.model import Formula, Number, Value
from ...graph.trace import HookRun
from ..formulas import formulas_with_numbers
from ..gradient import check_shape, numbers_of, refusal
from ..jacobian import local_jacobians
from ..pass_kind import Snapshot
from ..undoable_pass import Pass
from ..unused_parameters import random_numbers_kept as others_kept
from ..written import Ran, read_beside
from .dry_run import learn
from .exchange import Exchange
from .graph import TorchGraph
from .handles import version_of
from .hooked import tensors_with_hooks
from .nodes import grad_fn_of, grad_of, is_accumulate, is_function, name_of, outputs_of, variable_of
from .older import tensor_of, with_hooks_of
from .reference_op import agrees, formulas_of, reference_of
from .saved import Kept, saved_of
from .schedule import Step, TorchTask
from .snapshots import Attached, GradSnapshot, SavedSnapshot, TensorSnapshot
from .unused_parameters import leaves_kept, random_numbers_kept
from .values import as_array, is_plain, shape_of, unseen, value_of


class TorchPass(Pass):
    """A backward pass from one root that has not run yet.

    Args:
        graph: the graph of `root`.
        gradient: the first gradient; None for a single element.
        retain_graph, create_graph: as in ``root.backward()``.

    Raises:
        RuntimeError: as ``root.backward()`` would.
    """

    graph: TorchGraph
    frees = False  # a call by hand does not

    @unseen
    def __init__(self, graph: TorchGraph, root: Any, gradient: Any, retain_graph: bool | None, create_graph: bool) -> None:
        import torch.fx.experimental.symbolic_shapes  # noqa: F401 -- PyTorch would load it (0.4 s) at the first press

        learn(root, may_unpack=True)
        task = TorchTask(root, gradient, retain_graph, create_graph)
        super().__init__(graph, task, task.keep_graph)
        self.exchange = Exchange(self.nodes, root)
        task.by_hand = self.exchange.by_hand
        self._has_run = False
        self._saved = {n.id: {s.name: s.value for s in n.saved if s.value is not None} for n in graph.document.nodes}
        self._outputs: dict[Any, list[Any]] = {}
        for t in {*graph.tensors.values(), *tensors_with_hooks()}:
            if grad_fn_of(t) in graph.nodes:
                self._outputs.setdefault(t.grad_fn, []).append(t)

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Random numbers are kept; leaves too, if a hook or a Function is called. Other ranks notice nothing."""
        leaves = [leaf for n in self.nodes if (leaf := variable_of(n)) is not None]
        with ExitStack() as kept:
            kept.enter_context(others_kept())
            kept.enter_context(random_numbers_kept())
            if any(map(self._runs_users_code, self.nodes)):
                kept.enter_context(leaves_kept(leaves))
            kept.enter_context(self.exchange.apart())
            yield

    def advance(self) -> trace.Step | None:
        """Run one node. Ctrl-C on the last line of a `with` would leave PyTorch's grad mode as it was inside."""
        mode = torch.is_grad_enabled()
        try:
            return super().advance()
        finally:
            if torch.is_grad_enabled() != mode:
                torch.set_grad_enabled(mode)

    @property
    def own_ranks(self) -> int:
        """Over how many ranks gradients should have been averaged that are not; 0 if none."""
        return self.exchange.own_ranks

    def _ran(self) -> list[Any]:
        """The nodes of the steps so far, if anybody asks for them."""
        return [done.node for done in self._done] if self.exchange.is_there else []

    @unseen
    def grad_snapshot(self, tensor: Any, is_about_to_change: bool = False) -> GradSnapshot:
        """The tensor's grad as it is now."""
        return GradSnapshot(tensor, is_about_to_change)

    @unseen
    def saved_snapshot(self, node: Any) -> Snapshot:
        """A node's saved tensors as they are now, and the grads that a pass inside of the call changes, as it comes to them."""
        around = self.task.surroundings
        inner = [GradSnapshot(snapshot.tensor) for snapshot in around.inner] if self._has_run else []
        if not self._has_run:
            around.inner = inner
        self._has_run = False
        return SavedSnapshot(node, inner, self.exchange.snapshots(node, self._ran()))

    @unseen
    def lost(self, node: Any) -> dict[str, str]:
        """The node's saved tensors that it cannot use."""
        kept = () if is_accumulate(node) else saved_of(node)
        return {k.name: "stale" if k.stale else "freed" for k in kept if k.stale or k.state == "freed"}

    @unseen
    def attached(self, node: Any) -> Attached:
        """What the user has attached to a node."""
        return Attached(node, self._outputs.get(node, []))

    @unseen
    def arrived(self, node: Any) -> Sequence[Snapshot]:
        """The gradients that code of the user's may change: hooks, a Function's backward."""
        grads = self.task.input_buffers[node][1:] if self._runs_users_code(node) else ()
        return [TensorSnapshot(g) for g in grads if g is not None]

    def _runs_users_code(self, node: Any) -> bool:
        """Hooks, or a Function's backward."""
        return is_function(node) or self.attached(node).runs_code

    @unseen
    def touched(self, node: Any) -> list[Any]:
        """The leaf, or the outputs that retain their grad; and those of other nodes whose grads other ranks change."""
        own = [variable_of(node)] if is_accumulate(node) else self._retaining(node)
        far = self.exchange.touched(node, self._ran(), is_last=len(self._done) + 1 == self.total)
        return list(dict.fromkeys([*own, *far]))

    def _retaining(self, node: Any) -> list[Any]:
        return [t for t in self._outputs.get(node, ()) if t.grad_fn is node and t.retains_grad]

    def called(self, touched: list[Any], edited: tuple[int, ...]) -> Ran:
        """Call the next node."""
        node, task = self.task.peek(), self.task
        task.hooks.watched = {node: self._hook_dicts(node)}
        task.hooks.retaining = {node: [] if is_accumulate(node) else self._retaining(node)}
        task.hooks.runs = []
        kept = [] if is_accumulate(node) else list(saved_of(node))
        before = [self.grad_value(t) for t in touched]
        with self.exchange.around(), task.hooks.accumulating(node), self._averaging(node):
            step = task.step()
        ids = map(self.graph.tensor_id, touched)
        grads = {id: (b, self.grad_value(t)) for id, t, b in zip(ids, touched, before, strict=True) if id is not None}
        outputs, inputs = _values(step.grad_outputs), _values(step.grad_inputs)
        shapes = tuple(None if r is None else shape_of(r) for r in step.results)
        id = self.graph.node_ids[node]
        saved = self._saved.get(id, {})
        formulas, jacobians = self._rules(step, kept, saved, outputs, inputs)
        self._has_run = True
        return Ran(id, outputs, inputs, shapes, grads, saved, formulas, tuple(task.hooks.runs), jacobians, edited)

    @contextmanager
    def _averaging(self, node: Any) -> Iterator[None]:
        """Inside, the step averages the gradients of the DDP modules whose last parameter this is."""
        self.task.afterwards = partial(self._average, node) if self.exchange.replicas else None
        try:
            yield
        finally:
            self.task.afterwards = None

    def _average(self, node: Any) -> None:
        for replica in self.exchange.finished(node, self._ran()):
            leaf = variable_of(node)
            own = self.grad_value(leaf)
            replica.reduce([n for n in [*self._ran(), node] if n in replica.nodes], self.task.create_graph)
            if replica.ranks == 1:
                continue
            name = f"DistributedDataParallel (mean over {replica.ranks} ranks)"
            self.task.hooks.runs.append(HookRun("post_accumulate", name, own, self.grad_value(leaf)))

    @unseen
    def _rules(
        self, step: Step, kept: list[Kept], saved: dict[str, Value], outputs: Sequence[Any], inputs: Sequence[Any]
    ) -> tuple[tuple[Formula, ...], Any]:
        """The formulas that ran, as the core writes them, and the local Jacobians; none where the core's rules come to
        something else, or are not known.
        """
        reference = None if is_accumulate(step.node) else reference_of(name_of(step.node), step.node, kept)
        symbols = formulas_of(reference)
        if reference is None or not symbols or not agrees(reference, list(step.grad_outputs), list(step.results)):
            return (), ()
        results = read_beside(step.results, step.grad_inputs, tuple(inputs), _values)
        jacobians = local_jacobians(reference) if self.shows_jacobians else ()
        return formulas_with_numbers(reference, symbols, saved, outputs, results, inputs), jacobians

    @unseen
    def _hook_dicts(self, node: Any) -> list[tuple[int, dict[Any, Any]]]:
        """Where the tensors of a node keep their hooks."""
        leaf = variable_of(node)
        if leaf is not None:
            return [(0, leaf._backward_hooks or {})]
        live = [(t.output_nr, t._backward_hooks or {}) for t in self._outputs.get(node, ()) if t.grad_fn is node]
        return with_hooks_of(node, live)

    @unseen
    def gradient(self, value: Any, node: Any, index: int) -> Any:
        """What the user has typed, in the shape, type and device of that output."""
        wanted = outputs_of(node)[index]
        if not wanted.is_known:
            raise ValueError(
                f"output {index} of {name_of(node)} gets no gradient in this pass, and PyTorch before 2.5 does not "
                "store its shape: update PyTorch, or use this output in the loss"
            )
        try:
            given = value.detach() if isinstance(value, torch.Tensor) else tensor_of(numbers_of(value, is_complex=True))
        except (TypeError, ValueError, OverflowError):
            raise refusal(value, wanted.shape, wanted.dtype) from None
        if given.is_complex() and not wanted.dtype.is_complex:
            raise refusal(value, wanted.shape, wanted.dtype)
        check_shape(given.shape, wanted.shape)
        return given.to(dtype=wanted.dtype, device=wanted.device).expand(wanted.shape).clone()

    @unseen
    def value_of(self, gradient: Any) -> Value:
        """A gradient as the document shows it."""
        return value_of(gradient)

    @unseen
    def grad_value(self, tensor: Any) -> Value | None:
        """The tensor's grad."""
        grad = grad_of(tensor)
        return None if grad is None else value_of(grad)

    @unseen
    def version_of(self, tensor: Any) -> int:
        """How often the tensor has been changed in place."""
        return version_of(tensor)

    @unseen
    def numbers_of(self, tensor: Any) -> tuple[Number, ...] | None:
        """The elements of a tensor of few, if it is on the CPU."""
        return tuple(as_array(tensor).reshape(-1).tolist()) if is_plain(tensor) and tensor.device.type == "cpu" else None

    @unseen
    def id_of(self, thing: Any) -> str | None:
        """The id of a tensor or node of the graph, else None."""
        if isinstance(thing, torch.Tensor):
            return self.graph.tensor_id(thing)
        try:
            return self.graph.node_ids.get(thing)
        except TypeError:  # not hashable: no node
            return None


def _values(grads: Sequence[Any]) -> tuple[Value | None, ...]:
    return tuple(None if g is None else value_of(g) for g in grads)
