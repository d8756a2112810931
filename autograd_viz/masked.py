"""Reductions that skip what a mask leaves out, by the names of torch.masked."""

from .core.public import NAMESPACES

globals().update(NAMESPACES["masked"])

__all__ = list(NAMESPACES["masked"])
