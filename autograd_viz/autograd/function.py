"""User-defined ops, by the names of torch.autograd.function."""

from ..core.function import BackwardCFunction, Function, FunctionCtx, InplaceFunction, once_differentiable

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]
