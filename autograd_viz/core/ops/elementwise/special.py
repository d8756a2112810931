"""Special functions: error functions, gamma functions, entropy. SciPy computes their values."""
# fmt: off
# tables of ops: their columns stay aligned

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.public import public
from ...base.readings import composite, inlined
from ...base.scipy_special import special
from ...base.symbol import call
from ...op.primitive import primitive
from ...tensor.tensor import Tensor
from .arithmetic import _as_float


def computed(function: Callable[..., Any], *arrays: Any) -> Any:
    """A SciPy function of arrays, in the element type of the arrays."""
    floats = [_as_float(a) for a in arrays]
    return function(*floats).astype(np.result_type(*floats), copy=False)


@public("erf", "special.erf", inplace=True)
@primitive("ErfBackward0")
def erf(self):
    """2/sqrt(pi) times the integral of exp(-t**2) from 0 to self."""
    return computed(special.erf, self)
erf.defvjp(
    self = lambda grad, self: 1.1283791670955126 * exp(-(self**2)) * grad,  # 2 / sqrt(pi)
)


@public("erfc", "special.erfc", inplace=True)
@primitive("ErfcBackward0")
def erfc(self):
    """1 - erf(self), exact where that is tiny."""
    return computed(special.erfc, self)
erfc.defvjp(
    self = lambda grad, self: -1.1283791670955126 * exp(-(self**2)) * grad,  # -2 / sqrt(pi)
)


@public("special.erfcx")
@primitive("SpecialErfcxBackward0")
def erfcx(self):
    """exp(self**2) * erfc(self)."""
    return computed(special.erfcx, self)
erfcx.defvjp(
    self = lambda grad, self, result: (2 * self * result - 1.1283791670955126) * grad,  # 2 / sqrt(pi)
)


@public("erfinv", "special.erfinv", inplace=True)
@primitive("ErfinvBackward0")
def erfinv(self):
    """The x with erf(x) = self."""
    return computed(special.erfinv, self)
erfinv.defvjp(
    self = lambda grad, self: 0.8862269254527579 * exp(erfinv(self)**2) * grad,  # sqrt(pi) / 2
)


@public("special.ndtr")
@composite
def ndtr(input: Any) -> Any:
    """The cumulative distribution function of the standard normal: (1 + erf(input / sqrt(2))) / 2."""
    return mul_scalar(add_scalar(erf(mul_scalar(input, other=0.7071067811865476)), other=1), other=0.5)


@public("special.ndtri")
@primitive("SpecialNdtriBackward0")
def ndtri(self):
    """The x with ndtr(x) = self."""
    return computed(special.ndtri, self)
ndtri.defvjp(
    self = lambda grad, result: grad * 2.5066282746310002 * exp(result**2 / 2),  # sqrt(2 * pi)
)


@public("special.log_ndtr")
@primitive("SpecialLogNdtrBackward0")
def log_ndtr(self):
    """log(ndtr(self)), exact where ndtr is tiny."""
    return computed(special.log_ndtr, self)
log_ndtr.defvjp(
    self = lambda grad, self, result: grad / 2.5066282746310002 * exp(-(result + self**2 / 2)),  # sqrt(2 * pi)
)


@public("lgamma", "special.gammaln", inplace=True)
@primitive("LgammaBackward0")
def lgamma(self):
    """log(|gamma(self)|); gamma(n + 1) is n!."""
    return computed(special.gammaln, self)
lgamma.defvjp(
    self = lambda grad, self: grad * digamma(self),
)


@public("digamma", "special.digamma", "special.psi", inplace=True)
@primitive("DigammaBackward0")
def digamma(self):
    """The derivative of lgamma."""
    x = _as_float(self)
    return np.where(x == 0, np.copysign(np.inf, -x), computed(special.psi, x)).astype(x.dtype, copy=False)
digamma.defvjp(
    self = lambda grad, self: grad * polygamma_order(self, n=1),
)


@primitive("PolygammaBackward0", written=lambda self, n: call("polygamma", n, self))
def polygamma_order(self, *, n):
    """The n-th derivative of digamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return digamma.forward(self) if n == 0 else computed(lambda x: special.polygamma(n, x), self)
polygamma_order.defvjp(
    self = lambda grad, self, n: grad * polygamma_order(self, n=n + 1),
)


@public("torch.polygamma", "special.polygamma")
def polygamma(n: int, input: Tensor) -> Any:
    """The n-th derivative of digamma."""
    return polygamma_order(input, n=n)


@public("Tensor.polygamma", inplace=True)
def polygamma_method(self: Tensor, n: int) -> Any:
    """The n-th derivative of digamma."""
    return polygamma_order(self, n=n)


@public("mvlgamma", "special.multigammaln", inplace=True)
@primitive("MvlgammaBackward0")
def mvlgamma(self, *, p):
    """The logarithm of the multivariate gamma function of dimension p: a constant plus the sum of lgamma(self - i/2).

    Raises:
        RuntimeError: `p` is smaller than 1.
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    x = _as_float(self)
    rows = [special.gammaln(x - i / 2) for i in range(p)]
    return (sum(rows) + p * (p - 1) / 4 * np.log(np.pi)).astype(x.dtype, copy=False)
