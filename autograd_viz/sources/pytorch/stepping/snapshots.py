"""What a step of a PyTorch pass changes, as it was at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch._C import _current_graph_task_id as graph_task
from torch.autograd.grad_mode import _unsafe_preserve_version_counter
from torch.autograd.graph import Node

from ....graph.model import Value
from ...shared.replacement import Replacement
from ...shared.stepping.engine_state import keep_random_numbers as others_kept
from ..reading.handles import version_of
from ..reading.nodes import edge_of, grad_fn_of, grad_of, is_accumulate, reach, variable_of
from ..reading.saved import SavedValue, saved_of, saved_tensors
from ..reading.values import all_unseen, equal, is_plain, unseen, value_of

States = tuple[tuple[str, bool], ...]
MANY = 100_000  # elements: a larger gradient counts as unchanged if object and version are the same


@all_unseen
class GradSnapshot:
    """A tensor's `grad`: the object and its values. The values are copied if they are few or will be added to."""

    __slots__ = ("_versions", "grad", "read", "tensor", "values", "version")

    def __init__(self, tensor: torch.Tensor, is_about_to_change: bool = False) -> None:
        self.tensor, self.grad = tensor, grad_of(tensor)
        self.version = 0 if self.grad is None else version_of(self.grad)
        copied = self.grad is not None and not self.grad.is_meta and (is_about_to_change or _size(self.grad) <= MANY)
        self.values = self.grad.detach().clone() if copied else None
        self.read: Value | None = None
        if self.grad is not None and self.values is None:
            self.value()  # makes no copy
        counts = self.values is not None and not self.grad.is_inference()
        self._versions = _unsafe_preserve_version_counter(self.grad) if counts else None

    def value(self) -> Value | None:
        """As the document shows it."""
        if self.read is None:
            self.read = None if self.grad is None else value_of(self.grad if self.values is None else self.values)
        return self.read

    def restore(self) -> None:
        """Restore it."""
        self.tensor.grad = self.grad
        if self.values is not None and not same(self.grad.detach(), self.values):
            with torch.no_grad():  # a detached sparse tensor has its own indices and elements
                (self.grad if self.grad.is_sparse else self.grad.detach()).copy_(self.values)
            if self._versions is not None:  # a node that has saved this grad finds its old version
                self._versions.__exit__()
        if self.grad is not None:
            self.version = version_of(self.grad)

    def holds(self) -> bool:
        """Is it the same object with the same values?"""
        return grad_of(self.tensor) is self.grad and self.shows()

    def shows(self) -> bool:
        """Are the values the same, even in another object?"""
        grad = grad_of(self.tensor)
        if grad is None or self.grad is None:
            return grad is None and self.grad is None
        if self.values is None or not (is_plain(grad) or grad.is_sparse):
            return grad is self.grad and version_of(grad) == self.version
        return same(grad.detach(), self.values)


def same(a: Any, b: Any) -> bool:
    """The same elements, also of sparse tensors."""
    if not (a.is_sparse and b.is_sparse):
        return equal(a, b)
    parts = ((a._indices(), b._indices()), (a._values(), b._values()))
    return a.shape == b.shape and all(equal(x, y) for x, y in parts)


def _size(tensor: torch.Tensor) -> int:
    return int(tensor._values().numel() if tensor.is_sparse else tensor.numel())


@all_unseen
@dataclass(eq=False, slots=True)
class SavedSnapshot:
    """A node's saved tensors. A call by hand frees nothing, but other code may."""

    node: Node
    states: States
    inner: list[GradSnapshot]  # the grads that a nested pass changes
    others: list[Any]  # what else the call changes, because of other ranks

    def restore(self) -> None:
        """Restore the grads that a nested pass has changed; saved tensors have not changed."""
        for snapshot in (*self.inner, *self.others):
            snapshot.restore()

    def holds(self) -> bool:
        """Are they still there and unchanged?"""
        return states_of(self.node) == self.states and all(snapshot.holds() for snapshot in (*self.inner, *self.others))


@all_unseen
class TensorSnapshot:
    """The values of a gradient that the user's code may change in place."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor, self.values = tensor, tensor.detach().clone()

    def restore(self) -> None:
        """Restore them."""
        with torch.no_grad():
            self.tensor.detach().copy_(self.values)

    def holds(self) -> bool:
        """Are they unchanged?"""
        return equal(self.tensor.detach(), self.values)


@all_unseen
class Attachments:
    """What the user has attached to a node: hooks, retain_grad, requires_grad of a leaf."""

    __slots__ = ("dicts", "node", "seen", "tensors")

    def __init__(self, node: Node, tensors: list[Any], dicts: Sequence[dict[Any, Any]]) -> None:
        self.node, self.tensors, self.dicts, self.seen = node, tensors, dicts, _attachments(node, tensors, dicts)

    @property
    def runs_code(self) -> bool:
        """Is there a hook of the user's, or a retain_grad()?"""
        hooks = [part for part in self.seen if isinstance(part, tuple)]  # keys of hooks, which may be 0, or (keys, retains)
        return any(part[0] or part[1] if part and isinstance(part[0], tuple) else part for part in hooks)

    def holds(self) -> bool:
        """Would the node do the same again? No, if a hook was added or removed, or a saved tensor was modified."""
        return _attachments(self.node, self.tensors, self.dicts) == self.seen and not any(k.stale for k in saved_of(self.node))


