"""Anomaly mode: a backward that fails, or returns nan, says which line of the forward pass made the node."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from .attention import Anomaly, update
from .node import Node
from .tensor import Tensor


class set_detect_anomaly:  # noqa: N801 -- PyTorch's name
    """Switch anomaly mode, and back at the end of a ``with`` block.

    Args:
        mode: remember where each node was made.
        check_nan: stop a backward pass when a node returns nan.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = Anomaly.enabled, Anomaly.check_nan
        self._set(mode, check_nan)

    @staticmethod
    def _set(mode: bool, check_nan: bool) -> None:
        Anomaly.enabled, Anomaly.check_nan = mode, check_nan
        update()

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._set(*self._before)


class detect_anomaly(set_detect_anomaly):  # noqa: N801 -- PyTorch's name
    """Anomaly mode inside a ``with`` block."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.",
            UserWarning,
            stacklevel=2,
        )


def is_anomaly_enabled() -> bool:
    """True while anomaly mode is on."""
    return Anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """True if anomaly mode looks for nan."""
    return Anomaly.check_nan


def checked(node: Node, results: tuple[Any, ...]) -> None:
    """Refuse nan among the results of a node.

    Raises:
        RuntimeError: result i has a nan; where the node was made is told by a warning first.
    """
    if not Anomaly.check_nan:
        return
    for i, g in enumerate(results):
        data = g._data if isinstance(g, Tensor) else g
        if data is not None and data.dtype.kind in "fc" and np.isnan(data).any():
            tell(node)
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


@contextmanager
def running(node: Node) -> Iterator[None]:
    """While a node runs: it is the parent of what it records, and an error in it is told with its place."""
    if not Anomaly.enabled:
        yield
        return
    before, Anomaly.running = Anomaly.running, node
    try:
        yield
    except Exception as error:
        if "returned nan values" not in str(error):
            tell(node)
        raise
    finally:
        Anomaly.running = before


def tell(node: Node) -> None:
    """Warn with the place at which the node was made, and at which its parents were."""
    metadata = node.metadata
    if "traceback_" not in metadata:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly during forward "
            "pass for more information.",
            UserWarning,
            stacklevel=3,
        )
        return
    text = "".join(metadata["traceback_"])
    warnings.warn(
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{text}", UserWarning, stacklevel=3
    )
    parent = metadata.get("parent_")
    while parent is not None and "traceback_" in parent.metadata:
        text = "".join(parent.metadata["traceback_"])
        warnings.warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that induced the previous "
            f"calculation:\n{text}",
            UserWarning,
            stacklevel=3,
        )
        parent = parent.metadata.get("parent_")
