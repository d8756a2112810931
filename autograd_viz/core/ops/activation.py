"""Functions that bend: relu, sigmoid, tanh."""
# fmt: off
# (ops are a table: the columns are kept)

from __future__ import annotations

import numpy as np

from ..primitive import primitive
from .arithmetic import _as_float


@primitive("ReluBackward0")
def relu(self):
    """max(self, 0)."""
    return np.maximum(self, 0)
relu.defvjp(
    self = lambda grad, result: threshold_backward(grad, result, threshold=0),
)


@primitive(
    "ThresholdBackwardBackward0",
    written=lambda grad_output, self, threshold: grad_output * (self > threshold),
)
def threshold_backward(grad_output, self, *, threshold):
    """0 where self <= threshold, else grad_output."""
    return np.where(self <= threshold, np.zeros_like(grad_output), grad_output)  # nan lets the gradient pass
threshold_backward.defvjp(
    grad_output = lambda grad, self, threshold: threshold_backward(grad, self, threshold=threshold),
    self        = lambda grad: zeros_like(grad),
)


@primitive("SigmoidBackward0")
def sigmoid(self):
    """1 / (1 + exp(-self))."""
    x = _as_float(self)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small).astype(x.dtype) / (1 + small)
sigmoid.defvjp(
    self = lambda grad, result: sigmoid_backward(grad, result),
)


@primitive(
    "SigmoidBackwardBackward0",
    written=lambda grad_output, output: grad_output * (1 - output) * output,
)
def sigmoid_backward(grad_output, output):
    """grad_output * (1 - output) * output."""
    return grad_output * (1 - output) * output
sigmoid_backward.defvjp(
    grad_output = lambda grad, output: sigmoid_backward(grad, output),
    output      = lambda grad, grad_output, output: grad * grad_output * (1 - 2 * output),
)


@primitive("TanhBackward0")
def tanh(self):
    """Hyperbolic tangent."""
    return np.tanh(_as_float(self))
tanh.defvjp(
    self = lambda grad, result: tanh_backward(grad, result),
)


@primitive(
    "TanhBackwardBackward0",
    written=lambda grad_output, output: grad_output * (1 - output**2),
)
def tanh_backward(grad_output, output):
    """grad_output * (1 - output**2)."""
    return grad_output * (1 - output * output)
tanh_backward.defvjp(
    grad_output = lambda grad, output: tanh_backward(grad, output),
    output      = lambda grad, grad_output, output: grad * (-2 * output * grad_output),
)
