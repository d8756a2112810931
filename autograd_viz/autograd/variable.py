"""Variable: what a tensor with a gradient was called before every tensor could have one."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor


class _AnyTensor(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """A tensor with the memory of `data`: ``Variable(x, requires_grad=True)``."""

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        """Make a tensor; there are no other Variables.

        Raises:
            TypeError: `data` is no tensor.
        """
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
