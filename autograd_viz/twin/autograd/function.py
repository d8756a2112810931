"""User-defined ops, by the names of torch.autograd.function."""

from ..core.function.function import Function, FunctionCtx, InplaceFunction, once_differentiable
from ..core.function.function_node import BackwardCFunction

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]
