"""Complex numbers in a backward rule: grad times the *conjugate* of the derivative.

Rules write `conjugated(x)`. For a real x it is x itself, so formulas and graphs of real numbers do not show it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import names as op
from ...base.readings import declare
from ...base.symbol import Symbol, call
from ...tensor.tensor import Tensor

REAL = frozenset({int, float, bool, np.float16, np.float32, np.float64})


def conjugated(value: Any) -> Any:
    """The complex conjugate of an array or number. A real array is returned itself."""
    if type(value) in REAL:
        return value
    kind = getattr(value, "dtype", None)
    return value if kind is not None and kind.kind != "c" else value.conjugate()  # Python numbers have this method too


def _of_tensor(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value.conjugate()
    return op.conj(value) if value._data.dtype.kind == "c" else value


def _of_symbol(value: Any) -> Any:
    if isinstance(value, Symbol):
        return call("conj", value) if value.is_complex else value
    return value.conjugate()


declare(conjugated, conjugated, _of_tensor, _of_symbol)


def is_complex(value: Any) -> bool:
    """Does the value hold complex numbers? It is an array, a tensor, or a Symbol of a formula."""
    return bool(value.is_complex if isinstance(value, Symbol) else getattr(value, "_data", value).dtype.kind == "c")


declare(is_complex, is_complex, is_complex, is_complex)
