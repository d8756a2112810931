"""Handles of hooks, by the names of torch.utils.hooks."""

from ..core.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
