"""The options of an op: what its program makes of them, and those that PyTorch refuses."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..base.dtypes import promote
from ..tensor.arguments import TENSOR_OPTIONS, array_of
from ..tensor.number import fitted
from ..tensor.refusals import scalar_type
from .real_only import REAL_ONLY, refuse_complex
from .table import Table

# ops whose number may be complex although the tensors are real: the result is complex, or they refuse it themselves
_OF_COMPLEX = """
add sub rsub_tensor rsub_scalar add_scalar sub_scalar mul_scalar div_scalar pow_scalar rpow_scalar fill_scalar refill_scalar
masked_fill_scalar
""".split()  # noqa: SIM905 -- the names as words


def option_text(p: Table, name: str) -> str:
    """The expression for an option in the form that the forward needs."""
    if name in TENSOR_OPTIONS and not p.name.startswith("select"):
        place = len(p.inputs) + list(p.options).index(name)
        return f"({name} if isinstance({name}, Tensor) else operand({name}, {p.name!r}, {place}, {name!r}))._data"
    return f"{name} if type({name}) in PLAIN else option_of({name}, _x0, {p.name!r})"


def option_of(value: Any, array: Any, op: str) -> Any:
    """An option in the form that the forward needs. With a real `array`, few ops take a complex number."""
    if type(value) is not complex or array.dtype.kind == "c" or op in _OF_COMPLEX:
        return array_of(value)
    if op in REAL_ONLY and re.search("scalar|number", op):
        refuse_complex(op, np.empty(0, promote([(array.dtype, 1, False), (np.dtype(complex), 0, True)])))
    return fitted(value, array.dtype).item()


def has_gradient(result: Any, op: str) -> bool:
    """Has a result of this type a gradient? A cast may give integers; other ops with a `dtype` must not."""
    if op == "nan_to_num" and result.dtype.kind == "c":
        raise RuntimeError("nan_to_num does not support automatic differentiation for outputs with complex dtype.")
    if result.dtype.kind not in "fc" and op not in ("to_copy", "copy_into", "view_bits"):
        raise RuntimeError(f"Autograd not support dtype: {scalar_type(result)}")
    return result.dtype.kind in "fc"
