"""GELU: x times the probability that a standard normal number is below x. Exact, or approximated with tanh."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import exp, ndtr, tanh
from ...base.scipy_special import special
from ...op import ARRAY_NAMES, composite, primitive, public, row
from ...tensor.refusals import refuse

# log((1 - p) / p) is x times this polynomial in x * x, highest power first; p is the probability below x. It is fitted so that
# gelu is wrong by 1e-7 at most. Beyond |x| = 6.2 its first coefficient takes p to 0 or 1.
_LOG_ODDS = (-3.37852955e-09, 2.57390306e-07, -7.79771567e-06, 1.09540082e-04, 6.91633855e-05, -7.26722880e-02, -1.59576703)
_BLOCK = 16384  # elements that stay in a cache


def normal_cdf(x: Any) -> Any:
    """The probability that a standard normal number is below x."""
    if x.dtype != np.float32:
        return special.ndtr(x).astype(x.dtype, copy=False)
    return np.reciprocal(inverse := _inverse_cdf(x), out=inverse)


def _inverse_cdf(x: Any) -> Any:
    """1 / normal_cdf(x) of float32, 20 times as fast as SciPy's."""
    out = np.empty_like(x)
    if x.flags.c_contiguous and x.size > _BLOCK:
        row, out_row = x.reshape(-1), out.reshape(-1)
        for start in range(0, x.size, _BLOCK):
            _write_inverse(row[start : start + _BLOCK], out_row[start : start + _BLOCK])
    else:
        _write_inverse(x, out)
    return out


def _write_inverse(x: Any, out: Any) -> None:
    square = np.square(x)
    np.multiply(square, _LOG_ODDS[0], out)
    for coefficient in _LOG_ODDS[1:-1]:
        np.add(out, coefficient, out)
        np.multiply(out, square, out)
    np.add(out, _LOG_ODDS[-1], out)
    np.multiply(out, x, out)
    np.add(np.exp(out, out), 1, out)


@public("nn.functional.gelu")
@primitive("GeluBackward0")
def gelu(self, *, approximate="none"):
    """self * ndtr(self).

    Raises:
        RuntimeError: `approximate` is neither "none" nor "tanh".
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    refuse(self, "iub", "GeluKernelImpl")
    if approximate == "none":
        return np.divide(self, out := _inverse_cdf(self), out=out) if self.dtype == np.float32 else self * normal_cdf(self)
    return 0.5 * self * (1 + np.tanh(ARRAY_NAMES["gelu_inner"](self)))
gelu.defvjp(self = lambda grad, self, approximate: gelu_backward(grad, self, approximate=approximate))


gelu_backward = row("gelu_backward", "GeluBackwardBackward0", "grad_output * gelu'(self).",
    lambda grad_output, self, *, approximate: grad_output * (
        normal_cdf(self) + self * ARRAY_NAMES["bell"](self) if approximate == "none" else ARRAY_NAMES["gelu_slope"](self)),
    written=lambda grad_output, self, approximate: (
        grad_output * (ndtr(self) + self * bell(self)) if approximate == "none"
        else grad_output * gelu_slope(self)),
    grad_output = lambda grad, self, approximate: gelu_backward(grad, self, approximate=approximate),
    self        = lambda grad, grad_output, self, approximate: grad * grad_output * gelu_curvature(self, approximate))


@composite
def bell(x: Any) -> Any:
    """The density of the standard normal distribution."""
    return exp(-0.5 * x * x) * 0.3989422804014327


@composite
def gelu_slope(x: Any) -> Any:
    """The first derivative of gelu that is approximated with tanh."""
    bend = tanh(gelu_inner(x))
    return 0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * gelu_inner_slope(x)


@composite
def gelu_curvature(x: Any, approximate: str) -> Any:
    """The second derivative of gelu."""
    if approximate == "none":
        return (2 - x * x) * bell(x)
    bend, inner = tanh(gelu_inner(x)), gelu_inner_slope(x)
    curve = (1 - bend * bend)
    return curve * inner + 0.5 * x * curve * (0.21406444881780073 * x - 2 * bend * inner * inner)


@composite
def gelu_inner(x: Any) -> Any:
    """The argument of tanh: sqrt(2/pi) * (x + 0.044715 x**3)."""
    return 0.7978845608028654 * (x + 0.044715 * x * x * x)


@composite
def gelu_inner_slope(x: Any) -> Any:
    """The derivative of `gelu_inner`."""
    return 0.7978845608028654 * (1 + 0.134145 * x * x)
