"""Smooth activations: sigmoid, tanh, functions built from exp, and gelu."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import conjugated, exp, maybe_multiply, ndtr, reshape, stack, unbind_dim, where
from ...base.scipy_special import special
from ...op import ARRAY_NAMES, composite, primitive, public, public_primitive, public_row, row
from ...tensor import Tensor, from_front, refuse, refuse_if, refusing
from ..elementwise.arithmetic import _as_float


def expit(array: Any) -> Any:
    """1 / (1 + exp(-x)), without overflow, in the type of `array`."""
    if array.dtype.kind == "c":
        return 1 / (1 + np.exp(-array))
    return special.expit(array).astype(array.dtype, copy=False)


sigmoid = public_row("sigmoid special.expit nn.functional.sigmoid", "SigmoidBackward0", "1 / (1 + exp(-self)).",
    lambda self: expit(_as_float(self)), inplace=True)
sigmoid_backward = row("sigmoid_backward", "SigmoidBackwardBackward0", "grad_output * (1 - output) * output.",
    lambda grad_output, output: grad_output * (1 - output) * output,
    written=lambda grad_output, output: grad_output * (1 - output) * output,
    grad_output = lambda grad, output: sigmoid_backward(grad, conjugated(output)),
    output      = lambda grad, grad_output, output: grad * conjugated(grad_output * (1 - 2 * output)))
tanh = public_row("tanh nn.functional.tanh", "TanhBackward0", "Hyperbolic tangent.",
    lambda self: np.tanh(_as_float(self)), inplace=True)
tanh_backward = row("tanh_backward", "TanhBackwardBackward0", "grad_output * (1 - output**2).",
    lambda grad_output, output: grad_output * (1 - output * output),
    written=lambda grad_output, output: grad_output * (1 - output**2),
    grad_output = lambda grad, output: tanh_backward(grad, conjugated(output)),
    output      = lambda grad, grad_output, output: grad * conjugated(-2 * output * grad_output))


@public("nn.functional.logsigmoid")
def logsigmoid(input: Tensor) -> Any:
    """log(sigmoid(input)), without overflow."""
    return log_sigmoid_forward(input)[0]


@primitive("LogSigmoidBackward0", results=("output", "buffer"), nondifferentiable=("buffer",))
def log_sigmoid_forward(self):
    """min(self, 0) - log(1 + buffer), where buffer = exp(-|self|)."""
    refuse(self, "iub", "log_sigmoid_cpu")
    buffer = np.exp(-np.abs(self))
    return np.minimum(self, 0) - np.log1p(buffer), buffer
log_sigmoid_forward.defvjp(self = lambda grad, self, buffer: log_sigmoid_backward(grad, self, buffer))


log_sigmoid_backward = row("log_sigmoid_backward", "LogSigmoidBackwardBackward0", "grad_output * sigmoid(-self).",
    lambda grad_output, self, buffer: grad_output * (np.where(self < 0, 1, buffer) / (1 + buffer)),
    written=lambda grad_output, self, buffer: grad_output * sigmoid(-self),
    grad_output = lambda grad, self, buffer: log_sigmoid_backward(grad, self, buffer),
    self        = lambda grad, grad_output, self: -grad * grad_output * sigmoid(self) * (1 - sigmoid(self)))
softplus = public_row("nn.functional.softplus", "SoftplusBackward0",
    "A smooth relu: log(1 + exp(beta * self)) / beta; self where beta * self > threshold.",
    refusing("iub", "softplus_cpu", lambda self, *, beta=1, threshold=20:
        np.where(self * beta > threshold, self, np.log1p(np.exp(self * beta)) / beta)),
    self = lambda grad, self, beta, threshold: softplus_backward(grad, self, beta=beta, threshold=threshold))
softplus_backward = row("softplus_backward", "SoftplusBackwardBackward0",
    "grad_output * sigmoid(beta * self); grad_output where beta * self > threshold.",
    lambda grad_output, self, *, beta, threshold:
        np.where(self * beta > threshold, grad_output, grad_output * expit(self * beta)),
    written=lambda grad_output, self, beta, threshold: where(
        maybe_multiply(self, beta) > threshold, grad_output, grad_output * sigmoid(maybe_multiply(self, beta))),
    grad_output = lambda grad, self, beta, threshold: softplus_backward(grad, self, beta=beta, threshold=threshold),
    self        = lambda grad, grad_output, self, beta, threshold: where(
        beta * self > threshold, 0, grad * grad_output * beta * sigmoid(beta * self) * (1 - sigmoid(beta * self))))


@public("nn.functional.softsign")
def softsign(input: Tensor) -> Any:
    """input / (1 + |input|)."""
    return input / (abs(input) + 1)


@public("nn.functional.tanhshrink")
def tanhshrink(input: Tensor) -> Any:
    """input - tanh(input)."""
    return input - tanh(input)


silu_of = row("silu_of", "SiluBackward0", "self * sigmoid(self).",
    refusing("iub", "silu_cpu", lambda self: self * expit(self)),
    self = lambda grad, self: grad * (sigmoid(self) * (1 + self * (1 - sigmoid(self)))))
mish_of = row("mish_of", "MishBackward0", "self * tanh(softplus(self)).",
    refusing("iub", "mish_cpu", lambda self: self * np.tanh(np.logaddexp(self, 0))),
    self = lambda grad, self: mish_backward(grad, self))


@composite
def mish_backward(grad: Any, self: Any) -> Any:
    """grad * (bend + self * sigmoid(self) * (1 - bend**2)), where bend = tanh(softplus(self))."""
    bend = tanh(softplus(self))
    return grad * (bend + self * sigmoid(self) * (1 - bend * bend))


elu_of = row("elu_of", "EluBackward0", "scale * self if self > 0, else scale * alpha * (exp(input_scale * self) - 1).",
    refusing("iub", "elu_cpu", lambda self, *, alpha, scale, input_scale:
        np.where(self <= 0, np.expm1(self * input_scale) * (alpha * scale), self * scale)),
    self = lambda grad, self, alpha, scale, input_scale: elu_backward(
        grad, self, alpha=alpha, scale=scale, input_scale=input_scale))
elu_backward = row("elu_backward", "EluBackwardBackward0",
    "grad_output * scale if self > 0, else grad_output * scale * alpha * input_scale * exp(input_scale * self).",
    lambda grad_output, self_or_result, *, alpha, scale, input_scale: np.where(
        self_or_result <= 0, grad_output * (np.exp(self_or_result * input_scale) * (input_scale * alpha * scale)),
        grad_output * scale),
    written=lambda grad_output, self_or_result, alpha, scale, input_scale: where(
        self_or_result > 0, maybe_multiply(grad_output, scale),
        maybe_multiply(grad_output, alpha * scale * input_scale) * exp(maybe_multiply(self_or_result, input_scale))),
    grad_output    = lambda grad, self_or_result, alpha, scale, input_scale: elu_backward(
        grad, self_or_result, alpha=alpha, scale=scale, input_scale=input_scale),
    self_or_result = lambda grad, grad_output, self_or_result, alpha, scale, input_scale: where(
        self_or_result <= 0, elu_backward(grad * grad_output, self_or_result, alpha=alpha, scale=scale, input_scale=input_scale)
        * input_scale, 0))
celu_of = row("celu_of", "CeluBackward0", "self if self > 0, else alpha * (exp(self / alpha) - 1).",
    refusing("iub", "elu_cpu", lambda self, *, alpha: np.where(self <= 0, np.expm1(self / alpha) * alpha, self)),
    self = lambda grad, self, alpha: elu_backward(grad, self, alpha=alpha, scale=1, input_scale=1 / alpha))


@primitive("GluBackward0")
def glu_of(self, *, dim):
    """The first half along `dim`, times the sigmoid of the second half."""
    refuse(self, "iub", "glu_cpu")
    a, b = np.split(self, 2, dim)
    return a * expit(b)
glu_of.defvjp(self = lambda grad, self, dim: glu_backward(grad, self, dim=dim))


@primitive("GluBackwardBackward0")
def glu_backward(grad_output, self, *, dim):
    """The gradients of both halves: grad_output * sigmoid(b), and grad_output * a * sigmoid'(b)."""
    a, b = np.split(self, 2, dim)
    gate = expit(b)
    return np.concatenate([grad_output * gate, grad_output * a * gate * (1 - gate)], dim)
