"""The complex conjugate."""
# fmt: off
# (ops are a table: the columns are kept)

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
    """The complex conjugate; real numbers are their own."""
    return conj(input) if input.dtype.is_complex else input
