"""What applies to a module and all its submodules: training mode, element type, gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.backward.accumulate_grad import clear_grad
from ..core.base.device import check_device
from ..core.base.device import device as Device  # noqa: N812 -- `device` is PyTorch's name of the argument
from ..core.base.dtypes import dtype, float16, float32, float64
from ..core.tensor import Tensor, refuse_if
from .parameter import Parameter


class Modes:
    """The part of Module that sets modes and types."""

    training: bool
    children: Callable[[], Iterator[Any]]
    modules: Callable[[], Iterator[Any]]
    parameters: Callable[..., Iterator[Parameter]]

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """Call `fn` on all submodules, innermost first, then on this module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Any:
        """Set training mode, which dropout and batch norm read, here and in all submodules.

        Raises ValueError: `mode` is not a bool.
        """
        refuse_if(not isinstance(mode, bool), "training mode is expected to be boolean", ValueError)
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Any:
        """Evaluation mode: train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Train these parameters, or freeze them."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters."""
        for p in self.parameters():
            clear_grad(p, set_to_none)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Replace the values of all parameters, gradients and buffers by ``fn`` of them. Parameters stay the same objects."""
        found: list[Any] = [*self.modules()] if recurse else [self]
        for module in found:
            for tensor in (*module._parameters.values(), *module._buffers.values()):
                if tensor is not None:
                    tensor.data = fn(tensor.detach())
                    if tensor._grad is not None:
                        tensor._grad = fn(tensor._grad).detach()
        return self

    def _to_type(self, kind: dtype) -> Any:
        """Convert all floating point parameters, gradients and buffers."""
        return self._apply(lambda t: t.to(kind) if t.dtype.is_floating_point else t)

    def type(self, dst_type: Any) -> Any:
        """Convert all parameters and buffers, of any type: a dtype, or an old type such as torch.DoubleTensor.

        Raises RuntimeError: a parameter that requires grad, and a type without gradients.
        """
        return self._apply(lambda t: t.type(dst_type))

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Give all parameters and buffers new memory, whose values are arbitrary."""
        check_device(device)
        return self._apply(lambda t: Tensor(np.empty_like(t._data)), recurse)

    def to(self, *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Convert to another floating point type: ``to(float64)``. The only device is the CPU.

        Raises TypeError: the type is neither floating point nor complex.
        """
        for a in args:
            if isinstance(a, str | Device):
                device = a
            else:
                dtype = a.dtype if isinstance(a, Tensor) else a
        check_device(device)
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        return self._to_type(dtype)

    def float(self) -> Any:
        """All floating point parameters and buffers as float32."""
        return self._to_type(float32)

    def double(self) -> Any:
        """All floating point parameters and buffers as float64."""
        return self._to_type(float64)

    def half(self) -> Any:
        """All floating point parameters and buffers as float16."""
        return self._to_type(float16)

    def cpu(self) -> Any:
        """The module itself: the CPU is the only device."""
        return self
