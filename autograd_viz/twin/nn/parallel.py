"""Several devices, of which there is one: the module itself is called."""

from __future__ import annotations

from typing import Any

from .module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Calls `module`, as PyTorch does without a GPU. Names of parameters begin with "module.". The rest has no effect."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module, self.device_ids = module, list[Any]()

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's own output."""
        return self.module(*inputs, **kwargs)
