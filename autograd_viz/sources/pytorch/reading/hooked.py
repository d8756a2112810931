"""The live tensors that have hooks.

# Note [Who is asked]
The garbage collector knows every object. But `gc.get_objects()` also gives tuples that other threads are still building, and a
second reference makes these threads fail. So we ask what refers to the classes of tensors: mostly tensors. In older releases of
PyTorch the collector does not look into a tensor that C++ code holds. There all objects must be asked.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from typing import Any

import torch

from .nodes import is_leaf
from .values import unseen


def tensors_with_hooks() -> list[Any]:
    """All live tensors that have hooks or retain their grad.

    A step runs these hooks and changes these grads, even if no variable and no recorder knows the tensor.
    """
    near = gc.get_referrers(*_tensor_classes()) if _classes_find_all() else gc.get_objects()
    return [o for o in near if issubclass(type(o), torch.Tensor) and _has_hooks(o)]


@functools.cache
@unseen
def _classes_find_all() -> bool:
    """Does the collector find a tensor by its class, even if a view of it also holds it?"""
    with torch.inference_mode(False):
        held = torch.zeros(1)
        view = held.view(1)
    return view is not None and any(o is held for o in gc.get_referrers(torch.Tensor))


def _tensor_classes() -> Iterator[type]:
    todo: list[type] = [torch.Tensor]
    while todo:
        found = todo.pop()
        yield found
        todo += type.__subclasses__(found)


def _has_hooks(t: torch.Tensor) -> bool:
    return bool(t.requires_grad and (t.retains_grad or t._backward_hooks) and not is_leaf(t))
