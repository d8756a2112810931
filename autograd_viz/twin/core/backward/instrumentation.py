"""Extra work for a new node or tensor: anomaly mode, hooks on saved tensors, inference mode.

An op reads one flag, `State.attentive`, and calls this file only if the flag is set.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from ..base import provenance
from ..base.grad_mode import Anomaly, Hooks, State, check_bool, saved_hooks, update
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


# -- anomaly mode: if a node fails or returns nan, a warning names the line of the forward pass that made it ------------------


class set_detect_anomaly:  # noqa: N801 -- PyTorch's name
    """Set anomaly mode, and restore it at the end of a ``with`` block. Raises TypeError: not a bool.

    Args:
        mode: remember where each node was made.
        check_nan: stop a backward pass when a node returns nan.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        check_bool("set_anomaly_enabled", "enabled", mode)
        check_bool("set_anomaly_enabled", "check_nan", check_nan, 2)
        self._before = Anomaly.enabled, Anomaly.check_nan
        _set(mode, check_nan)

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _set(*self._before)


class detect_anomaly:  # noqa: N801 -- PyTorch's name
    """Anomaly mode inside a ``with`` block."""

    def __init__(self, check_nan: bool = True) -> None:
        self._before, self.check_nan = (Anomaly.enabled, Anomaly.check_nan), check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._before = Anomaly.enabled, Anomaly.check_nan
        _set(True, self.check_nan)

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _set(*self._before)


def _set(mode: bool, check_nan: bool) -> None:
    Anomaly.enabled, Anomaly.check_nan = mode, check_nan
    update()


def is_anomaly_enabled() -> bool:
    """True while anomaly mode is on."""
    return Anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """True if anomaly mode checks for nan."""
    return Anomaly.check_nan


def check_nan(node: Node, results: Sequence[Any]) -> None:
    """Refuse nan among the results of a node."""
    if not Anomaly.check_nan:
        return
    for i, g in enumerate(results):
        data = g._data if isinstance(g, Tensor) else g
        if data is not None and data.dtype.kind in "fc" and np.isnan(data).any():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def warn_where_made(node: Node) -> None:
    """Warn with the places where the node and its parents were made."""
    metadata = node.metadata
    if "traceback_" not in metadata:
        _warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward "
            "pass for more information."
        )
        return
    text = "".join(metadata["traceback_"])
    _warn(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{text}")
    parent = metadata.get("parent_")
    while parent is not None and "traceback_" in parent.metadata:
        text = "".join(parent.metadata["traceback_"])
        _warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that induced the previous "
            f"calculation:\n{text}"
        )
        parent = parent.metadata.get("parent_")


def _warn(text: str) -> None:
    """Warn, or print if warnings are errors: the original error must not be lost."""
    try:
        warnings.warn(text, UserWarning, stacklevel=4)
    except UserWarning:
        print(text, file=sys.stderr)
