"""Extra work for a new node or tensor: anomaly mode, hooks on saved tensors, inference mode.

An op reads one flag, `State.attentive`, and calls this file only if the flag is set.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from ..base import provenance
from ..base.grad_mode import Anomaly, Hooks, State, saved_hooks, update
from ..base.kinds import Node
from ..tensor.extra import InferenceCounter
from ..tensor.number import Number
from ..tensor.tensor import Tensor
from .saved import SavedTensor

writing: list[Callable[[Any], None]] = []  # functions that get an array before it is overwritten


def about_to_write(array: Any) -> None:
    """Give an array to the functions in `writing` before it is overwritten."""
    for see in writing:
        see(array)


def set_saved_hooks(hooks: list[Hooks]) -> None:
    """Set the hooks on saved tensors."""
    if saved_hooks != hooks:
        saved_hooks[:] = hooks
        update()


def attend(node: Node | None, result: Tensor) -> Tensor:
    """Process a new result, and the node that was recorded for it, if any."""
    if State.inference and result._view is None and type(result._counter) is not InferenceCounter:
        result._counter = InferenceCounter()
    if node is None:
        return result
    if Anomaly.enabled:
        frame = provenance.callers_frame()
        node.metadata["traceback_"] = traceback.format_list(traceback.extract_stack(frame))
        if Anomaly.running is not None:
            node.metadata["parent_"] = Anomaly.running
    if saved_hooks:
        pack_saved(node)
    return result


def pack_saved(node: Any) -> None:
    """Give each tensor that the node has saved to the innermost pair of hooks."""
    innermost = saved_hooks[-1]
    node._more_of()  # not plain any more: its backward runs the user's unpack hook
    for slot in getattr(type(node), "slots", ()):
        kept = getattr(node, slot)
        if isinstance(kept, tuple):
            setattr(node, slot, tuple(packed(k, innermost, node) for k in kept))
        else:
            setattr(node, slot, packed(kept, innermost, node))


def packed(kept: Any, hooks: Any, node: Node) -> Any:
    """One saved value after the pack hook. Plain values and numbers are not packed."""
    if isinstance(hooks, str) or isinstance(kept, Number):
        return kept
    if isinstance(kept, Tensor):
        kept = SavedTensor(kept)
    if isinstance(kept, SavedTensor):
        pack_hook, unpack_hook = hooks
        kept.pack(pack_hook, unpack_hook, kept.unpack(node))
    return kept
