"""Decompositions, solvers and norms of matrices, by the names of torch.linalg."""

from .core.base.missing import module_getattr
from .core.base.public import NAMESPACES

globals().update(NAMESPACES["linalg"])
__getattr__ = module_getattr("torch.linalg", globals())

__all__ = list(NAMESPACES["linalg"])
