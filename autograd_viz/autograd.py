"""Differentiation: backward, grad, and user-defined Functions, by the names of torch.autograd."""

from .core.backward import backward, grad
from .core.function import Function
from .core.grad_mode import enable_grad, no_grad, set_grad_enabled

__all__ = ["Function", "backward", "enable_grad", "grad", "no_grad", "set_grad_enabled"]
