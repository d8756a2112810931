"""Hooks: user functions that see gradients during a pass, and may replace them.

# Note [Order of hooks]
For one node, hooks run in this order:
1. the hooks of the tensors that its op made, in the order of registration;
2. retain_grad, which sees their results;
3. the node's prehooks;
4. after the node has run, its hooks.
A leaf's hooks run before AccumulateGrad adds, its post-accumulate hooks after. A result that is not None replaces the gradient.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..base.kinds import Node
from ..tensor.refusals import refuse_if
from ..tensor.tensor import Tensor

_numbers = itertools.count()


class Observer(Protocol):
    """The recorder of a pass. Hooks may change gradients in place, so it is called before and after each hook."""

    def seen(self, grad: Any) -> Any:
        """A record of a gradient before a hook gets it."""

    def ran(self, kind: str, hook: Any, index: int, seen: Any, after: Any) -> None:
        """The hook has returned; the pass continues with `after`."""

    def ran_for_all(self, kind: str, hook: Any, seen: Sequence[Any], after: Sequence[Any]) -> None:
        """A hook of a node has returned. It got all gradients at once."""


observer: Observer | None = None


class RemovableHandle:
    """The result of registering a hook. `remove()` or the end of a ``with`` block removes the hook."""

    def __init__(self, registered: dict[int, Any]) -> None:
        self.id = next(_numbers)
        self._registered = registered

    def remove(self) -> None:
        """Remove the hook."""
        self._registered.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register(registered: dict[int, Any], hook: Any) -> RemovableHandle:
    """Add a hook to a dictionary of hooks."""
    handle = RemovableHandle(registered)
    registered[handle.id] = hook
    return handle


def tensor_hooks(tensor: Tensor) -> dict[int, Any]:
    """The dictionary of a tensor's hooks: on its grad_fn, or on the tensor if it is a leaf."""
    if tensor.grad_fn is not None:
        assert tensor._node is not None
        hooks: dict[int, Any] = tensor._node._more_of().tensor_hooks.setdefault(tensor._output_nr, {})
        return hooks
    extra = tensor._more
    if extra.hooks is None:
        extra.hooks = {}
    return extra.hooks


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Call ``hook(grad)`` each time the gradient of this tensor has been computed. Its result replaces the gradient.

    Raises RuntimeError: the tensor does not require grad.
    """
    refuse_if(not self.requires_grad, "cannot register a hook on a tensor that doesn't require gradient")
    return register(tensor_hooks(self), hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Call ``hook(leaf)`` each time a gradient has been added to this leaf's `grad`.

    Raises RuntimeError: not a leaf, or it does not require grad.
    """
    refuse_if(not self.requires_grad, "cannot register a hook on a tensor that doesn't require gradient")
    refuse_if(not self.is_leaf, "post accumulate grad hooks cannot be registered on non-leaf tensors")
    extra = self._more
    if extra.post_hooks is None:
        extra.post_hooks = {}
    return register(extra.post_hooks, hook)


def run_post_accumulate(leaf: Tensor) -> None:
    """Run the hooks after AccumulateGrad has added. They must return nothing."""
    assert leaf._extra is not None
    for hook in list((leaf._extra.post_hooks or {}).values()):
        seen = None if observer is None else observer.seen(leaf._grad)
        returned = hook(leaf)
        if returned is not None and returned is not leaf:
            _check_one(hook, leaf, returned)
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        if observer is not None:
            observer.ran("post_accumulate", hook, 0, seen, leaf._grad)


def has_tensor_hooks(node: Node) -> bool:
    """Are there hooks on the tensors of this node's op, or on the leaf of an AccumulateGrad?"""
    if node._extra is not None and node._extra.tensor_hooks:
        return True
    variable = getattr(node, "variable", None)
    return variable is not None and variable._extra is not None and bool(variable._extra.hooks)


def run_tensor_hooks(node: Node, grads: list[Any]) -> list[Any]:
    """Run the hooks of the node's tensors. `grads` are tensors, or None for an unused output."""
    extra = node._extra
    variable = getattr(node, "variable", None)
    grads = list(grads)
    if variable is not None and variable._extra is not None and variable._extra.hooks:
        grads = [_through(variable._extra.hooks, grads[0], 0)]
    for output_nr, registered in extra.tensor_hooks.items() if extra is not None else ():
        grads[output_nr] = _through(registered, grads[output_nr], output_nr)
    return grads


def retain(node: Node, grads: list[Any]) -> None:
    """retain_grad(): store each gradient, after the tensor hooks, as `grad` of the tensors that retain it."""
    for output_nr, reference in node._extra.retains.items() if node._extra is not None else ():
        tensor, grad = reference(), grads[output_nr]
        if tensor is not None and grad is not None:
            grad = grad.clone() if isinstance(grad, Tensor) else Tensor(grad.copy())
            tensor._grad = grad if tensor._grad is None else tensor._grad + grad


def run_for_all(kind: str, registered: dict[int, Any], grads: tuple[Any, ...], *grad_outputs: Any) -> tuple[Any, ...]:
    """Run a node's prehooks, which get the tuple of grad_outputs, or its hooks, which get (grad_inputs, grad_outputs)."""
    for hook in list(registered.values()):
        seen = () if observer is None else [observer.seen(g) for g in grads]
        returned = hook(grads, *grad_outputs)
        if returned is not None:
            grads = checked(hook, returned, grads, _check_one)
        if observer is not None:
            observer.ran_for_all(kind, hook, seen, grads)
    return grads


def _through(registered: dict[int, Any], grad: Tensor | None, index: int) -> Tensor | None:
    """A gradient after the hooks of one tensor. The hooks of an unused tensor get None."""
    for hook in list(registered.values()):
        seen = None if observer is None else observer.seen(grad)
        returned = hook(grad)
        if returned is not None:
            _check_one(hook, grad, returned)
            grad = returned
        if observer is not None:
            observer.ran("tensor", hook, index, seen, grad)
    return grad


def checked(hook: Any, returned: Any, grads: Sequence[Any], check: Callable[[Any, Any, Any], None]) -> Any:
    """The tuple that a node's hook returned, if it can replace `grads`. `check` refuses what cannot replace one of them."""
    if not isinstance(returned, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(returned).__name__}'")
    if len(returned) != len(grads):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(returned)}, but expected {len(grads)})"
        )
    for before, after in zip(grads, returned, strict=True):
        if after is not None:
            check(hook, before, after)
    return returned


def _name(hook: Any) -> str:
    return str(getattr(hook, "__name__", "<unknown>"))


def _check_one(hook: Any, before: Tensor | None, after: Any) -> None:
    """Refuse a value that cannot replace a gradient."""
    if before is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(after, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(after).__name__}'")
    if after.dtype is not before.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was torch.{before.dtype.legacy}Tensor got "
            f"torch.{after.dtype.legacy}Tensor)"
        )
    if after.shape != before.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
