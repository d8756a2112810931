"""autocast: switched off, as in PyTorch, where the device that it is for does not exist."""

from __future__ import annotations

import warnings
from contextlib import ContextDecorator
from typing import Any


class autocast(ContextDecorator):  # noqa: N801 -- PyTorch's name
    """A region where some ops would compute in a shorter type; here all of them keep theirs.

    Args:
        device_type: "cuda" and its like are switched off with a warning: they do not exist.
        dtype: the shorter type.
        enabled: False makes the region an ordinary one.
        cache_enabled: has no effect.

    Raises:
        RuntimeError: enabled for the CPU, where it would compute in bfloat16, which NumPy does not have.
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if enabled and device_type == "cpu":
            raise RuntimeError("autograd_viz has no bfloat16, the type of autocast on the CPU; pass enabled=False")
        if enabled:
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", UserWarning, stacklevel=2)

    def __enter__(self) -> None:
        """Enter the region."""

    def __exit__(self, *raised: Any) -> None:
        """Leave it."""
