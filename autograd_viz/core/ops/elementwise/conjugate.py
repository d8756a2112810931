"""The complex conjugate."""
# fmt: off
# tables of ops: their columns stay aligned

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.public import public
from ...op.primitive import primitive
from ...tensor.tensor import Tensor


@primitive("ConjBackward0")
def conj(self):
    """a - bi for a + bi."""
    return np.conj(self)
conj.defvjp(
    self = lambda grad: conj(grad),
)


# fmt: on
@public("conj")
def conjugate(input: Tensor) -> Any:
    """The complex conjugate. A real tensor is returned itself."""
    return conj(input) if input.dtype.is_complex else input
