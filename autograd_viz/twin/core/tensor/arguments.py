"""Arguments in the form that the core needs: numbers as operands, nested lists as arrays, dims in range."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..base.dtypes import dtype, from_numpy_dtype, get_default_dtype, promote
from ..base.memory import laid_out_for, steps_in
from ..base.quiet import quiet
from .as_array import Array
from .number import Number
from .tensor import Tensor

# the ops in which PyTorch takes a number for any operand, and those for any but the first; the last three only in rules
_OF_NUMBERS = {
    "add", "sub", "mul", "div_tensors", "div_rounded", "floor_divide", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_left_shift", "bitwise_right_shift", "where_tensors", "isin",
}  # fmt: skip
_OF_A_NUMBER = {
    "eq", "ne", "lt", "le", "gt", "ge", "scatter_combined", "index_put_tensors", "put_values",
}  # fmt: skip
TENSOR_OPTIONS = frozenset({"index", "mask", "condition"})
SEVERAL = (list, tuple)  # for isinstance: `list | tuple` would make a new object at every call


def as_operand(value: Any, op: str, position: int, parameter: str = "self") -> Tensor:
    """A Python number or NumPy array as an operand, where the op takes one. A number stays weak in type promotion."""
    kind = type(value)
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if parameter not in TENSOR_OPTIONS and (op in _OF_NUMBERS or (position and op in _OF_A_NUMBER)):
        if kind is float or kind is int or kind is bool or kind is complex:
            return Number(value)
        if isinstance(value, np.generic | bool | int | float | complex):
            return Number(np.asarray(value).item())
    op, name = re.sub("_(tensors?|scalar|numbers?|of_.*|dim|p)$", "", op), "input" if parameter == "self" else parameter
    raise TypeError(f"{op}(): argument '{name}' (position {position + 1}) must be Tensor, not {kind.__name__}")


def array_of(value: Any) -> Any:
    """An option in the form that a forward needs: tensors (alone or in a list) become arrays."""
    if isinstance(value, Tensor):
        return value._data
    if isinstance(value, SEVERAL):
        for v in value:
            if type(v) is not int and isinstance(v, Tensor):
                return tuple(map(array_of, value))
    return value


def brought_together(*operands: Tensor | None) -> tuple[Any, ...]:
    """The operands' arrays in their common type, by PyTorch's rules."""
    common = promote([(t._data.dtype, t._data.ndim, t._is_number) for t in operands if t is not None])
    return tuple(None if t is None else quiet.run(t._data.astype, common, copy=False) for t in operands)


def check_broadcast(*operands: Tensor | None) -> None:
    """Refuse shapes that do not broadcast."""
    shapes = [t._data.shape for t in operands if t is not None]
    a = shapes[0]
    for b in shapes[1:]:
        longest = max(len(a), len(b))
        for i in range(1, min(len(a), len(b)) + 1):
            if a[-i] != b[-i] and 1 not in (a[-i], b[-i]):
                raise RuntimeError(
                    f"The size of tensor a ({a[-i]}) must match the size of tensor b ({b[-i]}) at non-singleton dimension "
                    f"{longest - i}"
                )
        a = np.broadcast_shapes(a, b)


def check_dim(dim: int, ndim: int) -> int:
    """`dim` unchanged, if a tensor of `ndim` dimensions has it. A 0-d tensor accepts 0 and -1."""
    most = max(ndim, 1)
    if not -most <= dim < most:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")
    return dim


def from_front(dim: int, ndim: int) -> int:
    """`dim` counted from the front, if a tensor of `ndim` dimensions has it."""
    return check_dim(dim, ndim) % max(ndim, 1)


def distinct_dims(dims: Iterable[int], ndim: int) -> tuple[int, ...]:
    """The dims counted from the front. Each may occur once."""
    front = tuple(from_front(d, ndim) for d in dims)
    twice = [d for i, d in enumerate(front) if d in front[:i]]
    if twice:
        raise RuntimeError(f"dim {twice[0]} appears multiple times in the list of dims")
    return front


def ints(value: Any) -> tuple[int, ...]:
    """A whole number, or several, as a tuple."""
    return tuple(map(int, value)) if isinstance(value, SEVERAL) else (int(value),)


def default_array(values: Any, wanted: dtype | None) -> Array:
    """Nested numbers as a new array. Python floats get the default type; arrays and tensors keep theirs."""
    if isinstance(values, Tensor):
        values = values._data
    array = np.array(values)
    if wanted is None and array.dtype == np.float64 and not isinstance(values, np.ndarray | np.number):
        wanted = get_default_dtype()
    if wanted is not None:
        with np.errstate(all="ignore"):  # numbers that are too large become inf
            return array.astype(wanted.numpy)
    if array.dtype.kind == "i" and array.itemsize < 8 and not hasattr(values, "dtype") and _are_pythons(values):
        array = array.astype(np.int64)  # where NumPy's own int has 32 bits, as in a page
    from_numpy_dtype(array.dtype)
    return array


def _are_pythons(values: Any) -> bool:
    """Is the first of the nested numbers one of Python's?"""
    while isinstance(values, list | tuple) and values:
        values = values[0]
    return isinstance(values, int)


def in_order_of(result: Any, *operands: Any) -> Any:
    """An elementwise result in the memory order that PyTorch gives it; NumPy often writes a row-major one."""
    arrays = [x for x in operands if type(x) is np.ndarray]
    if all(x.shape == result.shape and x.strides == result.strides for x in arrays):
        return result
    return laid_out_for(result, [steps_in(x, result.shape) for x in arrays])