def states_of(node: Node) -> States:
    """For each saved tensor of a node: does it exist, and was it modified?"""
    return () if is_accumulate(node) else states_in(saved_of(node))


def states_in(kept: Iterable[SavedValue]) -> States:
    """The same, from saved values that have been read."""
    return tuple([(k.state, k.stale) for k in kept])


def _attachments(node: Node, tensors: list[Any], dicts: Sequence[dict[Any, Any]]) -> tuple[Any, ...]:
    of_node = map(tuple, dicts)
    of_tensors = tuple((tuple(t._backward_hooks or ()), grad_fn_of(t) is not None and t.retains_grad) for t in tensors)
    leaf = variable_of(node)
    if leaf is None:
        return (*of_node, *of_tensors)
    return (*of_node, tuple(leaf._backward_hooks or ()), tuple(leaf._post_accumulate_grad_hooks or ()), leaf.requires_grad)


@contextmanager
def keep_random_numbers() -> Iterator[None]:
    """Afterwards all generators, PyTorch's too, have their former state."""
    devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []
    with others_kept(), torch.random.fork_rng(devices=devices):
        yield


@contextmanager
def keep_leaves(leaves: Iterable[Any]) -> Iterator[None]:
    """Afterwards data, version and grad of these tensors are as before: a hook may be an optimizer's step."""
    plain = [t for t in leaves if unseen(is_plain)(t)]
    kept = [_LeafSnapshot(t) for t in plain]
    with ExitStack() as versions:
        with torch._C.DisableTorchFunction():
            for t in plain:
                versions.enter_context(_unsafe_preserve_version_counter(t))
        try:
            yield
        finally:
            for leaf in kept:
                leaf.restore()


@all_unseen
class _LeafSnapshot:
    def __init__(self, leaf: torch.Tensor) -> None:
        self.leaf, self.memory, self.data = leaf, leaf.data, leaf.detach().clone()
        self.grad = GradSnapshot(leaf, is_about_to_change=True)

    def restore(self) -> None:
        if self.leaf.data_ptr() != self.memory.data_ptr():  # `p.data = ...` has replaced it
            self.leaf.data = self.memory
        if not equal(self.leaf.detach(), self.data):  # `p.data.sub_(...)` leaves the version as it is
            self.leaf.data.copy_(self.data)
        self.grad.restore()


SMALL = 64  # elements: of what nodes have saved, a larger tensor is not copied


@all_unseen
class LeafSnapshot:
    """The values of a leaf, which an optimizer changes in place, or the scale of a gradient scaler; and its version."""

    def __init__(self, leaf: torch.Tensor) -> None:
        self._values, self._version = TensorSnapshot(leaf), _unsafe_preserve_version_counter(leaf)

    def restore(self) -> None:
        """Restore them."""
        self._values.restore()
        self._version.__exit__()


def keep_last_pass(last: Any) -> Replacement:
    """From now on `last`, a `LastRun`, is told of passes; gives what ends it."""

    def nodes_of(tensor: object) -> list[Any]:
        return reach([edge_of(tensor)[0]]) if isinstance(tensor, torch.Tensor) else []

    def runs(run: Any, roots: Any, gradients: Any, keep_graph: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("accumulate_grad") and graph_task() == -1:  # not a pass inside of a pass
            last.forget()
            try:
                if keep_graph and len(roots) == 1 and isinstance(roots[0], torch.Tensor) and not any(args[1:2]):
                    gradient = None if roots[0].numel() == 1 else gradients[0]
                    last.begins(roots[0], gradient, nodes_of(roots[0]), _snapshots)
            except Exception:  # a tensor of a kind that has no values
                last.forget()
        return run(roots, gradients, keep_graph, *args, **kwargs)

    last.nodes_of = nodes_of
    return Replacement(torch.autograd, "_engine_run_backward", runs)


def _snapshots(nodes: Sequence[Any]) -> list[Any]:
    leaves = [v for n in nodes if (v := variable_of(n)) is not None]
    saved = [t for n in nodes for t in saved_tensors(n) if t.numel() <= SMALL and t.layout is torch.strided]
    return [*(GradSnapshot(leaf, is_about_to_change=True) for leaf in leaves), *map(LeafSnapshot, (*leaves, *saved))]
