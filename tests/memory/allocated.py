"""Measures what PyTorch holds: the storages that a program has made and that are alive."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

KINDS = (list, tuple, dict)


class Made(TorchDispatchMode):
    """Notes every storage that an op inside makes, without holding it."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[int, tuple[Any, int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for t in tree_leaves(result):
            if isinstance(t, torch.Tensor):
                storage = t.untyped_storage()
                known = self._found.get(storage._cdata)
                if known is None or known[0].expired():
                    self._found[storage._cdata] = StorageWeakRef(storage), storage.nbytes()
        return result

    def alive(self, without: Iterable[Any] = ()) -> int:
        """The bytes that are still held, without the storages of some tensors."""
        gc.collect()
        others = {t.untyped_storage()._cdata for t in without}
        return sum(size for key, (ref, size) in self._found.items() if not ref.expired() and key not in others)


def held_by(function: Callable[..., Any]) -> dict[str, Any]:
    """The tensors that a program holds: those of its closure, in its modules too, by a name."""
    return {f"held{i}": t for i, t in enumerate(_tensors(function))}


def _tensors(function: Callable[..., Any]) -> Iterator[Any]:
    todo, seen = [function], []
    while todo:
        thing = todo.pop()
        if any(thing is s for s in seen):
            continue
        seen.append(thing)
        if isinstance(thing, torch.Tensor):
            yield thing
        elif isinstance(thing, torch.nn.Module):
            todo += [t for m in thing.modules() for t in (*m.parameters(False), *m.buffers(False), *vars(m).values())]
        elif isinstance(thing, KINDS):
            todo += thing.values() if isinstance(thing, dict) else thing
        elif callable(thing):
            todo += [cell.cell_contents for cell in getattr(thing, "__closure__", None) or ()]
