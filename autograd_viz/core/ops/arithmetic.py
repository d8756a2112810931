"""Element by element: sums, products, powers, and functions of one variable.

Formulas and node names: PyTorch's table of derivatives.
"""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

from typing import Any

import numpy as np

from ..primitive import primitive
from ..readings import composite, inlined
from ..tensor import Tensor


@inlined
def maybe_multiply(grad: Any, factor: Any) -> Any:
    """`grad * factor`, and plain `grad` where the factor is 1."""
    return grad if factor == 1 else grad * factor


@primitive("AddBackward0", promotes=True)
def add(self, other, *, alpha=1):
    """self + alpha * other."""
    return self + other if alpha == 1 else self + alpha * other
add.defvjp(
    self  = lambda grad: grad,
    other = lambda grad, alpha: maybe_multiply(grad, alpha),
)


@primitive("SubBackward0", promotes=True)
def sub(self, other, *, alpha=1):
    """self - alpha * other."""
    return self - other if alpha == 1 else self - alpha * other
sub.defvjp(
    self  = lambda grad: grad,
    other = lambda grad, alpha: maybe_multiply(-grad, alpha),
)


@primitive("RsubBackward1")
def rsub_scalar(self, *, other, alpha=1):
    """other - alpha * self, for a Python number `other`."""
    self = widened(self, other)
    return other - self if alpha == 1 else other - alpha * self
rsub_scalar.defvjp(
    self = lambda grad, alpha: maybe_multiply(-grad, alpha),
)


@primitive("MulBackward0", promotes=True)
def mul(self, other):
    """self * other."""
    return self * other
mul.defvjp(
    self  = lambda grad, other: grad * other,
    other = lambda grad, self:  grad * self,
)


@primitive("DivBackward0", promotes=True)
def div(self, other):
    """self / other; integers divide to the default float type."""
    if self.dtype.kind in "iub":
        self, other = _as_default_float(self), _as_default_float(other)
    return self / other
div.defvjp(
    self  = lambda grad, other: grad / other,
    other = lambda grad, other, self: -grad * ((self / other) / other),
)


# PyTorch's overloads for a plain number, called by its composites and backward formulas; a user's `x * 2` is `mul`.
@primitive("AddBackward1")
def add_scalar(self, *, other, alpha=1):
    """self + alpha * other, for a number `other`."""
    return widened(self, other) + alpha * other
add_scalar.defvjp(
    self = lambda grad: grad,
)


@primitive("SubBackward1")
def sub_scalar(self, *, other, alpha=1):
    """self - alpha * other, for a number `other`."""
    return widened(self, other) - alpha * other
sub_scalar.defvjp(
    self = lambda grad: grad,
)


@primitive("MulBackward1")
def mul_scalar(self, *, other):
    """self * other, for a number `other`."""
    return widened(self, other) * other
mul_scalar.defvjp(
    self = lambda grad, other: grad * other,
)


@primitive("DivBackward1")
def div_scalar(self, *, other):
    """self / other, for a number `other`."""
    return _as_float(self) / other
div_scalar.defvjp(
    self = lambda grad, other: grad / other,
)


@primitive("NegBackward0")
def neg(self):
    """-self."""
    return -self
neg.defvjp(
    self = lambda grad: -grad,
)


@primitive("ReciprocalBackward0")
def reciprocal(self):
    """1 / self."""
    return 1.0 / _as_float(self)
reciprocal.defvjp(
    self = lambda grad, result: -grad * (result * result),
)


@primitive("PowBackward0")
def pow_scalar(self, *, exponent):
    """self ** exponent, for a Python number `exponent`."""
    return widened(self, exponent) ** exponent
pow_scalar.defvjp(
    self = lambda grad, self, exponent: pow_backward(grad, self, exponent),
)


@inlined
def pow_backward(grad: Any, self: Any, exponent: Any) -> Any:
    """grad * (exponent * self**(exponent - 1)); zeros for exponent 0, where the formula would give 0 * inf."""
    return zeros_like(grad) if exponent == 0 else grad * (exponent * self ** (exponent - 1))


@primitive("PowBackward1", promotes=True)
def pow_tensor(self, exponent):
    """self ** exponent, both tensors."""
    return self ** exponent
pow_tensor.defvjp(
    self     = lambda grad, self, exponent: pow_backward_self(grad, self, exponent),
    exponent = lambda grad, self, exponent, result: pow_backward_exponent(grad, self, exponent, result),
)


@primitive("PowBackward2")
def rpow_scalar(exponent, *, self):
    """self ** exponent, for a Python number `self`."""
    exponent = widened(exponent, self)
    return np.asarray(self, dtype=exponent.dtype) ** exponent
