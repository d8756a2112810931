"""Piecewise linear activations: relu and related functions."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import maximum, ndarray, putmask  # NumPy's module has a __getattr__, which makes a name of it slow

from ...base.names import logical_and, where, zeros_like
from ...op import primitive, public, public_primitive, public_row, row
from ...tensor import Tensor, refuse, refuse_if, refusing
from ...tensor.random import default_generator

# by type: NumPy takes half the time for a zero of the same type as for a number
_ZEROS = {kind: np.zeros((), kind) for kind in np.typecodes["AllInteger"] + np.typecodes["Float"]}


@public_primitive("relu", "ReluBackward0", inplace=True)
def relu(self):
    """max(self, 0)."""
    if (zero := _ZEROS.get(self.dtype.char)) is None:
        raise RuntimeError("Boolean inputs not supported for relu")
    return maximum(self, zero)


threshold_of = row("threshold_of", "ThresholdBackward0", "self if self > threshold, else `value`.",
    refusing("b", "threshold_cpu", lambda self, *, threshold, value:
        np.asarray(np.where(self <= threshold, value, self), self.dtype)),
    self = lambda grad, self, threshold: threshold_backward(grad, self, threshold=threshold))


_WHOLE = {size: np.dtype(f"i{size}") for size in (2, 4, 8)}  # by bytes
_FEW = 512  # elements: for so few a mask takes half the time


@primitive("ThresholdBackwardBackward0", written=lambda grad_output, self, threshold: grad_output * (self > threshold))
def threshold_backward(grad_output, self, *, threshold):
    """0 where self <= threshold, else grad_output."""
    stops = self <= (_ZEROS[self.dtype.char] if threshold == 0 else threshold)  # nan lets the gradient pass
    if grad_output.size <= _FEW and type(grad_output) is ndarray and self.flags.c_contiguous:
        passes = grad_output.copy()
        putmask(passes, stops, 0)
        return passes
    whole = _WHOLE[grad_output.itemsize]
    passes = (~stops).astype(whole)  # 0 where the gradient stops, else 1
    passes *= grad_output.view(whole)  # its bits as a whole number: ten times faster than np.where, also for nan
    return passes.view(grad_output.dtype)
threshold_backward.defvjp(
    grad_output = lambda grad, self, threshold: threshold_backward(grad, self, threshold=threshold),
    self        = lambda grad: zeros_like(grad))


leaky_relu_of = row("leaky_relu_of", "LeakyReluBackward0", "self if self > 0, else negative_slope * self.",
    refusing("iub", "leaky_relu_cpu", lambda self, *, negative_slope: np.where(self > 0, self, self * negative_slope)),
    self = lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope=negative_slope))
leaky_relu_backward = row("leaky_relu_backward", "LeakyReluBackwardBackward0",
    "grad_output where self > 0, else grad_output * negative_slope.",
    lambda grad_output, self, *, negative_slope: np.where(self > 0, grad_output, grad_output * negative_slope),
    written=lambda grad_output, self, negative_slope: where(self > 0, grad_output, grad_output * negative_slope),
    grad_output = lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope=negative_slope),
    self        = lambda grad: zeros_like(grad))
prelu_kernel = row("prelu_kernel", "PreluKernelBackward0", "self if self > 0, else weight * self.",
    refusing("iub", "prelu_cpu", lambda self, weight: np.where(self > 0, self, weight * self)), promotes=True,
    self   = lambda grad, self, weight: where(self > 0, grad, grad * weight),
    weight = lambda grad, self, weight: where(self > 0, 0, grad * self))


@public("prelu", "nn.functional.prelu")
def prelu(input: Tensor, weight: Tensor) -> Any:
    """Leaky relu with a learned slope for all channels, or for each (dimension 1). Raises RuntimeError: another number."""
    channels = 1 if input.ndim < 2 else input.shape[1]
    refuse_if(weight.numel() not in (1, channels), lambda:
        f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and channel "
        f"size = {channels}.")
    if weight.ndim != input.ndim:
        sizes = [1] * input.ndim
        if input.ndim > 1:
            sizes[1] = weight.numel()
        weight = weight.view(sizes)
    return prelu_kernel(input, weight)


rrelu_with_noise = row("rrelu_with_noise", "RreluWithNoiseBackward0",
    "self if self > 0, else self * slope. The slope is random for each element in training, otherwise the mean slope.",
    lambda self, *, noise, lower, upper, training:
        np.where(self > 0, self, self * (noise if training else (lower + upper) / 2)).astype(self.dtype, copy=False),
    self = lambda grad, self, noise, lower, upper, training: (
        grad * noise if training else leaky_relu_backward(grad, self, negative_slope=(lower + upper) / 2)))


@public("torch.rrelu")
def rrelu(input: Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False) -> Any:
    """Leaky relu, in training with random slopes from `lower` to `upper`. Raises RuntimeError: `lower` is larger."""
    refuse_if(lower > upper, "Lower bound should be less than or equal to the upper bound")
    noise = np.zeros_like(input._data)
    if training:
        noise[...] = 1
        bent = input._data <= 0  # only these get a random slope
        noise[bent] = default_generator.doubles(int(bent.sum())) * (upper - lower) + lower
    return rrelu_with_noise(input, noise=Tensor(noise), lower=lower, upper=upper, training=training)


@primitive("HardtanhBackward0")
def hardtanh_of(self, *, min_val, max_val):
    """Clamp to min_val and max_val."""
    refuse_if(self.dtype.kind == "b", "Bool inputs not supported for hardtanh")
    return np.minimum(np.maximum(self, min_val), max_val).astype(self.dtype, copy=False)
hardtanh_of.defvjp(self = lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val=min_val, max_val=max_val))


hardtanh_backward = row("hardtanh_backward", "HardtanhBackwardBackward0",
    "grad_output between the bounds, 0 on and outside them.",
    lambda grad_output, self, *, min_val, max_val: np.where((self <= min_val) | (self >= max_val), 0, grad_output),
    written=lambda grad_output, self, min_val, max_val: where(
        logical_and(self > min_val, self < max_val), grad_output, 0),
    grad_output = lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val=min_val, max_val=max_val),
    self        = lambda grad: zeros_like(grad))
hardsigmoid_of = row("hardsigmoid_of", "HardsigmoidBackward0", "A linear function from 0 at -3 to 1 at 3, constant outside.",
    refusing("iub", "hardsigmoid_cpu", lambda self: np.minimum(np.maximum(self + 3, 0), 6) / 6),
    self = lambda grad, self: where(logical_and(self > -3, self < 3), grad / 6, 0))
hardswish_of = row("hardswish_of", "HardswishBackward0", "self * hardsigmoid(self).",
    refusing("iub", "hardswish_cpu", lambda self: self * np.minimum(np.maximum(self + 3, 0), 6) / 6),
    self = lambda grad, self: hardswish_backward(grad, self))
hardswish_backward = row("hardswish_backward", "HardswishBackwardBackward0",
    "0 below -3; grad_output * (self / 3 + 1/2) up to 3; grad_output above.",
    lambda grad_output, self: np.where(self <= -3, 0, np.where(self < 3, grad_output * (self / 3 + 0.5), grad_output)),
    written=lambda grad_output, self: where(
        self < 3, where(self > -3, grad_output * (self / 3 + 0.5), 0), grad_output),
    grad_output = lambda grad, self: hardswish_backward(grad, self),
    self        = lambda grad, grad_output, self: where(logical_and(self > -3, self < 3), grad * grad_output / 3, 0))
hardshrink = public_row("hardshrink nn.functional.hardshrink", "HardshrinkBackward0", "0 between -lambd and lambd, else self.",
    refusing("iub", "hardshrink_cpu", lambda self, *, lambd=0.5: np.where((self >= -lambd) & (self <= lambd), 0, self)),
    self = lambda grad, self, lambd: shrink_backward(grad, self, lambd=lambd))


@public_primitive("nn.functional.softshrink", "SoftshrinkBackward0")
def softshrink(self, *, lambd=0.5):
    """self moved towards 0 by lambd, but not past it. Raises RuntimeError: `lambd` is negative."""
    refuse_if(lambd < 0, lambda: f"lambda must be in range [0, 3.40282e+38] for input dtype Float, but found {lambd}")
    refuse(self, "iub", "softshrink_check")
    return np.where(self > lambd, self - lambd, np.where(self < -lambd, self + lambd, self * 0))
softshrink.defvjp(self = lambda grad, self, lambd: shrink_backward(grad, self, lambd=lambd))


shrink_backward = row("shrink_backward", "SoftshrinkBackwardBackward0", "0 where |self| <= lambd, else grad_output.",
    lambda grad_output, self, *, lambd: np.where((self >= -lambd) & (self <= lambd), 0, grad_output),
    written=lambda grad_output, self, lambd: where(abs(self) > lambd, grad_output, 0),
    grad_output = lambda grad, self, lambd: shrink_backward(grad, self, lambd=lambd),
    self        = lambda grad: zeros_like(grad))
