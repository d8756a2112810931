"""Special functions, by the names of torch.special."""

from .core.base.missing import module_getattr
from .core.base.public import NAMESPACES

globals().update(NAMESPACES["special"])
__getattr__ = module_getattr("torch.special", globals())

__all__ = list(NAMESPACES["special"])
