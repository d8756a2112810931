"""cat and stack for the code outside the ops: found by their public names when they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .public import NAMESPACES


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors one behind the other along `dim`."""
    return NAMESPACES["torch"]["cat"](tensors, dim)


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Tensors side by side along a new `dim`."""
    return NAMESPACES["torch"]["stack"](tensors, dim)