glu_backward.defvjp(
    grad_output = lambda grad, self, dim: glu_tangent(grad, self, dim),
    self        = lambda grad, grad_output, self, dim: glu_double_backward(grad, grad_output, self, dim))


@composite
def halves(value: Any, dim: int) -> Any:
    """The two halves along `dim`."""
    dim = dim % value.ndim
    return unbind_dim(reshape(value, (*value.shape[:dim], 2, value.shape[dim] // 2, *value.shape[dim + 1:])), dim=dim)


@composite
def glu_tangent(grad: Any, self: Any, dim: int) -> Any:
    """The change of glu when its halves a and b change by the halves of `grad`."""
    (a, b), (to_a, to_b) = halves(self, dim), halves(grad, dim)
    gate = sigmoid(b)
    return to_a * gate + to_b * a * gate * (1 - gate)


@composite
def glu_double_backward(grad: Any, grad_output: Any, self: Any, dim: int) -> Any:
    """The derivative of glu_backward with respect to a and b, weighted by the halves of `grad`."""
    (a, b), (to_a, to_b) = halves(self, dim), halves(grad, dim)
    gate = sigmoid(b)
    slope = grad_output * gate * (1 - gate)
    parts = (to_b * slope, to_a * slope + to_b * a * slope * (1 - 2 * gate))
    return reshape(stack(parts, dim % self.ndim), self.shape)


@public("nn.functional.glu")
def glu(input: Tensor, dim: int = -1) -> Any:
    """The first half of the input, times the sigmoid of the second. Raises RuntimeError: the length of `dim` is odd, or 0-d."""
    refuse_if(input.ndim == 0, "glu does not support scalars because halving size must be even")
    at = from_front(dim, input.ndim)
    refuse_if(input.shape[at] % 2, lambda: f"Halving dimension must be even, but dimension {at} is size {input.shape[at]}")
    return glu_of(input, dim=dim)


# log(p / (1 - p)) / 2 is x times this polynomial in x * x, highest power first; p is the probability below x. It is fitted so
# that gelu is wrong by 1e-7 at most. Beyond |x| = 6.2 its first coefficient takes p to 0 or 1.
_LOG_ODDS = (1.68926478e-09, -1.28695153e-07, 3.898857835e-06, -5.4770041e-05, -3.458169275e-05, 3.6336144e-02, 7.97883515e-01)
_LEADING, *_MIDDLE, _LAST, _HALF = (np.array(c, np.float32) for c in (*_LOG_ODDS, 0.5))  # arrays are faster than numbers
_BLOCK = 16384  # elements that stay in a cache


def normal_cdf(x: Any) -> Any:
    """The probability that a standard normal number is below x; for float32, 20 times as fast as SciPy's."""
    if x.dtype != np.float32:
        return special.ndtr(x).astype(x.dtype, copy=False)
    out = np.empty_like(x)
    if not x.flags.c_contiguous or x.size <= _BLOCK:
        return _write_cdf(x, out)
    row, out_row = x.reshape(-1), out.reshape(-1)
    for start in range(0, x.size, _BLOCK):
        _write_cdf(row[start : start + _BLOCK], out_row[start : start + _BLOCK])
    return out


def _write_cdf(x: Any, out: Any) -> Any:
    square = np.square(x)
    np.multiply(square, _LEADING, out)
    for coefficient in _MIDDLE:
        np.add(out, coefficient, out)
        np.multiply(out, square, out)
    np.add(out, _LAST, out)
    np.multiply(out, x, out)
    np.multiply(np.tanh(out, out), _HALF, out)
    return np.add(out, _HALF, out)


@public_primitive("nn.functional.gelu", "GeluBackward0")
def gelu(self, *, approximate="none"):
    """self * ndtr(self). Raises RuntimeError: `approximate` is neither "none" nor "tanh"."""
    refuse_if(approximate not in ("none", "tanh"), "approximate argument must be either none or tanh.")
    refuse(self, "iub", "GeluKernelImpl")
    if approximate == "none":
        share = normal_cdf(self)
        return np.multiply(self, share, share) if self.dtype == np.float32 else self * share
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
