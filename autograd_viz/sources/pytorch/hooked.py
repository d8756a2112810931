"""The tensors that are alive and have hooks, whoever holds them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import torch


def tensors_with_hooks() -> list[Any]:
    """All tensors that are alive and have hooks or retain their grad: a step runs the hooks and changes the grads of those that
    no variable and no recorder tells of, too.
    """
    everything = gc.get_objects()
    try:
        classes = set(_tensor_classes())
        tensors = [o for o in everything if type(o) in classes]
    except TypeError:  # there is an object of a class that cannot be hashed
        tensors = [o for o in everything if issubclass(type(o), torch.Tensor)]
    return [t for t in tensors if _has_hooks(t)]


def _tensor_classes() -> Iterator[type]:
    todo: list[type] = [torch.Tensor]
    while todo:
        found = todo.pop()
        yield found
        todo += type.__subclasses__(found)


def _has_hooks(t: Any) -> bool:
    try:
        return bool(t.requires_grad and not t.is_leaf and (t.retains_grad or t._backward_hooks))
    except RuntimeError:  # a view for which autograd refuses to answer
        return False
