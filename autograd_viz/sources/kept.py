"""What a node has saved, read without waking anything: values, versions, whether they still hold, and their memory."""

from __future__ import annotations

from typing import Any

from ..core.backward.keeping import unpack
from ..core.backward.node import Node
from ..core.backward.saved import FREED, SavedTensor
from ..core.op.primitive_node import PrimitiveNode
from ..core.tensor.number import Number
from ..core.tensor.tensor import Tensor
from ..graph.model import Saved
from .memory import owner
from .values import value_of

FEW = 8  # lengths of a size
SIMPLE = (bool, int, float, str)


def is_simple(value: Any) -> bool:
    """Is it a plain value in few letters?"""
    return type(value) in SIMPLE or (type(value) is tuple and len(value) < FEW and all(type(v) is int for v in value))


class SavedAlike:
    """What is saved by very many nodes, written once for each name: nothing, what was freed, numbers."""

    def __init__(self) -> None:
        self._known: dict[Any, Saved] = {}

    def of(self, name: str, kept: Any) -> Saved | None:
        """None for anything else."""
        if kept is None or kept is FREED:
            key: Any = name, kept is None
        elif isinstance(kept, Number):
            key = name, type(kept.value), repr(kept.value)  # -0.0 is equal to 0.0
        elif is_simple(kept):
            key = name, repr(kept)
        else:
            return None
        if key not in self._known:
            self._known[key] = self._written(name, kept)
        return self._known[key]

    def _written(self, name: str, kept: Any) -> Saved:
        if isinstance(kept, Number):
            return Saved(name, "kept", value_of(kept))
        if kept is None or kept is FREED:
            return Saved(name, "none" if kept is None else "freed")
        return Saved(name, "plain", text=repr(kept))


def raw_saved(node: Node) -> dict[str, Any]:
    """What a node keeps, by name: a Tensor that had never been changed when it was saved stands there bare."""
    return node._kept() if isinstance(node, PrimitiveNode) else node._saved()


def kept_array(kept: Any) -> Any:
    """The array of a kept tensor; None if saved-tensor hooks keep it in a way of their own."""
    if isinstance(kept, SavedTensor):
        if kept.unpack_hook is not None:
            return None
        kept = kept.tensor
    return kept._data if isinstance(kept, Tensor) else None


def version_of(kept: Any) -> int:
    """The version that a kept tensor had when it was saved."""
    return kept.version if isinstance(kept, SavedTensor) else 0


def is_stale(node: Node, kept: Any) -> bool:
    """Will the node refuse to use what it has kept, because it was changed in place since?"""
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
    """How much memory a kept value keeps alive: a view keeps all that it is a view of."""
    if isinstance(kept, tuple):
        return sum(map(kept_bytes, kept))
    array = kept_array(kept)
    return 0 if array is None or isinstance(kept, Number) else int(owner(array).nbytes)
