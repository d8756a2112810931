"""User-defined ops, by the names of torch.autograd.function."""

from ..core.function.function import Function, FunctionCtx, InplaceFunction
from ..core.function.function_node import BackwardCFunction
from ..core.function.once_differentiable import once_differentiable

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]
