"""What a node has saved, read without waking anything: values, versions, whether they still hold, and their memory."""

from __future__ import annotations

from typing import Any

from ..core.node import Node
from ..core.primitive_node import PrimitiveNode
from ..core.saved import SavedTensor, unpack
from ..core.tensor import Number, Tensor
from .memory import owner


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