mvlgamma.defvjp(
    self = lambda grad, self, p: grad * digamma_ladder(self, p),
)


@composite
def digamma_ladder(value: Any, p: int) -> Any:
    """digamma(value) + digamma(value - 1/2) + ..., p terms."""
    total = digamma(value)
    for i in range(1, p):
        total = total + digamma(value - i / 2)
    return total


@public("logit", "special.logit", inplace=True)
@primitive("LogitBackward0")
def logit(self, *, eps=None):
    """log(p / (1 - p)), the inverse of sigmoid. With `eps`, p is first clamped to eps and 1 - eps."""
    p = _as_float(self)
    p = p if eps is None else np.clip(p, eps, 1 - eps)
    return np.log(p / (1 - p))
logit.defvjp(
    self = lambda grad, self, eps: logit_backward(grad, self, eps),
)


@inlined
def logit_backward(grad: Any, self: Any, eps: Any) -> Any:
    """grad / (self * (1 - self)). It is 0 where eps clamped, and nan outside 0..1."""
    lowest, outside = (0, np.nan) if eps is None else (eps, 0)
    return where(logical_or(self < lowest, self > 1 - lowest), outside, grad / (self * (1 - self)))


@public("special.entr")
@primitive("SpecialEntrBackward0")
def entr(self):
    """-self * log(self), a term of the entropy; 0 at 0."""
    return computed(special.entr, self)
entr.defvjp(
    self = lambda grad, self: grad * -(1 + log(self)),
)


@primitive("XlogyBackward0", promotes=True)
def xlogy_tensors(self, other):
    """self * log(other), 0 where self is 0."""
    return computed(special.xlogy, self, other)
xlogy_tensors.defvjp(
    self  = lambda grad, self, other: where(logical_and(eq(self, 0), other <= 0), 0, grad * log(other)),
    other = lambda grad, self, other: grad * self / other,
)


@primitive("XlogyBackward1")
def xlogy_of_number(other, *, self):
    """number * log(other)."""
    return computed(special.xlogy, np.full_like(_as_float(other), self), other)
xlogy_of_number.defvjp(
    other = lambda grad, self, other: grad * self / other,
)


@primitive("XlogyBackward2")
def xlogy_number(self, *, other):
    """self * log(number)."""
    return computed(special.xlogy, self, np.full_like(_as_float(self), other))
xlogy_number.defvjp(
    self = lambda grad, self, other: grad * log_of(other) if other > 0 else where(eq(self, 0), 0, grad * log_of(other)),
)


@public("xlogy", "special.xlogy", inplace=True)
def xlogy(input: Any, other: Any) -> Any:
    """input * log(other), 0 where `input` is 0."""
    if not isinstance(input, Tensor):
        return xlogy_of_number(other, self=input)
    return xlogy_tensors(input, other) if isinstance(other, Tensor) else xlogy_number(input, other=other)


@primitive("SpecialXlog1PyBackward0", promotes=True)
def xlog1py_tensors(self, other):
    """self * log(1 + other), 0 where self is 0."""
    return computed(special.xlog1py, self, other)
xlog1py_tensors.defvjp(
    self  = lambda grad, self, other: where(logical_and(eq(self, 0), other <= -1), 0, grad * log1p(other)),
    other = lambda grad, self, other: grad * self / (other + 1),
)


@primitive("SpecialXlog1PyBackward1")
def xlog1py_of_number(other, *, self):
    """number * log(1 + other)."""
    return computed(special.xlog1py, np.full_like(_as_float(other), self), other)
xlog1py_of_number.defvjp(
    other = lambda grad, self, other: grad * self / (other + 1),
)


@primitive("SpecialXlog1PyBackward2", written=lambda self, other: call("xlog1py", self, other))
def xlog1py_number(self, *, other):
    """self * log(1 + number)."""
    return computed(special.xlog1py, self, np.full_like(_as_float(self), other))
xlog1py_number.defvjp(
    self = lambda grad, self, other: (
        xlog1py_number(grad, other=other) if other > -1 else where(eq(self, 0), 0, xlog1py_number(grad, other=other))),
)


@public("special.xlog1py")
def xlog1py(input: Any, other: Any) -> Any:
    """input * log(1 + other), 0 where `input` is 0."""
    if not isinstance(input, Tensor):
        return xlog1py_of_number(other, self=input)
    return xlog1py_tensors(input, other) if isinstance(other, Tensor) else xlog1py_number(input, other=other)
