"""Anomaly mode: if a node fails or returns nan, a warning names the line of the forward pass that made it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from ..base.grad_mode import Anomaly, check_bool, update
from ..tensor.tensor import Tensor
from .node import Node


class set_detect_anomaly:  # noqa: N801 -- PyTorch's name
    """Set anomaly mode, and restore it at the end of a ``with`` block.

    Args:
        mode: remember where each node was made.
        check_nan: stop a backward pass when a node returns nan.

    Raises:
        TypeError: not a bool.
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
