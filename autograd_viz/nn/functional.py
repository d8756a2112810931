"""Stateless functions, by the names of torch.nn.functional."""

from ..core.missing import module_getattr
from ..core.ops.activation import relu, sigmoid, tanh
from ..core.public import NAMESPACES

globals().update(NAMESPACES["nn.functional"])
__getattr__ = module_getattr("torch.nn.functional", globals())

__all__ = ["relu", "sigmoid", "tanh", *NAMESPACES["nn.functional"]]  # noqa: PLE0604 -- strings
