"""The ops that PyTorch has under torch.ops.aten only."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .core.base.public import NAMESPACES


class Packet:
    """An op with its overloads, of which there is one: ``torch.ops.aten.x(...)`` and ``torch.ops.aten.x.default(...)``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.default = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it."""
        return self.default(*args, **kwargs)


aten = SimpleNamespace(**{name: Packet(function) for name, function in NAMESPACES["ops.aten"].items()})
