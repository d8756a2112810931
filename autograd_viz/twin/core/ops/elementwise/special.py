"""Special functions: error functions, gamma functions, entropy. SciPy computes their values."""
# fmt: off

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.names import add_scalar, eq, exp, log, log_of, logical_and, logical_or, mul_scalar, where
from ...base.scipy_special import special
from ...base.symbol import call
from ...op import composite, inlined, primitive, public, public_primitive, public_row, row
from ...tensor import Tensor, refuse_if
from .arithmetic import _as_float, of_either, of_floats


def computed(function: Callable[..., Any], *arrays: Any) -> Any:
    """A SciPy function of arrays, in the element type of the arrays."""
    floats = [_as_float(a) for a in arrays]
    return function(*floats).astype(np.result_type(*floats), copy=False)


erf = public_row("erf special.erf", "ErfBackward0", "2/sqrt(pi) times the integral of exp(-t**2) from 0 to self.",
    lambda self: computed(special.erf, self), inplace=True,
    self = lambda grad, self: 1.1283791670955126 * exp(-(self**2)) * grad)  # 2 / sqrt(pi)
erfc = public_row("erfc special.erfc", "ErfcBackward0", "1 - erf(self), exact where that is tiny.",
    lambda self: computed(special.erfc, self), inplace=True,
    self = lambda grad, self: -1.1283791670955126 * exp(-(self**2)) * grad)  # -2 / sqrt(pi)
erfcx = public_row("special.erfcx", "SpecialErfcxBackward0", "exp(self**2) * erfc(self).",
    lambda self: computed(special.erfcx, self),
    self = lambda grad, self, result: (2 * self * result - 1.1283791670955126) * grad)  # 2 / sqrt(pi)
erfinv = public_row("erfinv special.erfinv", "ErfinvBackward0", "The x with erf(x) = self.",
    lambda self: computed(special.erfinv, self), inplace=True,
    self = lambda grad, self: 0.8862269254527579 * exp(erfinv(self)**2) * grad)  # sqrt(pi) / 2


@public("special.ndtr")
@composite
def ndtr(input: Any) -> Any:
    """The cumulative distribution function of the standard normal: (1 + erf(input / sqrt(2))) / 2."""
    return mul_scalar(add_scalar(erf(mul_scalar(input, other=0.7071067811865476)), other=1), other=0.5)


ndtri = public_row("special.ndtri", "SpecialNdtriBackward0", "The x with ndtr(x) = self.",
    lambda self: computed(special.ndtri, self),
    self = lambda grad, result: grad * 2.5066282746310002 * exp(result**2 / 2))  # sqrt(2 * pi)
log_ndtr = public_row("special.log_ndtr", "SpecialLogNdtrBackward0", "log(ndtr(self)), exact where ndtr is tiny.",
    lambda self: computed(special.log_ndtr, self),
    self = lambda grad, self, result: grad / 2.5066282746310002 * exp(-(result + self**2 / 2)))  # sqrt(2 * pi)
lgamma = public_row("lgamma special.gammaln", "LgammaBackward0", "log(|gamma(self)|); gamma(n + 1) is n!.",
    lambda self: computed(special.gammaln, self), inplace=True,
    self = lambda grad, self: grad * digamma(self))
digamma = of_floats("digamma special.digamma special.psi", "DigammaBackward0", "The derivative of lgamma.",
    lambda x: np.where(x == 0, np.copysign(np.inf, -x), computed(special.psi, x)).astype(x.dtype, copy=False),
    self = lambda grad, self: grad * polygamma_order(self, n=1))


@primitive("PolygammaBackward0", written=lambda self, n: call("polygamma", n, self))
def polygamma_order(self, *, n):
    """The n-th derivative of digamma."""
    refuse_if(n < 0, "polygamma(n, x) does not support negative n.")
    return digamma.forward(self) if n == 0 else computed(lambda x: special.polygamma(n, x), self)
polygamma_order.defvjp(self = lambda grad, self, n: grad * polygamma_order(self, n=n + 1))


@public("torch.polygamma", "special.polygamma")
def polygamma(n: int, input: Tensor) -> Any:
    """The n-th derivative of digamma."""
    return polygamma_order(input, n=n)


@public("Tensor.polygamma", inplace=True)
def polygamma_method(self: Tensor, n: int) -> Any:
    """The n-th derivative of digamma."""
    return polygamma_order(self, n=n)


@public_primitive("logit special.logit", "LogitBackward0", inplace=True)
def logit(self, *, eps=None):
    """log(p / (1 - p)), the inverse of sigmoid. With `eps`, p is first clamped to eps and 1 - eps."""
    p = _as_float(self)
    p = p if eps is None else np.clip(p, eps, 1 - eps)
    return np.log(p / (1 - p))
logit.defvjp(self = lambda grad, self, eps: logit_backward(grad, self, eps))


@inlined
def logit_backward(grad: Any, self: Any, eps: Any) -> Any:
    """grad / (self * (1 - self)). It is 0 where eps clamped, and nan outside 0..1."""
    lowest, outside = (0, np.nan) if eps is None else (eps, 0)
    return where(logical_or(self < lowest, self > 1 - lowest), outside, grad / (self * (1 - self)))


entr = public_row("special.entr", "SpecialEntrBackward0", "-self * log(self), a term of the entropy; 0 at 0.",
    lambda self: computed(special.entr, self),
    self = lambda grad, self: grad * -(1 + log(self)))
xlogy_tensors = row("xlogy_tensors", "XlogyBackward0", "self * log(other), 0 where self is 0.",
    lambda self, other: computed(special.xlogy, self, other), promotes=True,
    self  = lambda grad, self, other: where(logical_and(eq(self, 0), other <= 0), 0, grad * log(other)),
    other = lambda grad, self, other: grad * self / other)
xlogy_of_number = row("xlogy_of_number", "XlogyBackward1", "number * log(other).",
    lambda other, *, self: computed(special.xlogy, np.full_like(_as_float(other), self), other),
    other = lambda grad, self, other: grad * self / other)
xlogy_number = row("xlogy_number", "XlogyBackward2", "self * log(number).",
    lambda self, *, other: computed(special.xlogy, self, np.full_like(_as_float(self), other)),
    self = lambda grad, self, other: grad * log_of(other) if other > 0 else where(eq(self, 0), 0, grad * log_of(other)))


xlogy = of_either("xlogy special.xlogy", "input * log(other), 0 where `input` is 0.",
    xlogy_tensors, xlogy_number, xlogy_of_number)
