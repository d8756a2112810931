"""Complex numbers from pairs of real ones, and back; complex numbers in a backward rule.

The gradient of z = a + bi is (gradient of a) + i (gradient of b). So many rules here only split a pair or join one.
A rule is grad times the *conjugate* of the derivative. Rules write `conjugated(x)`. For a real x it is x itself, so formulas
and graphs of real numbers do not show it.
"""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import names as op
from ...base.dtypes import from_numpy_dtype
from ...base.readings import declare
from ...base.symbol import Symbol, call
from ...op import composite, primitive, public, row
from ...tensor import Tensor, of_tensors, refuse_if
from ..shape.slicing import select
from .rounding import sgn


@primitive("ViewAsRealBackward0", view=True)
def view_as_real(self):
    """The real and imaginary part of each element, in a last dimension of length 2."""
    parts = np.asarray(self).real
    return np.lib.stride_tricks.as_strided(parts, (*parts.shape, 2), (*parts.strides, parts.itemsize))
view_as_real.defvjp(self = lambda grad: view_as_complex(grad))


@primitive("ViewAsComplexBackward0", view=True)
def view_as_complex(self):
    """Each pair in the last dimension as one complex number."""
    pairs = self if self.strides[-1] == self.itemsize else np.ascontiguousarray(self)
    return pairs.view(np.result_type(self.dtype, np.complex64))[..., 0]
view_as_complex.defvjp(self = lambda grad: view_as_real(grad))


@primitive("ComplexBackward0")
def complex_of(real, imag):
    """real + i imag."""
    real, imag = np.broadcast_arrays(real, imag)
    out = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out
complex_of.defvjp(
    real = lambda grad, imag, real: real_part(grad),
    imag = lambda grad, imag, real: imaginary_part(grad))


@primitive("PolarBackward0")
def polar_of(abs, angle):
    """The complex number with absolute value `abs` and argument `angle`."""
    out = np.empty(np.broadcast_shapes(abs.shape, angle.shape), np.result_type(abs.dtype, np.complex64))
    out.real, out.imag = abs * np.cos(angle), abs * np.sin(angle)
    return out
polar_of.defvjp(
    abs   = lambda grad, result: real_part(conj(grad) * sgn(result)),
    angle = lambda grad, result: real_part(conj(grad) * (result * 1j)))


conj = row("conj", "ConjBackward0", "a - bi for a + bi.", lambda self: np.conj(self), self = lambda grad: conj(grad))
conjugate_copy = row("conjugate_copy", "ConjPhysicalBackward0", "a - bi for a + bi, in new memory.",
    lambda self: np.conj(self),
    self = lambda grad: conjugate_copy(grad))


@public("torch.real")
@composite
def real_part(input: Any) -> Any:
    """a of a + bi, as a view. A real input is returned itself."""
    return select(view_as_real(input), dim=input.ndim, index=0) if is_complex(input) else input


@composite
def imaginary_part(input: Any) -> Any:
    """b of a + bi, as a view."""
    return select(view_as_real(input), dim=input.ndim, index=1)


@public("torch.imag")
def imag(input: Tensor) -> Any:
    """b of a + bi, as a view. Raises RuntimeError: the numbers are real."""
    refuse_if(not input.dtype.is_complex, "imag is not implemented for tensors with non-complex dtypes.")
    return imaginary_part(input)


def _write(part: Any, values: Any) -> None:
    """Assign to z.real or z.imag: an in-place change of the view."""
    (part.copy_ if isinstance(values, Tensor) else part.fill_)(values)


public("Tensor.real")(property(real_part, lambda self, values: _write(real_part(self), values)))
public("Tensor.imag")(property(imag, lambda self, values: _write(imag(self), values)))


@public("torch.view_as_real")
def pairs_of(input: Tensor) -> Any:
    """A view with both numbers of each element in a last dimension of length 2. Raises RuntimeError: the numbers are real."""
    refuse_if(not input.dtype.is_complex, "view_as_real is only supported for complex tensors")
    return view_as_real(input)


@public("torch.view_as_complex")
def numbers_of(input: Tensor) -> Any:
    """A view of each pair in the last dimension as one complex number. Raises RuntimeError: no contiguous pairs of floats."""
    refuse_if(not input.dtype.is_floating_point, lambda:
        "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
        f"{input.dtype.legacy}")
    refuse_if(input.ndim == 0, "Input tensor must have one or more dimensions")
    refuse_if(input.shape[-1] != 2, "Tensor must have a last dimension of size 2")
    *steps, last = input.stride()
    refuse_if(last != 1, "Tensor must have a last dimension with stride 1")
    refuse_if(any(step % 2 for step in steps), "Tensor must have a stride divisible by 2 for all but last dimension")
    return view_as_complex(input)


@public("torch.complex")
@of_tensors
def complex_(real: Tensor, imag: Tensor) -> Any:
    """real + i imag."""
    _check_pair(real, imag)
    return complex_of(real, imag)


@public("torch.polar")
@of_tensors
def polar(abs: Tensor, angle: Tensor) -> Any:
    """abs (cos(angle) + i sin(angle))."""
    _check_pair(abs, angle)
    return polar_of(abs, angle)


def _check_pair(first: Tensor, second: Tensor) -> None:
    """Refuse two tensors that cannot make a complex one: both must have one floating point type."""
    names = [from_numpy_dtype(t._data.dtype).legacy for t in (first, second)]
    if not (first.dtype.is_floating_point and second.dtype.is_floating_point):
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and {names[1]}")
    if names[0] != names[1]:
        raise RuntimeError(f"Expected object of scalar type {names[0]} but got scalar type {names[1]} for second argument")


@public(inplace=True)
def conj_physical(input: Tensor) -> Any:
    """The complex conjugate in new memory. A real tensor is returned itself."""
    return conjugate_copy(input) if input.dtype.is_complex else input


@public("conj")
def conjugate(input: Tensor) -> Any:
    """The complex conjugate. A real tensor is returned itself."""
    return conj(input) if input.dtype.is_complex else input


REAL = frozenset({int, float, bool, np.float16, np.float32, np.float64})


def conjugated(value: Any) -> Any:
    """The complex conjugate of an array or number. A real one is returned itself."""
    return value if type(value) in REAL else value.conjugate()


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
