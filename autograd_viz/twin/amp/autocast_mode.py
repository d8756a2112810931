"""autocast. As in PyTorch, it is disabled if its device does not exist."""

from __future__ import annotations

import warnings
from contextlib import ContextDecorator
from typing import Any


class autocast(ContextDecorator):  # noqa: N801 -- PyTorch's name
    """A region where PyTorch computes some ops in a shorter type, `dtype`. Here all ops keep their type.

    "cuda" and other GPUs disable it, with a warning, because they do not exist. False makes the region an ordinary one.
    Raises RuntimeError: enabled for the CPU, where PyTorch computes in bfloat16, which NumPy lacks.
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


def custom_fwd(fwd: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """The forward of a Function as it is: no region changes its types."""
    return fwd if fwd is not None else lambda fwd: fwd


def custom_bwd(bwd: Any = None, *, device_type: str = "cuda") -> Any:
    """The backward of a Function as it is: no region changes its types."""
    return custom_fwd(bwd)
