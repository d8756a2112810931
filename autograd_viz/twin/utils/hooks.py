"""Handles of hooks, by the names of torch.utils.hooks."""

from ..core.backward.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
