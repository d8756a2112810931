"""The backward graph and its saved tensors, by the names of torch.autograd.graph."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core.backward.accumulate_grad import AccumulateGrad, gradient_edge
from ..core.backward.backward import GradientEdge, get_gradient_edge
from ..core.backward.engine import GraphTask
from ..core.backward.hooks import RemovableHandle
from ..core.backward.instrumentation import writing
from ..core.backward.node import Edge
from ..core.backward.node import Node as CoreNode
from ..core.base.grad_mode import saved_hooks, update
from ..core.tensor import Tensor, refuse_if

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class Node(abc.ABC):
    """One backward function of the graph. Every `grad_fn` is an instance; none inherits from it."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> bool:
        return True if cls is Node and issubclass(subclass, CoreNode) else NotImplemented

    @abc.abstractmethod
    def name(self) -> str:
        """PyTorch's name of the node: "MulBackward0"."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[Edge, ...]:
        """One edge per input of the op: (node or None, which of its outputs)."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node has run. It may return other grad_inputs."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs. It may return other grad_outputs."""


class saved_tensors_hooks:  # noqa: N801 -- PyTorch's name
    """Inside a ``with`` block, save what `pack_hook` makes of each tensor; `unpack_hook` makes the tensor of it again.

    Entering raises RuntimeError: hooks are forbidden here; TypeError: a hook is not callable.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if saved_hooks and isinstance(saved_hooks[-1], str):
            raise RuntimeError(saved_hooks[-1])
        for hook in (self.pack_hook, self.unpack_hook):
            if not callable(hook):
                raise TypeError(f"saved_tensors_hooks(): a hook must be callable, got {type(hook).__name__}")
        saved_hooks.append((self.pack_hook, self.unpack_hook))
        update()

    def __exit__(self, *exception: object) -> None:
        saved_hooks.pop()
        update()


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 -- PyTorch's name
    """Save copies of tensors. There is no other device, so they are also on the CPU, and the arguments have no effect."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor.detach().clone(), lambda kept: kept)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Inside the block, `saved_tensors_hooks` raises with this message. Raises RuntimeError: hooks are active here."""
    refuse_if(saved_hooks and not isinstance(saved_hooks[-1], str), error_message)
    saved_hooks.append(error_message)
    try:
        yield
    finally:
        saved_hooks.pop()


class _Key:
    """The value that a node holds instead of a tensor."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """The tensors that nodes saved inside the block. A copy replaces a tensor before its memory changes."""

    def __init__(self) -> None:
        self.originals: WeakKeyDictionary[_Key, Tensor] = WeakKeyDictionary()
        self.copies: WeakKeyDictionary[_Key, Tensor] = WeakKeyDictionary()

    def pack(self, tensor: Tensor) -> _Key:
        """A key for a tensor. All nodes that save the same version share it."""
        key = next((key for key, t in self.originals.items() if t._data is tensor._data), None) or _Key()
        self.originals[key] = tensor._without_history()
        return key

    def unpack(self, key: _Key) -> Tensor:
        """The tensor as it was saved, until the block ends."""
        found = self.copies.get(key, self.originals.get(key))
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally "
                "recorded."
            )
        return found

    def before_write(self, array: Any) -> None:
        """Copy the saved tensors of this memory, before it is overwritten."""
        for key, tensor in list(self.originals.items()):
            if np.may_share_memory(tensor._data, array):
                self.copies[key] = Tensor(tensor._data.copy("K"))
                del self.originals[key]


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """In the block, tensors that backward needs may change in place; it runs inside. Raises RuntimeError: a block in it."""
    refuse_if(writing, "allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    saved_hooks.append((context.pack, context.unpack))
    writing.append(context.before_write)
    update()
    try:
        yield context
    finally:
        context.originals.clear()
        context.copies.clear()
        writing.clear()
        saved_hooks.pop()
        update()


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count an in-place change of these tensors, for a change that autograd did not see. Raises RuntimeError: not tensors."""
    refuse_if(not isinstance(tensor, Tensor | Iterable), "increment_version expect a Iterable[Tensor] as input")
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        refuse_if(not isinstance(t, Tensor), "increment_version expects each element of the iterable to be a tensor")
        t._bump_version()


class _MultiHandle(RemovableHandle):
    """The handles of several hooks as one."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        super().__init__({})
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all") -> RemovableHandle:
    """Call `fn` once per backward pass, with the list of all gradients (None for a missing one); for "any" with the first one.

    Raises ValueError: another mode. Raises AssertionError: one of the tensors does not require grad ("any" ignores it). Raises
    RuntimeError: during a pass of ``grad()`` that has one of the tensors among its inputs, as a leaf.
    """
    refuse_if(mode not in ("all", "any"), lambda: f"Expects mode to be one of ('all', 'any') but got {mode}", ValueError)
    nodes = [gradient_edge(t)[0] for t in tensors]
    refuse_if(mode == "all" and None in nodes, "Expected gradient function to be set", AssertionError)
    passes: WeakKeyDictionary[GraphTask, dict[int, Tensor]] = WeakKeyDictionary()  # the gradients so far, in each pass

    def hook_of(position: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            task = GraphTask.current
            assert task is not None
            found = passes.setdefault(task, {})
            found[position] = grad
            if mode == "any" and len(found) == 1:
                fn(grad)
            if mode == "all" and len(found) == sum(_is_awaited(node, task) for node in nodes):
                fn([found.get(i) for i in range(len(nodes))])

        return hook

    return _MultiHandle([t.register_hook(hook_of(i)) for i, t in enumerate(tensors) if t.requires_grad])


def _is_awaited(node: Any, task: GraphTask) -> bool:
    """Does a gradient arrive at this node in this pass?"""
    if isinstance(node, AccumulateGrad) and node in task.captures:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported."
        )
    return task.reaches(node)
