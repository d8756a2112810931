"""PyTorch's engine, one node at a time: the same order, the same sums, the same checks between nodes.

# Note [What the engine does around a node]
Calling a node by hand runs only its rule. The rest is here:
- tensor hooks, retain_grad and hooks of the node (hooks.py);
- the sum of what arrives over several edges;
- undoing a broadcast, and casting to the type of the forward value (`validate_outputs`).
A call by hand frees nothing, so ``loss.backward()`` can still use the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import Node

from ....twin.core.backward.instrumentation import warn_where_made
from ....twin.core.backward.ready_queue import Ranked, push, take
from ..reading import nodes
from ..reading.found_graph import FoundGraph, called_on
from ..reading.hooks import HookRunner, run_backward
from ..reading.older import IS_OLDER
from ..reading.values import unseen
from .calling import Interpreted, Surroundings, call_function


class Step(NamedTuple):
    """One call of one node; gradients are tensors, or None if there is none."""

    node: Any
    grad_outputs: Sequence[Any]
    results: Sequence[Any]
    grad_inputs: Sequence[Any]


def _ranked(node: Node) -> Ranked:
    return Ranked(node, nodes.LAST_SEQUENCE_NR if nodes.is_accumulate(node) else node._sequence_nr())


class TorchTask:
    """One backward pass in progress, from one root. Its attributes are those of `core.engine.GraphTask`.
    RuntimeError: what ``root.backward()`` would refuse, in PyTorch's words.
    """

    def __init__(
        self, graph: FoundGraph, root: torch.Tensor, gradient: Any, retain_graph: bool | None, create_graph: bool
    ) -> None:
        if not root.requires_grad:
            raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        (first,) = torch.autograd._make_grads((root,), (gradient,), is_grads_batched=False)
        self.keep_graph = create_graph if retain_graph is None else retain_graph
        self.create_graph = create_graph
        self.hooks = HookRunner(create_graph)
        self.callbacks: list[Callable[[], Any]] = []
        self.looked_at: set[Any] = set()
        self.edges_of = graph.edges_of
        self.regions = {node: Interpreted(region) for node, region in graph.regions.items()}
        self._inside: dict[Any, Interpreted] = {op: self.regions[n] for n, region in graph.regions.items() for op in region.ops}
        self.interpreted: float | None = None  # of the node that ran last, as in `trace.Step`
        self._looks: dict[Any, tuple[nodes.Metadata, ...]] = {}
        node, index = nodes.edge_of(root)
        self.starts = {node}
        self.input_buffers = _input_buffers(node, self.edges_of)
        self.ready: list[Ranked] = []  # a heap, as in the core
        self.input_buffers[node][index + 1] = first
        self.input_buffers[node][0] -= 1
        push(self.ready, _ranked(node))
        self.surroundings = Surroundings(self.input_buffers, self.callbacks)
        self.by_hand: frozenset[Any] = frozenset()  # AccumulateGrads that the engine must not call: see Note [Replicas]
        self.afterwards: Callable[[], None] | None = None  # to call in this step when its node has run

    def peek(self) -> Any:
        """The node that runs next, or None at the end."""
        return self.ready[0].node if self.ready else None

    def step(self) -> Step:
        """Run the next node; if it raises, the pass stays where it is."""
        node, self.interpreted = self.peek(), None
        with (
            torch.set_grad_enabled(self.create_graph),
            self.surroundings.around(node),
            called_on(self._devices(node)),
            self._anomaly_report(node),
        ):
            grads = self._seen_by_hooks(node)
            results = self._called(node, grads)
            grad_inputs = self._validated(node, results)
            left = grad_inputs
            if not (nodes.is_accumulate(node) or node in self._inside):
                left = self.hooks.after(node, grad_inputs, grads)
            grad_inputs = grad_inputs if left is grad_inputs else self._validated(node, left)
            if torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled():
                _check_nan(node, grad_inputs)
            self._finish(node, grad_inputs)
            if self.afterwards is not None:
                self.afterwards()
            if not self.ready:
                self.surroundings.end()
        return Step(node, grads, results, grad_inputs)

    @contextmanager
    def _anomaly_report(self, node: Any) -> Iterator[None]:
        """In anomaly mode an error of a node shows the line of its op in the forward pass, once."""
        try:
            yield
        except Exception as error:
            told, self.hooks.told = self.hooks.told, None
            if torch.is_anomaly_enabled() and error is not told:
                warn_where_made(node)
            raise

    def _called(self, node: Any, grads: list[Any]) -> tuple[Any, ...]:
        """Run one node by hand. AccumulateGrad runs in PyTorch's engine, which also runs C++ hooks."""
        if nodes.is_accumulate(node):
            if grads[0] is not None and node in self.by_hand:
                with self.hooks.engine_tells():
                    node(grads[0] if self.create_graph else grads[0].clone())  # it may keep its argument as its grad
                self.hooks.after(node, (), grads)
            elif grads[0] is None:
                if not IS_OLDER:  # the older engine calls none of these without a gradient
                    leaf = nodes.variable_of(node)
                    for hook in list((leaf._post_accumulate_grad_hooks or {}).values()):
                        hook(leaf)
                self.hooks.after(node, (), grads)
            else:
                with self.hooks.silent(node), self.hooks.engine_tells():
                    run_backward([(node, 0)], grads, self.create_graph)
            return ()
        if node in self.regions:
            return self.regions[node].enter(grads, self.hooks)
        if node in self._inside:
            sent = self._inside[node].call(node, grads)
            self.interpreted = self._inside[node].gap
            return sent
        if nodes.is_function(node):
            return call_function(node, grads, self.hooks)
        results = node(*grads)
        return results if isinstance(results, tuple) else (results,)

    def _seen_by_hooks(self, node: Any) -> list[Any]:
        """What arrived at a node, after hooks. They run once, even if the node has to be tried again."""
        grads = self.input_buffers[node][1:]
        if node not in self.looked_at and node not in self._inside:
            grads = self.hooks.before(node, grads)
            self.looked_at.add(node)
            self.input_buffers[node][1:] = grads
        return grads

    def _outputs(self, node: Node) -> tuple[nodes.Metadata, ...]:
        """`outputs_of`, cached: it changes only for leaves."""
        if (known := self._looks.get(node)) is None:
            known = nodes.outputs_of(node)
            if not nodes.is_accumulate(node):
                self._looks[node] = known
        return known

    @unseen
    def _devices(self, node: Node) -> list[Any]:
        """The devices at which gradients arrive, and those they go to."""
        near = (node, *[after for after, _ in self.edges_of(node) if after is not None])
        return [m.device for n in near for m in self._outputs(n)]

    def _validated(self, node: Node, results: Sequence[Any]) -> tuple[Any, ...]:
        """The results as their receivers want them (PyTorch's `validate_outputs`)."""
        found = []
        with torch._C.DisableTorchFunction():  # the engine's own ops pass no function mode
            for i, (g, (after, index)) in enumerate(zip(results, self.edges_of(node), strict=True)):
                if g is None or after is None:
                    found.append(g)
                    continue
                wanted = self._outputs(after)[index]
                dtype = nodes.wanted_dtype(after, index) if nodes.is_accumulate(after) else wanted.dtype
                found.append(_fitted(node, i, g, wanted, dtype))
        return tuple(found)

    def _finish(self, node: Node, grad_inputs: Sequence[Any]) -> None:
        """The node has run: take it off the queue and deliver its gradients."""
        take(self.ready)
        for (after, index), g in zip(self.edges_of(node), grad_inputs, strict=True):
            if after is None:
                continue
            input_buffers = self.input_buffers[after]
            if g is not None:
                there = input_buffers[index + 1]
                input_buffers[index + 1] = g if there is None else _sum(there, g)
            input_buffers[0] -= 1
            if not input_buffers[0]:
                push(self.ready, _ranked(after))


