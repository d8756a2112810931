"""The tensors that are alive and have hooks, whoever holds them.

# Note [Who is asked]
The garbage collector knows every object. `gc.get_objects()` would hand out tuples that other threads are building, which fail
in them if somebody else holds them; who refers to the classes of tensors is the tensors, and little else. In older releases of
PyTorch the collector looks no further at a tensor that C++ code holds: there all objects have to be asked.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from typing import Any

import torch

from .values import unseen


def tensors_with_hooks() -> list[Any]:
    """All tensors that are alive and have hooks or retain their grad: a step runs the hooks and changes the grads of those that
    no variable and no recorder tells of, too.
    """
    near = gc.get_referrers(*_tensor_classes()) if _classes_find_all() else gc.get_objects()
    return [o for o in near if issubclass(type(o), torch.Tensor) and _has_hooks(o)]


@functools.cache
@unseen
def _classes_find_all() -> bool:
    """Does the collector find a tensor by its class if a view of it holds it, too?"""
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


def _has_hooks(t: Any) -> bool:
    try:
        return bool(t.requires_grad and not t.is_leaf and (t.retains_grad or t._backward_hooks))
    except RuntimeError:  # a view for which autograd refuses to answer
        return False
