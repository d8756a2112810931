"""Variable: PyTorch's old class for tensors that require grad, for old programs."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..core.backward.engine import GraphTask
from ..core.tensor.tensor import Tensor

__all__ = ["Variable"]


def queue_callback(callback: Callable[[], Any]) -> None:
    """Call `callback` at the end of the running backward pass. Raises RuntimeError: no pass is running."""
    if GraphTask.current is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    GraphTask.current.callbacks.append(callback)


class _Meta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=_Meta):
    """``Variable(tensor, requires_grad=True)`` returns a leaf tensor that shares the memory."""

    _execution_engine = SimpleNamespace(queue_callback=queue_callback)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """The tensor. Raises TypeError: `data` is not a tensor."""
        data = Tensor([]) if data is None else data
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
