"""What complex numbers add to a gradient rule: grad times the *conjugate* of the derivative.

Rules write `conjugated(x)`; for a real x that is x itself, so that formulas and graphs of real numbers do not mention it.
"""

from __future__ import annotations

from typing import Any

from ..readings import ARRAY_NAMES, SYMBOL_NAMES, TENSOR_NAMES
from ..tensor import Tensor


def _array(value: Any) -> Any:
    kind = getattr(value, "dtype", None)
    return value if kind is not None and kind.kind != "c" else value.conjugate()  # Python numbers know it too


def _tensor(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value.conjugate()
    return TENSOR_NAMES["conj"](value) if value._data.dtype.kind == "c" else value


def _symbol(value: Any) -> Any:
    return value


def _is_complex(value: Any) -> bool:
    return getattr(value, "_data", value).dtype.kind == "c"


ARRAY_NAMES["conjugated"], TENSOR_NAMES["conjugated"], SYMBOL_NAMES["conjugated"] = _array, _tensor, _symbol
for _names in (ARRAY_NAMES, TENSOR_NAMES):
    _names["is_complex"] = _is_complex