def _input_buffers(start: Any, edges_of: Callable[[Any], tuple[nodes.Edge, ...]]) -> dict[Any, list[Any]]:
    """For each node: how many gradients it waits for, and an input buffer for each output of its op."""
    input_buffers: dict[Any, list[Any]] = {start: [1, *[None] * len(nodes.outputs_of(start))]}
    stack = [start]
    while stack:
        for after, _ in edges_of(stack.pop()):
            if after is None:
                continue
            if after not in input_buffers:
                input_buffers[after] = [0, *[None] * len(nodes.outputs_of(after))]
                stack.append(after)
            input_buffers[after][0] += 1
    return input_buffers


def _sum(there: Any, grad: object) -> Any:
    """The sum, in the engine's order: a sparse gradient is added to the new one."""
    with torch._C.DisableTorchFunction():
        return grad + there if there.is_sparse else there + grad


def _check_nan(node: Node, results: Sequence[Any]) -> None:
    for i, r in enumerate(results):
        if r is not None and bool(r.isnan().any()):
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def _fitted(node: Any, i: int, grad: Any, wanted: nodes.Metadata, dtype: Any) -> Any:
    """The gradient with broadcasting undone, on the device and in the type that the receiver needs."""
    if not wanted.is_known:
        return grad
    if not grad.is_nested and tuple(grad.shape) != wanted.shape:
        try:
            grad = grad.sum_to_size(wanted.shape)
        except RuntimeError:
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {i} - got {list(grad.shape)} but expected "
                f"shape compatible with {list(wanted.shape)}"
            ) from None
    if dtype is not None and grad.is_complex() and not dtype.is_complex:
        raise RuntimeError(
            "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    if dtype is not None and grad.dtype != dtype:
        grad = grad.to(dtype)
    if grad.device != wanted.device:
        if grad.ndim:
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {i} - expected device {wanted.device} but got "
                f"{grad.device}"
            )
        grad = grad.to(wanted.device)
    return grad
