"""One value everywhere: fill and zero. The old values are overwritten, so they get a gradient of zero."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import sum_all, zeros_like
from ...op import INPLACE, public, row
from ...tensor import Tensor, fitted


def filled(self, value) -> Any:
    """An array like `self` with one value everywhere."""
    if np.ndim(value):
        raise RuntimeError(f"fill only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    return np.full_like(self, value if isinstance(value, np.ndarray) else fitted(value, self.dtype))


zero = row("zero", "ZeroBackward0", "Zeros, for zero_().", lambda self: np.zeros_like(self),
    self = lambda grad: zeros_like(grad))
fill_scalar = row("fill_scalar", "FillBackward0", "A number in every element.",
    lambda self, *, value: filled(self, value),
    self = lambda grad: zeros_like(grad))
fill_tensor = row("fill_tensor", "FillBackward1", "The value of a 0-d tensor in every element.",
    lambda self, value: filled(self, value),
    self  = lambda grad: zeros_like(grad),
    value = lambda grad: sum_all(grad))
refill_scalar = row("refill_scalar", "FillBackward2", "fill_ with a number.",
    lambda self, *, value: filled(self, value),
    self = lambda grad: zeros_like(grad))
refill_tensor = row("refill_tensor", "FillBackward3", "fill_ with a 0-d tensor.",
    lambda self, value: filled(self, value),
    self  = lambda grad: zeros_like(grad),
    value = lambda grad: sum_all(grad))


# fmt: on
@public("torch.fill")
def fill(input: Tensor, value: Any) -> Any:
    """One value everywhere, as a new tensor."""
    return fill_tensor(input, value) if isinstance(value, Tensor) else fill_scalar(input, value=value)


def refill(input: Tensor, value: Any) -> Any:
    """One value everywhere."""
    return refill_tensor(input, value) if isinstance(value, Tensor) else refill_scalar(input, value=value)


INPLACE["fill"] = refill
