"""Signs, rounding, integer division and remainders. Their gradient is 0, except that of abs and of remainders."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import conjugated, eq, is_complex, isfinite, ne, where, zeros_like
from ...op import composite, primitive, public, public_primitive, public_row, row
from ...tensor import Tensor, refuse, refuse_if, refusing
from .arithmetic import _as_float, as_number_of, div_tensors, of_either, widened
from .choosing import unpromoted

floor = public_row("floor", "FloorBackward0", "The largest whole number that is not above self.",
    refusing("b", "floor_vml_cpu", lambda self: np.floor(self)), inplace=True,
    self = lambda grad: zeros_like(grad))
ceil = public_row("ceil", "CeilBackward0", "The smallest whole number that is not below self.",
    refusing("b", "ceil_vml_cpu", lambda self: np.ceil(self)), inplace=True,
    self = lambda grad: zeros_like(grad))
trunc = public_row("trunc fix", "TruncBackward0", "self without its fraction.",
    refusing("b", "trunc_vml_cpu", lambda self: np.trunc(self)), inplace=True,
    self = lambda grad: zeros_like(grad))
frac = public_row("frac", "FracBackward0", "The fraction of self: self - trunc(self).",
    refusing("iub", "frac_cpu", lambda self: self - np.trunc(self)), inplace=True,
    self = lambda grad: grad)
round_whole = row("round_whole", "RoundBackward0", "The nearest whole number. A half rounds to the even one.",
    refusing("b", "round_vml_cpu", lambda self: np.rint(self).astype(self.dtype, copy=False)),
    self = lambda grad: zeros_like(grad))


@primitive("RoundBackward1")
def round_decimals(self, *, decimals):
    """Round to so many digits after the decimal point; a negative number counts digits before it."""
    refuse(self, "iub", "round_cpu")
    scale = 10.0 ** np.abs(decimals).item()
    return np.rint(self * scale) / scale if decimals >= 0 else np.rint(self / scale) * scale
round_decimals.defvjp(self = lambda grad: zeros_like(grad))


@public("round", "special.round", inplace=True)
def round(input: Tensor, *, decimals: int | None = None) -> Any:
    """Round to the nearest whole number, or to so many decimals."""
    return round_whole(input) if decimals is None else round_decimals(input, decimals=decimals)


@primitive("DivBackward2", promotes=True)
def div_rounded(self, other, *, rounding_mode):
    """self / other, rounded towards 0 ("trunc"), down ("floor"), or not at all (None)."""
    if rounding_mode not in (None, "trunc", "floor"):
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")
    if rounding_mode is None:
        return div_tensors.forward(self, other)
    if rounding_mode == "floor":
        return whole_quotient(self, other)
    refuse(self, "c", "div_trunc_cpu")
    return np.trunc(self / other) if self.dtype.kind == "f" else (self - np.fmod(self, nonzero_divisor(other))) // other
div_rounded.defvjp(
    self  = lambda grad, other, rounding_mode:       grad / other if rounding_mode is None else zeros_like(grad),
    other = lambda grad, self, other, rounding_mode: (
        -grad * ((self / other) / other) if rounding_mode is None else zeros_like(grad)))


@public("div", "divide", "true_divide", "Tensor.__truediv__")
def div(input: Any, other: Any, *, rounding_mode: Any = NotImplemented) -> Any:
    """input / other; optionally rounded towards 0 ("trunc") or down ("floor")."""
    if rounding_mode is not NotImplemented:  # an explicit None counts too
        return div_rounded(input, other, rounding_mode=rounding_mode)
    if isinstance(other, int) and isinstance(input, Tensor) and input._data.dtype.kind in "iub":
        other = float(other)  # the quotient is float: uint8 / -1 is negative
    return div_tensors(input, other)


floor_divide = public_row("floor_divide Tensor.__floordiv__", "torch::autograd::NotImplemented",
    "floor(self / other); PyTorch has no gradient for it.",
    lambda self, other: whole_quotient(self, other), promotes=True, inplace=True,
    self  = lambda grad: no_derivative("floor_divide"),
    other = lambda grad: no_derivative("floor_divide"))


@composite
def no_derivative(op: str) -> Any:
    """The rule of an op for which PyTorch has no formula."""
    raise RuntimeError(f"derivative for aten::{op} is not implemented")


@composite
def no_derivative_of(what: str) -> Any:
    """The rule of an input for which PyTorch has no formula."""
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


fmod_tensor = row("fmod_tensor", "FmodBackward1", "The remainder of the division rounded towards 0. It has the sign of self.",
    refusing("b", "fmod_cpu", lambda self, other: np.fmod(self, nonzero_divisor(other))), promotes=True,
    self  = lambda grad: grad,
    other = lambda grad, self, other: -grad * trunc(self / other))


fmod_scalar = row("fmod_scalar", "FmodBackward0", "The remainder of the division by a number, rounded towards 0.",
    lambda self, *, other: _by_number(np.fmod, self, other),
    self = lambda grad: grad)
fmod = of_either("fmod", "input - other * trunc(input / other).", fmod_tensor, fmod_scalar)
remainder_tensor = row("remainder_tensor", "RemainderBackward1",
    "The remainder of the division rounded down. It has the sign of other.",
    refusing("b", "remainder_cpu", lambda self, other: np.remainder(self, nonzero_divisor(other))), promotes=True,
    self  = lambda grad: grad,
    other = lambda grad, self, other: -grad * floor(self / other))


remainder_scalar = row("remainder_scalar", "RemainderBackward0", "The remainder of the division by a number, rounded down.",
    lambda self, *, other: _by_number(np.remainder, self, other),
    self = lambda grad: grad)


@primitive("torch::autograd::NotImplemented")
def remainder_of_scalar(other, *, self):
    """number % other; PyTorch has no gradient for it."""
    other = widened(other, self)
    return np.remainder(as_number_of(other, self), nonzero_divisor(other))
remainder_of_scalar.defvjp(other = lambda grad: no_derivative("remainder"))


remainder = of_either("remainder Tensor.__mod__", "input - other * floor(input / other), as Python's %.",
    remainder_tensor, remainder_scalar, remainder_of_scalar)
gcd = public_row("gcd", "", "The greatest common divisor.",
    refusing("bfc", "gcd_cpu", lambda self, other: np.gcd(self, other)), promotes=True, inplace=True)
lcm = public_row("lcm", "", "The least common multiple.",
    refusing("bfc", "lcm_cpu", lambda self, other: np.lcm(self, other)), promotes=True, inplace=True)


@public_primitive("abs absolute Tensor.__abs__", "AbsBackward0", inplace=True)
def abs(self):
    """Absolute value. Its gradient at 0 is 0."""
    refuse(self, "b", "abs_cpu")
    return np.abs(self)


sign = public_row("sign", "SignBackward0", "-1, 0 or 1; 0 for nan.",
    lambda self: np.nan_to_num(np.sign(self), nan=0.0) if self.dtype.kind == "f" else (
        self.copy() if self.dtype.kind == "b" else np.sign(self)), inplace=True,
    self = lambda grad: zeros_like(grad))
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


@public_primitive("angle", "AngleBackward0")
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


nan_to_num = public_row("nan_to_num", "NanToNumBackward0",
    "Replace nan by `nan` (default 0), and infinities by `posinf` and `neginf` (default: the limits of the type).",
    lambda self, *, nan=None, posinf=None, neginf=None: np.nan_to_num(
        self, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf) if self.dtype.kind in "fc" else self.copy(),
    inplace=True,
    self = lambda grad, self: grad * isfinite(self))


@public_primitive("heaviside", "torch::autograd::NotImplemented", promotes=unpromoted, inplace=True)
def heaviside(self, values):
    """0 for negative, 1 for positive numbers, `values` at 0; without gradient. Raises RuntimeError: the types differ."""
    refuse_if(self.dtype != values.dtype, "heaviside is not yet implemented for tensors with different dtypes.")
    return np.where(self == 0, values, self > 0).astype(self.dtype)
heaviside.defvjp(self = lambda grad: no_derivative("heaviside"), values = lambda grad: no_derivative("heaviside"))


# fmt: on
def whole_quotient(array: Any, divisor: Any) -> Any:
    """floor(array / divisor). A division by 0 gives inf, not nan."""
    refuse(array, "bc", "div_floor_cpu")
    if array.dtype.kind != "f":
        return array // nonzero_divisor(divisor)
    return np.where(divisor == 0, array / divisor, array // divisor)


def _by_number(divide: Any, array: Any, number: Any) -> Any:
    """A remainder of the division by a Python number."""
    array = widened(array, number)
    return divide(array, nonzero_divisor(as_number_of(array, number)))


def nonzero_divisor(divisor: Any) -> Any:
    """Refuse to divide integers by 0."""
    refuse_if(divisor.dtype.kind != "f" and not np.all(divisor), "ZeroDivisionError")
    return divisor
