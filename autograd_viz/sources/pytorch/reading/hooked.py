"""The search for tensors that have hooks or retain their grad, among all that are alive.

# Note [Who is asked]
The garbage collector knows every object. But `gc.get_objects()` also gives tuples that other threads are still building, and a
second reference makes these threads fail. So we ask what refers to the classes of tensors: mostly tensors. In older releases of
PyTorch the collector does not look into a tensor that C++ code holds. There all objects must be asked.

# Note [What has not become old]
To ask every object takes 20 to 40 ms. An object becomes old, and never young again, when the collector runs on a younger
generation. So as long as its counts of runs stay, the old tensors are those that the last search has found, as far as they
live. The young objects are few. One call of C code reads them: no other thread runs meanwhile, and none keeps a reference.
`gc.freeze()` and `gc.unfreeze()` make objects old without a run. They take a young object of ours along, which is then missed.
"""

from __future__ import annotations

import functools
import gc
import sys
import weakref
from collections.abc import Iterator
from itertools import chain, compress
from typing import Any

import torch

from ....runtime.collector import collector_waits
from .nodes import is_leaf
from .values import unseen

YOUNG = (0, 1)  # the generations whose survivors become old
HAS_GENERATIONS = sys.version_info < (3, 14) and getattr(sys, "_is_gil_enabled", lambda: True)()


class _Mark:
    """An object that is young as long as none has become old."""


class _Old:
    """The tensors that a search has found, and how often the collector had run by then."""

    def __init__(self) -> None:
        self._runs: tuple[int, ...] = ()
        self._mark = _Mark()
        self._tensors: list[weakref.ref[Any]] = []

    def tensors(self) -> list[Any]:
        """All living tensors."""
        if self._runs == (runs := _runs()):
            young = _young(_Mark, *subclasses(torch.Tensor))
            old = [t for r in self._tensors if (t := r()) is not None]
            if any(o is self._mark for o in young) and runs == _runs():
                return [*dict.fromkeys(o for o in (*old, *young) if type(o) is not _Mark)]
        self._mark = _Mark()
        found = [t for t in gc.get_referrers(*subclasses(torch.Tensor)) if issubclass(type(t), torch.Tensor)]
        self._tensors = [weakref.ref(t) for t in found if not _stays_a_leaf(t)]
        self._runs = runs if runs == _runs() else ()
        return found


_old = _Old()


def _runs() -> tuple[int, ...]:
    """What changes whenever a run of the collector makes an object old."""
    return tuple(generation["collections"] for generation in gc.get_stats()[1:])


def _stays_a_leaf(t: Any) -> bool:
    """Is it a parameter, or a leaf as one? PyTorch cannot swap one (`torch.utils.swap_tensors`) that has a weak reference."""
    return (t.requires_grad or isinstance(t, torch.nn.Parameter)) and not t._is_view() and bool(t.is_leaf)


def _young(*classes: type) -> list[Any]:
    """The young objects of some classes: Note [What has not become old]. The hash of a class may be code in Python."""
    addresses = frozenset(map(id, classes))
    everything: list[Any] = []
    with collector_waits():
        return list(
            chain(
                filter(None, map(everything.extend, map(gc.get_objects, YOUNG))),  # adds no item
                compress(everything, map(addresses.__contains__, map(id, map(type, everything)))),
                iter(everything.clear, None),  # adds no item, and is the end of a list that may hold itself
            )
        )


def tensors_with_hooks() -> list[Any]:
    """All live tensors that have hooks or retain their grad, which a step runs and changes, even if nobody here knows them."""
    if HAS_GENERATIONS and _classes_find_all():
        tensors = _old.tensors()
    else:
        near = gc.get_referrers(*subclasses(torch.Tensor)) if _classes_find_all() else gc.get_objects()
        tensors = [o for o in near if issubclass(type(o), torch.Tensor)]
    return [t for t in tensors if t.requires_grad and (t.retains_grad or t._backward_hooks) and not is_leaf(t)]


@functools.cache
@unseen
def _classes_find_all() -> bool:
    """Does the collector find a tensor by its class, even if a view of it also holds it?"""
    with torch.inference_mode(False):
        held = torch.zeros(1)
        view = held.view(1)
    return view is not None and any(o is held for o in gc.get_referrers(torch.Tensor))


def subclasses(of: type) -> Iterator[Any]:
    """A class and all below it."""
    todo = [of]
    while todo:
        found = todo.pop()
        yield found
        todo += type.__subclasses__(found)
