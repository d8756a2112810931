"""Reductions that skip what a mask leaves out, by the names of torch.masked."""

from .core.base.missing import module_getattr
from .core.base.public import NAMESPACES

globals().update(NAMESPACES["masked"])
__getattr__ = module_getattr("torch.masked", globals())

__all__ = list(NAMESPACES["masked"])
