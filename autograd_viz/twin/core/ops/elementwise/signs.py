"""Absolute value, signs, and the neighbours of a number."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import conjugated, eq, is_complex, isfinite, ne, no_derivative, where, zeros_like
from ...op import composite, primitive, public, public_row, row
from ...tensor.refusals import refuse, refusing
from .arithmetic import _as_float, as_number_of, of_either
from .logic import unpromoted


@public("abs", "absolute", inplace=True)
@public("Tensor.__abs__")
@primitive("AbsBackward0")
def abs(self):
    """Absolute value. Its gradient at 0 is 0."""
    refuse(self, "b", "abs_cpu")
    return np.abs(self)


@public("sign", inplace=True)
@primitive("SignBackward0")
def sign(self):
    """-1, 0 or 1; 0 for nan."""
    if self.dtype.kind == "b":
        return self.copy()
    return np.nan_to_num(np.sign(self), nan=0.0) if self.dtype.kind == "f" else np.sign(self)
sign.defvjp(self = lambda grad: zeros_like(grad))


sgn = public_row("sgn", "SgnBackward0", "-1, 0 or 1. A complex number is divided by its absolute value.",
    lambda self: sign.forward(self) if self.dtype.kind != "c" else np.where(self == 0, 0, self / np.abs(self)), inplace=True,
    self = lambda grad, self, result: sgn_backward(grad, self, result))


@composite
def sgn_backward(grad: Any, self: Any, result: Any) -> Any:
    """Zeros for real numbers. For complex ones, the part of grad perpendicular to `result`, over the absolute value."""
    if not is_complex(self):
        return zeros_like(grad)
    along = (grad * conjugated(result) + conjugated(grad) * result) * 0.5
    return where(eq(self, 0), 0, (grad - along * result) / abs(self))


copysign_tensor = row("copysign_tensor", "CopysignBackward0", "The absolute value of self with the sign of other.",
    lambda self, other: np.copysign(_as_float(self), _as_float(other)), promotes=True,
    self  = lambda grad, self, result: grad * where(eq(self, 0), 0, result / self),
    other = lambda grad: zeros_like(grad))
copysign_scalar = row("copysign_scalar", "CopysignBackward1", "The absolute value of self with the sign of a number.",
    lambda self, *, other: np.copysign(x := _as_float(self), as_number_of(x, other)),
    self = lambda grad, self, result: grad * where(eq(self, 0), 0, result / self))
copysign = of_either("copysign", "The absolute value of `input` with the sign of `other`.", copysign_tensor, copysign_scalar)


@public("angle")
@primitive("AngleBackward0")
def angle(self):
    """0 for a positive number, pi for a negative one."""
    x = _as_float(self)
    return np.where(np.isnan(x), np.nan, np.angle(x + 0.0 if x.dtype.kind == "f" else x)).astype(x.real.dtype, copy=False)
angle.defvjp(self = lambda grad, self: angle_backward(grad, self))


@composite
def angle_backward(grad: Any, self: Any) -> Any:
    """Zeros for real numbers. For complex ones, the tangential part of grad, over the absolute value."""
    if not is_complex(self):
        return zeros_like(grad)
    return where(eq(self, 0), 0, grad * 1j * self / (abs(self) * abs(self)))


nextafter = public_row("nextafter", "NextafterBackward0", "The next number of the type after self, in the direction of other.",
    refusing("iub", "nextafter_cpu", lambda self, other: np.nextafter(self, other)), promotes=True, inplace=True,
    self  = lambda grad, self, other: where(ne(self, other), grad, 0),
    other = lambda grad: zeros_like(grad))


@public("nan_to_num", inplace=True)
@primitive("NanToNumBackward0")
def nan_to_num(self, *, nan=None, posinf=None, neginf=None):
    """Replace nan by `nan` (default 0), and infinities by `posinf` and `neginf` (default: the limits of the type)."""
    if self.dtype.kind not in "fc":
        return self.copy()
    return np.nan_to_num(self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)
nan_to_num.defvjp(self = lambda grad, self: grad * isfinite(self))


@public("heaviside", inplace=True)
@primitive("torch::autograd::NotImplemented", promotes=unpromoted)
def heaviside(self, values):
    """0 for negative, 1 for positive numbers, `values` at 0; PyTorch has no gradient for it.

    Raises:
        RuntimeError: the types differ.
    """
    if self.dtype != values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return np.where(self == 0, values, self > 0).astype(self.dtype)
heaviside.defvjp(self = lambda grad: no_derivative("heaviside"), values = lambda grad: no_derivative("heaviside"))
