"""What a node has saved, read without side effects: values, versions, whether they are valid, and their memory."""

from __future__ import annotations

from typing import Any

from ...graph.model import Saved
from ...twin.core.backward.node import Node
from ...twin.core.backward.saved import FREED, SavedTensor, unpack
from ...twin.core.op.primitive_node import PrimitiveNode
from ...twin.core.tensor.number import Number
from ...twin.core.tensor.tensor import Tensor
from .storages import owner
from .values import value_of

FEW = 8  # lengths of a size
SIMPLE = (bool, int, float, str)


def is_simple(value: Any) -> bool:
    """Is it a plain value with a short text?"""
    return type(value) in SIMPLE or (type(value) is tuple and len(value) < FEW and all(type(v) is int for v in value))


class SavedAlike:
    """Saved values that many nodes share, written once for each name: none, freed ones, numbers."""

    def __init__(self) -> None:
        self._known: dict[Any, Saved] = {}

    def of(self, name: str, kept: Any) -> Saved | None:
        """The saved value; None if it is of no such kind."""
        if kept is None or kept is FREED:
            key: Any = name, kept is None
        elif isinstance(kept, Number):
            key = name, type(kept.value), repr(kept.value)  # repr: -0.0 equals 0.0
        elif is_simple(kept):
            key = name, repr(kept)
        else:
            return None
        if key in self._known:
            return self._known[key]
        if isinstance(kept, Number):
            new = Saved(name, "kept", value_of(kept))
        elif kept is None or kept is FREED:
            new = Saved(name, "none" if kept is None else "freed")
        else:
            new = Saved(name, "plain", text=repr(kept))
        return self._known.setdefault(key, new)


def raw_saved(node: Node) -> dict[str, Any]:
    """What a node saved, by name. A tensor at version 0 is stored as it is."""
    return node._kept() if isinstance(node, PrimitiveNode) else node._saved()


def kept_array(kept: Any) -> Any:
    """The array of a saved tensor; None if saved-tensor hooks store it in their own way."""
    if isinstance(kept, SavedTensor):
        kept = kept.tensor if kept.unpack_hook is None else None
    return kept._data if isinstance(kept, Tensor) else None


def version_of(kept: Any) -> int:
    """The version of a saved tensor when it was saved."""
    return kept.version if isinstance(kept, SavedTensor) else 0


def is_stale(node: Node, kept: Any) -> bool:
    """Will the node refuse the saved tensor, because it was modified?"""
    if isinstance(kept, tuple):
        return any(is_stale(node, k) for k in kept)
    try:
        if isinstance(kept, SavedTensor):
            kept.check(node)
        elif isinstance(kept, Tensor):
            unpack(node, kept)
    except RuntimeError:
        return True
    return False


def kept_bytes(kept: Any) -> int:
    """How many bytes a saved value keeps alive: a view keeps its whole base."""
    if isinstance(kept, tuple):
        return sum(map(kept_bytes, kept))
    array = kept_array(kept)
    return 0 if array is None or isinstance(kept, Number) else int(owner(array).nbytes)
