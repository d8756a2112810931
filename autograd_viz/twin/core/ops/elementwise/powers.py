"""Powers, roots, exponentials and logarithms."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.dtypes import complex128, float64
from ...base.names import conjugated, eq, is_complex, real_part, where, zeros_like
from ...op import composite, inlined, primitive, public, public_primitive, public_row, row
from ...tensor import Tensor, refuse, refuse_if, refusing
from .arithmetic import _as_float, as_number_of, of_floats, widened


@primitive("PowBackward0")
def pow_scalar(self, *, exponent):
    """self ** exponent, for a Python number `exponent`."""
    self = widened(self, exponent)
    refuse_if(self.dtype.kind in "iu" and exponent < 0, "Integers to negative integer powers are not allowed.")
    return self ** exponent


@inlined
def pow_backward(grad: Any, self: Any, exponent: Any) -> Any:
    """grad * (exponent * self**(exponent - 1)). Zeros for exponent 0, because the formula could give 0 * inf."""
    return zeros_like(grad) if exponent == 0 else grad * conjugated(exponent * self ** (exponent - 1))


@primitive("PowBackward1", promotes=True)
def pow_tensor(self, exponent):
    """self ** exponent, both tensors."""
    if self.dtype.kind != "i" or np.all(exponent >= 0):
        return self ** exponent
    whole = np.where(np.abs(self) == 1, self, 0)  # of the reciprocals of integers, only those of 1 and -1 are integers
    return np.where(exponent < 0, whole, self) ** np.abs(exponent)
pow_tensor.defvjp(
    self     = lambda grad, self, exponent: (
        where(eq(exponent, 0), zeros_like(grad), grad * conjugated(exponent * self ** (exponent - 1)))),
    exponent = lambda grad, self, exponent, result: pow_backward_exponent(grad, self, exponent, result))


rpow_scalar = row("rpow_scalar", "PowBackward2", "self ** exponent, for a Python number `self`.",
    lambda exponent, *, self: pow_tensor.forward(as_number_of(e := widened(exponent, self), self), e),
    exponent = lambda grad, self, exponent, result: pow_backward_exponent(grad, self, exponent, result))


@inlined
def pow_backward_exponent(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    """grad * (result * log(self)); 0 where self is 0 and exponent >= 0."""
    if isinstance(self, (int, float, complex)) and self != 0:
        return grad * conjugated(result * log_of(self))
    there = eq(self, 0) * (
        eq(exponent, real_part(exponent)) * (real_part(exponent) >= 0) if is_complex(exponent) else exponent >= 0)
    return grad * where(there, zeros_like(result), conjugated(result * log_of(self)))


@inlined
def log_of(value: Any) -> Any:
    """log of a tensor, a Symbol or a Python number (-inf at 0)."""
    if isinstance(value, (int, float, complex)):
        return np.log(np.array(value, np.result_type(type(value), np.float64))).item()
    return log(value)


@composite
def pow(input: Any, exponent: Any) -> Any:
    """`input ** exponent`. As in PyTorch, the node depends on which of the two are tensors."""
    if not hasattr(exponent, "shape"):
        return pow_scalar(input, exponent=exponent)
    if not hasattr(input, "shape"):
        return rpow_scalar(exponent, self=input)
    return pow_tensor(input, exponent)


public("pow", inplace=True)(public("Tensor.__pow__")(pow))


@public("float_power", inplace=True)
def float_power(input: Any, exponent: Any) -> Any:
    """input ** exponent in float64, or in complex128."""
    kinds = (x.dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex) for x in (input, exponent))
    dtype, number = (complex128, complex) if any(kinds) else (float64, float)
    return pow(*(x.to(dtype) if isinstance(x, Tensor) else number(x) for x in (input, exponent)))


@public("square", inplace=True)
def square(input: Tensor) -> Any:
    """input ** 2."""
    return pow_scalar(input, exponent=2)


sqrt = public_row("sqrt", "SqrtBackward0", "Square root.", lambda self: np.sqrt(_as_float(self)), inplace=True)
rsqrt = of_floats("rsqrt", "RsqrtBackward0", "1 / sqrt(self).", lambda x: 1 / np.sqrt(x),
    self = lambda grad, result: -0.5 * grad * conjugated(result**3))
exp = public_row("exp", "ExpBackward0", "e ** self.", lambda self: np.exp(_as_float(self)), inplace=True)
exp2 = of_floats("exp2 special.exp2", "Exp2Backward0", "2 ** self.", np.exp2,
    self = lambda grad, result: grad * conjugated(result) * 0.6931471805599453)  # log(2)
expm1 = of_floats("expm1 special.expm1", "Expm1Backward0", "e ** self - 1, exact for small self.", np.expm1,
    self = lambda grad, result: grad * (conjugated(result) + 1))
log = public_row("log", "LogBackward0", "Natural logarithm; -inf at 0.", lambda self: np.log(_as_float(self)), inplace=True)
log1p = of_floats("log1p special.log1p", "Log1PBackward0", "log(1 + self), exact for small self.", np.log1p,
    self = lambda grad, self: grad / (conjugated(self) + 1))
log2 = of_floats("log2", "Log2Backward0", "Logarithm to base 2.", np.log2,
    self = lambda grad, self: grad / conjugated(self * 0.6931471805599453))
log10 = of_floats("log10", "Log10Backward0", "Logarithm to base 10.", np.log10,
    self = lambda grad, self: grad / conjugated(self * 2.302585092994046))


@public_primitive("logaddexp", "LogaddexpBackward0", promotes=True)
def logaddexp(self, other):
    """log(exp(self) + exp(other)), without overflow."""
    refuse(self, "iub", "logaddexp_cpu")
    if np.result_type(self, other).kind == "c":
        is_larger = self.real >= other.real
        larger, smaller = np.where(is_larger, self, other), np.where(is_larger, other, self)
        return larger + np.log(1 + np.exp(smaller - larger))
    return np.logaddexp(self, other)
logaddexp.defvjp(
    self  = lambda grad, self, other: grad / conjugated(1 + exp(other - self)),
    other = lambda grad, self, other: grad / conjugated(1 + exp(self - other)))


logaddexp2 = public_row("logaddexp2", "Logaddexp2Backward0", "log2(2**self + 2**other), without overflow.",
    refusing("iub", "logaddexp2_cpu", lambda self, other: np.logaddexp2(self, other)), promotes=True,
    self  = lambda grad, self, other: grad / (1 + exp2(other - self)),
    other = lambda grad, self, other: grad / (1 + exp2(self - other)))
ldexp = public_row("ldexp", "LdexpBackward0", "self * 2**other.",
    lambda self, other: _as_float(self) * np.exp2(_as_float(other)), promotes=True, inplace=True,
    self  = lambda grad, other: grad * conjugated(pow(2, other)),
    other = lambda grad, result: grad * conjugated(result) * 0.6931471805599453)  # log(2)


@public_primitive("frexp", "FrexpBackward0", results=("mantissa", "exponent"))
def frexp(self):
    """self = mantissa * 2**exponent with 0.5 <= |mantissa| < 1. Raises RuntimeError: the type is not floating point."""
    refuse_if(self.dtype.kind != "f", "torch.frexp() only supports floating-point dtypes")
    return np.frexp(self)
frexp.defvjp(self = lambda grad, exponent: grad / exp2(exponent))


hypot = public_row("hypot", "HypotBackward0", "sqrt(self**2 + other**2).",
    refusing("iub", "hypot_cpu", lambda self, other: np.hypot(self, other)), promotes=True, inplace=True,
    self  = lambda grad, self,  result: grad * self / result,
    other = lambda grad, other, result: grad * other / result)