rpow_scalar.defvjp(
    exponent = lambda grad, self, exponent, result: pow_backward_exponent(grad, self, exponent, result),
)


@inlined
def pow_backward_self(grad: Any, self: Any, exponent: Any) -> Any:
    """grad * (exponent * self**(exponent - 1)), 0 where the exponent is 0."""
    return where(eq(exponent, 0), zeros_like(grad), grad * (exponent * self ** (exponent - 1)))


@inlined
def pow_backward_exponent(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    """grad * (result * log(self)), 0 where 0**exponent is flat (exponent >= 0)."""
    return grad * where(eq(self, 0) * (exponent >= 0), zeros_like(result), result * log_of(self))


@inlined
def log_of(value: Any) -> Any:
    """log of a tensor, a Symbol or a Python number (-inf at 0)."""
    if isinstance(value, (int, float)):
        return np.log(np.float64(value)).item()
    return log(value)


@composite
def pow(input: Any, exponent: Any) -> Any:
    """`input ** exponent`; the node depends on which of the two are tensors, as in PyTorch."""
    if not hasattr(exponent, "shape"):
        return pow_scalar(input, exponent=exponent)
    if not hasattr(input, "shape"):
        return rpow_scalar(exponent, self=input)
    return pow_tensor(input, exponent)


def square(input: Tensor) -> Any:
    """input ** 2."""
    return pow_scalar(input, exponent=2)


@primitive("WhereBackward0", promotes=True)
def where_tensors(self, other, *, condition):
    """self where condition, else other."""
    taken = condition._data if hasattr(condition, "_data") else condition
    if taken.dtype.kind != "b":
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {taken.dtype}")
    return np.where(taken, self, other)
where_tensors.defvjp(
    self  = lambda grad, condition: where(condition, grad, zeros_like(grad)),
    other = lambda grad, condition: where(condition, zeros_like(grad), grad),
)


@composite
def where(condition: Any, input: Any, other: Any) -> Any:
    """input where condition, else other."""
    return where_tensors(input, other, condition=condition)


@primitive()
def zeros_like(self):
    """Zeros in the same shape and type."""
    return np.zeros_like(self)


@primitive("ZeroBackward0")
def zero(self):
    """Zeros, for zero_()."""
    return np.zeros_like(self)
zero.defvjp(
    self = lambda grad: zeros_like(grad),
)


@primitive("FillBackward0")
def fill(self, *, value):
    """One value everywhere, for fill_()."""
    return np.full_like(self, value)
fill.defvjp(
    self = lambda grad: zeros_like(grad),
)


@primitive("SignBackward0")
def sign(self):
    """-1, 0 or 1; 0 for nan."""
    return np.nan_to_num(np.sign(self), nan=0.0) if self.dtype.kind == "f" else np.sign(self)
sign.defvjp(
    self = lambda grad: zeros_like(grad),
)


@primitive("AbsBackward0")
def abs(self):
    """Absolute value; its gradient at 0 is 0."""
    return np.abs(self)
abs.defvjp(
    self = lambda grad, self: grad * sign(self),
)


@primitive("ExpBackward0")
def exp(self):
    """e ** self."""
    return np.exp(_as_float(self))
exp.defvjp(
    self = lambda grad, result: grad * result,
)


@primitive("LogBackward0")
def log(self):
    """Natural logarithm; -inf at 0."""
    return np.log(_as_float(self))
log.defvjp(
    self = lambda grad, self: grad / self,
)


@primitive("SqrtBackward0")
def sqrt(self):
    """Square root."""
    return np.sqrt(_as_float(self))
sqrt.defvjp(
    self = lambda grad, result: grad / (2 * result),
)


@primitive("SinBackward0")
def sin(self):
    """Sine."""
    return np.sin(_as_float(self))
sin.defvjp(
    self = lambda grad, self: grad * cos(self),
)


@primitive("CosBackward0")
def cos(self):
    """Cosine."""
    return np.cos(_as_float(self))
cos.defvjp(
    self = lambda grad, self: grad * -sin(self),
)


def widened(array: Any, number: Any) -> Any:
    """Integers in the type that they take beside a Python number: the default float type beside a float."""
    return _as_default_float(array) if isinstance(number, float) and array.dtype.kind != "f" else array


def _as_float(array: Any) -> Any:
    """Integers in the default float type."""
    return array if array.dtype.kind == "f" else _as_default_float(array)


def _as_default_float(array: Any) -> Any:
    from ..dtypes import get_default_dtype

    return array.astype(get_default_dtype().numpy)
