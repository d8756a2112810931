"""Special functions, by the names of torch.special."""

from .core.public import NAMESPACES

globals().update(NAMESPACES["special"])

__all__ = list(NAMESPACES["special"])
