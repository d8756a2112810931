"""A node as it was before it ran, with copies of its saved values. From it a step writes its rules later."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...twin.core.backward.node import Node
from ...twin.core.backward.saved import SavedResult, SavedTensor
from ...twin.core.op.former import Overwritten
from ...twin.core.op.primitive_node import PrimitiveNode
from ...twin.core.tensor.number import Number
from ...twin.core.tensor.tensor import Tensor

MOST = 1024  # elements of a copy; a larger saved tensor gets no formula and no Jacobian


class Twin:
    """What a primitive's node needs to write its rules, even if the node and its saved tensors change."""

    def __init__(self, node: PrimitiveNode) -> None:
        self._node = node
        self._kept = [_frozen(getattr(node, slot)) for slot in node.slots]

    def node(self) -> PrimitiveNode:
        """The node as it was."""
        twin = type(self._node).__new__(type(self._node))
        Node.__init__(twin, self._node.next_functions, self._node._outputs_metadata(), 0)
        for slot, kept in zip(twin.slots, self._kept, strict=True):
            setattr(twin, slot, kept)
        return twin


def _frozen(kept: Any) -> Any:
    """A copy of a saved value that nobody can change."""
    if isinstance(kept, tuple):
        return tuple(map(_frozen, kept))
    if isinstance(kept, SavedTensor):
        if kept.unpack_hook is not None or not isinstance(kept.tensor, Tensor):
            return kept
        copy = _frozen(kept.tensor)
        return SavedResult(copy) if isinstance(kept, SavedResult) else copy
    if not isinstance(kept, Tensor) or isinstance(kept, Number | Overwritten):
        return kept
    data = kept._data
    return Tensor(np.array(data)) if data.size <= MOST else Overwritten(np.broadcast_to(np.zeros((), data.dtype), data.shape))
