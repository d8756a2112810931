"""The complex conjugate."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.public import public
from ...op.row import row
from ...tensor.tensor import Tensor

conj = row("conj", "ConjBackward0", "a - bi for a + bi.",
    lambda self: np.conj(self),
    self = lambda grad: conj(grad))


# fmt: on
@public("conj")
def conjugate(input: Tensor) -> Any:
    """The complex conjugate. A real tensor is returned itself."""
    return conj(input) if input.dtype.is_complex else input
