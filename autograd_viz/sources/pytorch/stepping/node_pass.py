"""A backward pass of PyTorch that runs one node at a time. Each call is a step of the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import Node

from ....graph import trace
from ....graph.model import Formula, Number, Value
from ....graph.text import value_text
from ....graph.trace import HookRun
from ...shared.formulas import formulas_with_numbers, local_jacobians
from ...shared.stepping.library import Library, Snapshot, check_shape, numbers_of, refusal
from ...shared.stepping.step import Ran, Rules, read_beside
from ...shared.stepping.undoable_pass import Pass
from ..reading import hooked, nodes
from ..reading.dry_run import learn
from ..reading.graph import TorchGraph, is_tensor
from ..reading.handles import version_of
from ..reading.older import tensor_of, with_hooks_of
from ..reading.reference_op import agrees, formulas_of, frozen, reference_of
from ..reading.region_op import RegionOp
from ..reading.saved import SavedValue, saved_of
from ..reading.values import as_array, is_plain, overwritten, shape_of, unseen, value_of
from ..recording.watch import own_code
from . import snapshots
from .exchange import Exchange
from .schedule import Step, TorchTask

NOWHERE = (0, 0)  # the place of a tensor without plain memory: it is always read at once


def _always(value: Value) -> Callable[[], Value]:
    return lambda: value


def _numbers(tensor: Any) -> tuple[Number, ...] | None:
    return tuple(as_array(tensor).reshape(-1).tolist()) if is_plain(tensor) and tensor.device.type == "cpu" else None


TORCH = Library(
    is_tensor=is_tensor,
    value_of=value_of,
    grad_of=unseen(nodes.grad_of),
    version_of=unseen(version_of),
    numbers_of=unseen(_numbers),
    copy_of=unseen(lambda gradient: gradient.detach().clone()),
    is_grad_enabled=torch.is_grad_enabled,
    set_grad_enabled=torch.set_grad_enabled,
)


class TorchPass(Pass):
    """A backward pass from one root that has not run yet. RuntimeError: as ``root.backward()`` would."""

    graph: TorchGraph
    library = TORCH
    frees = False  # a call by hand does not

    @unseen
    def __init__(self, graph: TorchGraph, root: Any, gradient: Any, retain_graph: bool | None, create_graph: bool) -> None:
        import torch.fx.experimental.symbolic_shapes  # noqa: F401 -- 0.4 s: else PyTorch loads it at the first step

        learn(root, may_unpack=True)
        task = TorchTask(graph, root, gradient, retain_graph, create_graph)
        super().__init__(graph, task, task.keep_graph)
        self.exchange = Exchange(self.nodes, root)
        task.by_hand = self.exchange.by_hand
        self._has_run = False
        self._saved = {n.id: {s.name: _always(s.value) for s in n.saved if s.value} for n in graph.document.nodes}
        self._kept: list[SavedValue] = []  # saved values of the node that is about to run
        self._unread.show([NOWHERE, *([] if gradient is None else self.places([gradient]))])
        self._outputs: dict[Any, list[Any]] = {}
        for t in {*graph.tensors.values(), *hooked.tensors_with_hooks()}:
            if (node := nodes.grad_fn_of(t)) in graph.nodes:
                self._outputs.setdefault(node, []).append(t)

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Inside, random numbers are protected, and leaves if a hook or a Function is called. Other ranks notice nothing."""
        leaves = [leaf for n in self.nodes if (leaf := nodes.variable_of(n)) is not None]
        with ExitStack() as kept:
            kept.enter_context(snapshots.keep_random_numbers())
            if self.calls_user_code:
                kept.enter_context(snapshots.keep_leaves(leaves))
            kept.enter_context(self.exchange.apart())
            yield

    @own_code()
    def advance(self) -> trace.Step | None:
        """Run one node."""
        with torch._C.DisableTorchFunction():  # the engine's own calls are heard by no function mode either
            return super().advance()

    def runs_code(self, node: Node) -> bool:
        """Has it hooks, or is it a Function's backward?"""
        return nodes.is_function(node) or self.attached(node).runs_code

    @property
    def own_ranks(self) -> int:
        """Over how many ranks the gradients should be averaged, and are not; 0 if none."""
        return self.exchange.own_ranks

    def _ran(self) -> list[Any]:
        """The nodes of the steps so far, computed when asked."""
        return [done.before.node for done in self._done] if self.exchange.is_there else []

    def edges_of(self, node: Any) -> Sequence[nodes.Edge]:
        """Where its gradients go; of an open region, into it."""
        return self.graph.edges_of(node)

    @unseen
    def grad_snapshot(self, tensor: torch.Tensor, is_about_to_change: bool = False) -> snapshots.GradSnapshot:
        """The tensor's grad as it is now."""
        return snapshots.GradSnapshot(tensor, is_about_to_change)

    @unseen
    def saved_snapshot(self, node: Node) -> Snapshot:
        """A node's saved tensors as they are now. The grads that a nested pass changes are added as it reaches them."""
        around = self.task.surroundings
        inner = [snapshots.GradSnapshot(snapshot.tensor) for snapshot in around.inner] if self._has_run else []
        if not self._has_run:
            around.inner = inner
            self._kept = [] if nodes.is_accumulate(node) else list(saved_of(node))
        states = snapshots.states_in(self._kept) if not self._has_run else snapshots.states_of(node)
        self._has_run = False
        others = self.exchange.snapshots(node, self._ran()) if self.exchange.is_there else []
        return snapshots.SavedSnapshot(node, states, inner, others)

    def saved_after(self, before: Snapshot, node: Node, is_seen: bool) -> Snapshot:
        """The saved tensors after the call. They are as before, unless the user's code or other ranks took part."""
        if is_seen or self.exchange.is_there:
            return self.saved_snapshot(node)
        self._has_run = False
        return before

    @unseen
    def lost(self, node: Node) -> dict[str, str]:
        """The node's saved tensors that can no longer be used."""
        kept = () if nodes.is_accumulate(node) else saved_of(node)
        return {k.name: "stale" if k.stale else "freed" for k in kept if k.stale or k.state == "freed"}

    @unseen
    def attached(self, node: Node) -> snapshots.Attachments:
        """What the user has attached to a node."""
        return snapshots.Attachments(node, self._outputs.get(node, []), self.task.hooks.dicts(node))

    @unseen
    def arrived(self, node: Node) -> Sequence[Snapshot]:
        """The gradients that the user's code may change: hooks, a Function's backward."""
        return [snapshots.TensorSnapshot(g) for g in self.task.input_buffers[node][1:] if g is not None]

    def shows(self, node: Node, attached: snapshots.Attachments) -> bool:
        """Are there hooks (also of saved tensors) or a Function's backward? Is the pass recorded? Do other ranks take part?"""
        is_packed = any(k.value is None and k.state == "kept" for k in self._kept)
        return self.is_recorded or is_packed or nodes.is_function(node) or attached.runs_code or self.exchange.is_there

    @unseen
    def places(self, gradients: Iterable[Any]) -> list[tuple[int, int]]:
        """The memory of each gradient; `NOWHERE` for one without plain memory."""
        return [place_of(g) for g in gradients if g is not None]

    @unseen
    def touched(self, node: Node) -> list[Any]:
        """The leaf, or the outputs that retain their grad; and tensors of other nodes whose grads other ranks change."""
        own = [nodes.variable_of(node)] if nodes.is_accumulate(node) else self._retaining(node)
        if not self.exchange.is_there:
            return list(dict.fromkeys(own))
        far = self.exchange.touched(node, self._ran(), is_last=len(self._done) + 1 == self.total)
        return list(dict.fromkeys([*own, *far]))

    def _retaining(self, node: Node) -> list[Any]:
        return [t for t in self._outputs.get(node, ()) if nodes.grad_fn_of(t) is node and t.retains_grad]

    def call_node(self, touched: list[Any], edited: tuple[int, ...]) -> Ran:
        """Call the next node."""
        node, task = self.task.peek(), self.task
        task.hooks.watched = {node: self._hook_dicts(node)}
        task.hooks.retaining = {node: [] if nodes.is_accumulate(node) else self._retaining(node)}
        task.hooks.runs = []
        kept, self._kept = frozen(nodes.name_of(node), self._kept), []
        step = self._stepped(node)
        self._has_run = True
        shapes = tuple([None if r is None else shape_of(r) for r in step.results])
        id = self.graph.node_ids[node]
        rules, hooks = partial(rules_of, step, kept, self.shows_jacobians), tuple(task.hooks.runs)
        read = partial(values_at, {g: version_of(g) for g in (*step.grad_outputs, *step.grad_inputs) if g is not None})
        ran = Ran(id, step.grad_outputs, step.grad_inputs, shapes, read, self._saved.get(id, {}), rules, hooks, edited)
        ran.interpreted = task.interpreted
        return ran

    def _stepped(self, node: Node) -> Any:
        """Run the next node. A leaf's hooks are watched, and other ranks take part if they must."""
        if not (nodes.is_accumulate(node) or self.exchange.is_there):
            return self.task.step()
        self.task.afterwards = partial(self._average, node) if self.exchange.replicas else None
        try:
            with self.exchange.around(), self.task.hooks.accumulating(node):
                return self.task.step()
        finally:
            self.task.afterwards = None

    def _average(self, node: Node) -> None:
        """Average the gradients of the DDP modules that the node completes."""
        for replica in self.exchange.finished(node, self._ran()):
            leaf = nodes.variable_of(node)
            own = TORCH.grad_value(leaf)
            replica.reduce([n for n in [*self._ran(), node] if n in replica.nodes], self.task.create_graph)
            if replica.ranks == 1:
                continue
            name = f"DistributedDataParallel (mean over {replica.ranks} ranks)"
            self.task.hooks.runs.append(HookRun("post_accumulate", name, own, TORCH.grad_value(leaf)))

    @unseen
    def _hook_dicts(self, node: Node) -> list[tuple[int, dict[Any, Any]]]:
        """The dictionaries of hooks of a node's tensors."""
        leaf = nodes.variable_of(node)
        if leaf is not None:
            return [(0, leaf._backward_hooks or {})]
        live = [(t.output_nr, t._backward_hooks or {}) for t in self._outputs.get(node, ()) if nodes.grad_fn_of(t) is node]
        return with_hooks_of(node, live)

    @unseen
    def gradient(self, value: object, node: Node, index: int) -> Any:
        """What the user typed, with the shape, type and device of that output."""
        wanted = nodes.outputs_of(node)[index]
        if not wanted.is_known:
            raise ValueError(
                f"output {index} of {nodes.name_of(node)} gets no gradient in this pass, and PyTorch before 2.5 does not "
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


# -- what a step is written from when it is read: see Note [When a step is read] in step.py ---------------------------


@unseen
def rules_of(step: Step, kept: list[SavedValue] | None, jacobians: bool, ran: Ran) -> Rules:
    """The formulas that ran, as the core writes them, and, if wanted, the local Jacobians. Both are empty if the core's rules
    are unknown or give other results.
    """
    if isinstance(step.node, RegionOp):
        texts, names = step.node.formulas(), [r.name for r in step.node.results]
        values = dict(zip(names, ran.grad_inputs, strict=True))
        return tuple(Formula(n, t if (v := values[n]) is None else f"{t} = {value_text(v)}") for n, t in texts.items()), ()
    reference = (
        None if kept is None or nodes.is_accumulate(step.node) else reference_of(nodes.name_of(step.node), step.node, kept)
    )
    symbols = formulas_of(reference)
    if reference is None or not symbols or not agrees(reference, list(step.grad_outputs), list(step.results)):
        return (), ()
    results = read_beside(step.results, step.grad_inputs, ran.grad_inputs, _values)
    formulas = formulas_with_numbers(reference, symbols, ran.kept, ran.grad_outputs, results, ran.grad_inputs)
    return formulas, local_jacobians(reference) if jacobians else ()


def place_of(gradient: object) -> tuple[int, int]:
    """Address and bytes of the whole memory that a gradient is in."""
    if type(gradient) is not torch.Tensor or gradient.layout is not torch.strided or gradient.is_meta:
        return NOWHERE
    try:
        size = gradient.element_size()
        return gradient.data_ptr() - int(gradient.storage_offset()) * size, gradient.numel() * size
    except RuntimeError:  # inside torch.func
        return NOWHERE


@unseen
def values_at(versions: Mapping[Any, int], grads: Sequence[Any]) -> tuple[Value | None, ...]:
    """Gradients as they were at these versions. Only a hook without a tensor can change one; then its value says so."""
    changed = {g for g in grads if g is not None and version_of(g) != versions[g]}
    return tuple([overwritten(g.shape, g.dtype) if g in changed else v for g, v in zip(grads, _values(grads), strict=True)])


def _values(grads: Sequence[Any]) -> tuple[Value | None, ...]:
    return tuple(None if g is None else value_of(g) for g in grads)
