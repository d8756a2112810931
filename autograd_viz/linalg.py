"""Decompositions, solvers and norms of matrices, by the names of torch.linalg."""

from .core.public import NAMESPACES

globals().update(NAMESPACES["linalg"])

__all__ = list(NAMESPACES["linalg"])
