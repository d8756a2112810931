"""The element types, by PyTorch's names, and PyTorch's rules for mixing them."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

__all__ = [  # what stands under the same name in torch
    "bfloat16", "cdouble", "cfloat", "complex64", "complex128", "double", "dtype", "float16", "float32", "float64",
    "get_default_dtype", "half", "int8", "int16", "int32", "int64", "long", "set_default_dtype", "short", "uint8",
]  # fmt: skip
_BOOL, _INTEGER, _FLOAT, _COMPLEX = range(4)  # the categories of type promotion, weakest first

_CPP = {
    "Byte": "unsigned char", "Char": "signed char", "Short": "short int", "Long": "long int", "Half": "c10::Half",
    "BFloat16": "c10::BFloat16", "ComplexFloat": "c10::complex<float>", "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


class dtype:  # noqa: N801 -- PyTorch's name
    """An element type. There is one object per type, so `is` and `==` agree."""

    __module__ = "autograd_viz"  # where a pickle finds it
    __slots__ = ("category", "cpp", "legacy", "name", "numpy")

    def __init__(self, name: str, category: int, legacy: str) -> None:
        self.name, self.category = name, category
        if type(self) is dtype:
            self.numpy = np.dtype(name)
        self.legacy = legacy  # as in the "torch.FloatTensor" of error messages
        self.cpp = _CPP.get(legacy, legacy.lower())  # as in "float != double"

    @property
    def is_floating_point(self) -> bool:
        """True for float16, float32, float64 and bfloat16."""
        return self.category == _FLOAT

    @property
    def is_complex(self) -> bool:
        """True for complex64 and complex128."""
        return self.category == _COMPLEX

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class _NameOnly(dtype):
    """A type that NumPy lacks: programs may name it and compare with it."""

    __slots__ = ()

    @property
    def numpy(self) -> NoReturn:  # type: ignore[override]
        """Raises, because whatever computes with a type asks for it."""
        raise TypeError(f"autograd_viz has no numbers of type {self!r}, because NumPy lacks it; use float32 or float16")


bool_ = dtype("bool", _BOOL, "Bool")
uint8 = dtype("uint8", _INTEGER, "Byte")
int8 = dtype("int8", _INTEGER, "Char")
int16 = short = dtype("int16", _INTEGER, "Short")
int32 = int_ = dtype("int32", _INTEGER, "Int")
int64 = long = dtype("int64", _INTEGER, "Long")
float16 = half = dtype("float16", _FLOAT, "Half")
bfloat16 = _NameOnly("bfloat16", _FLOAT, "BFloat16")
float32 = float_ = dtype("float32", _FLOAT, "Float")
float64 = double = dtype("float64", _FLOAT, "Double")
complex64 = cfloat = dtype("complex64", _COMPLEX, "ComplexFloat")
complex128 = cdouble = dtype("complex128", _COMPLEX, "ComplexDouble")

_WITH_NUMBERS = (bool_, uint8, int8, int16, int32, int64, float16, float32, float64, complex64, complex128)
_BY_NUMPY = {d.numpy: d for d in _WITH_NUMBERS}
BY_NAME = {d.name: d for d in (*_WITH_NUMBERS, bfloat16)}


class _Default:
    value = float32


def get_default_dtype() -> dtype:
    """The type of ``tensor(1.0)``: float32 unless set otherwise."""
    return _Default.value


def set_default_dtype(d: dtype) -> None:
    """Choose the type of ``tensor(1.0)``. Raises TypeError: `d` is not one of the floating point types."""
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {d!r}")
    _Default.value = from_numpy_dtype(d.numpy)


def from_numpy_dtype(d: np.dtype[Any]) -> dtype:
    """The dtype of a NumPy element type."""
    try:
        return _BY_NUMPY[d]
    except KeyError:
        known = ", ".join(x.name for x in _BY_NUMPY.values())
        raise TypeError(f"can't convert a numpy array of dtype {d} to a tensor; the supported types are: {known}") from None


def promote(operands: list[tuple[np.dtype[Any], int, bool]]) -> np.dtype[Any]:
    """The common type of operands, by PyTorch's rule; of each, (NumPy dtype, number of dimensions, is a Python number).

    Tensors with dimensions decide. A 0-d tensor counts only if its category is higher than theirs (bool < integer < float).
    A Python number counts only if its category is higher than both.
    """
    groups: tuple[list[dtype], list[dtype], list[dtype]] = ([], [], [])
    for numpy_dtype, ndim, is_number in operands:
        groups[2 if is_number else 1 if ndim == 0 else 0].append(_BY_NUMPY[numpy_dtype])
    result: dtype | None = None
    for group in filter(None, groups):
        highest = max(d.category for d in group)
        common = _BY_NUMPY[np.result_type(*(d.numpy for d in group if d.category >= min(highest, _FLOAT)))]
        if result is None:
            result = common
        elif common.category > result.category:
            if group is groups[2] and common.category >= _FLOAT > result.category:
                result = _Default.value  # the number has no type of its own: it takes the default
            if common.is_complex and result.is_floating_point:
                result = complex128 if result is float64 else complex64  # the complex type of the same precision
            elif common.category > result.category:
                result = common
    assert result is not None
    return result.numpy
