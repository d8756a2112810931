"""Helpers by the names of torch.utils."""

from . import data

__all__ = ["data"]
