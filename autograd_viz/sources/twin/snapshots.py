"""What one step changes, as it was at one moment. With it a step can be taken back, redone, or run again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...graph.model import Value
from ...twin.core.backward.accumulate_grad import AccumulateGrad
from ...twin.core.backward.node import Node
from ...twin.core.tensor.tensor import Tensor
from ..shared.saved import is_stale, raw_saved
from ..shared.values import value_of

MANY = 100_000  # elements: a larger gradient counts as unchanged if object and version are the same


class GradSnapshot:
    """A tensor's `grad`: the object, and a copy of its values (accumulation changes them in place)."""

    __slots__ = ("grad", "tensor", "values", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.grad = tensor, tensor._grad
        self.values = None if self.grad is None else self.grad._data.copy()
        self.version = 0 if self.grad is None else self.grad._version

    def value(self) -> Value | None:
        """As the document shows it."""
        return None if self.values is None else value_of(self.values)

    def restore(self) -> None:
        """Restore it."""
        self.tensor._grad = self.grad
        if self.grad is not None and self.values is not None:
            self.grad._data[...] = self.values
            self.grad._shared_counter()[0] = self.version

    def holds(self) -> bool:
        """Is it the same object with the same values?"""
        return self.tensor._grad is self.grad and self.shows()

    def shows(self) -> bool:
        """Are the values the same, even in another object?"""
        grad = self.tensor._grad
        if grad is None or self.values is None:
            return grad is None and self.values is None
        if grad is self.grad and grad._version == self.version and self.values.size > MANY:
            return True
        return grad._data.dtype == self.values.dtype and _equal(grad._data, self.values)


class SavedSnapshot:
    """A node's saved tensors, and the gradients of its last call."""

    __slots__ = ("node", "remembered")

    def __init__(self, node: Node) -> None:
        self.node, self.remembered = node, node._remember()

    def restore(self) -> None:
        """Restore them."""
        self.node._recall(self.remembered)

    def holds(self) -> bool:
        """Does the node still keep the same? The gradients of its last call do not count."""
        return _same(self.node._remember()[1:], self.remembered[1:])


class ArraySnapshot:
    """The values of an array that somebody may change in place."""

    def __init__(self, array: Any) -> None:
        self.array, self.values = array, array.copy()

    def restore(self) -> None:
        """Restore them."""
        self.array[...] = self.values

    def holds(self) -> bool:
        """Are they unchanged?"""
        return _equal(self.array, self.values)


class Attachments:
    """What the user has attached to a node: hooks, retain_grad, requires_grad of a leaf; and whether the node could run."""

    __slots__ = ("node", "seen")

    def __init__(self, node: Node) -> None:
        self.node, self.seen = node, _attachments(node)

    def holds(self) -> bool:
        """Would the node do the same again? No, if a hook was added or removed, or a saved tensor was modified."""
        kept = raw_saved(self.node).values()
        return _attachments(self.node) == self.seen and not any(is_stale(self.node, k) for k in kept)


def _attachments(node: Node) -> tuple[Any, ...]:
    found: tuple[Any, ...] = ()
    if (e := node._extra) is not None:
        of_tensors = tuple((i, tuple(hooks)) for i, hooks in e.tensor_hooks.items() if hooks)
        found = (of_tensors, tuple(e.prehooks), tuple(e.posthooks), tuple(e.retains))
    found = found if any(found) else ()
    if isinstance(node, AccumulateGrad):
        extra = node.variable._extra
        hooks = () if extra is None else (tuple(extra.hooks or ()), tuple(extra.post_hooks or ()))
        return (*found, node.variable._requires_grad, hooks if any(hooks) else ())
    return found


def runs_only_ours(node: Node) -> bool:
    """Does a call of the node run no user code? That is a hook, a Function's backward, or an unpack hook of a saved tensor."""
    e, kept = node._extra, raw_saved(node).values()
    hooks = () if e is None else (e.prehooks, e.posthooks, *e.tensor_hooks.values())
    return bool(node.is_plain) and not any(hooks) and all(getattr(k, "unpack_hook", None) is None for k in kept)


def _same(a: Any, b: Any) -> bool:
    """Are they the same objects? Tuples are compared by their items: a node makes them anew."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return a is b


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


@contextmanager
def keep_leaves(leaves: Iterable[Tensor]) -> Iterator[None]:
    """Afterwards data, version and grad of these tensors are as before: a hook may be an optimizer's step."""
    kept = [(t, ArraySnapshot(t._data), t._version, GradSnapshot(t)) for t in leaves]
    try:
        yield
    finally:
        for leaf, data, version, grad in kept:
            if not data.holds():
                data.restore()
            if leaf._version != version:
                leaf._shared_counter()[0] = version
            grad.restore()
