"""Activation layers."""
# fmt: off
# tables of layers: the function, a docstring, the options

from __future__ import annotations

from typing import Any

from ..core.base.device import check_device
from ..core.tensor.factories import full
from . import functional
from .configured import Configured, layer
from .parameter import Parameter

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus",
    "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]


@layer("relu")
class ReLU(Configured):
    """max(x, 0)."""
    inplace: bool = False

@layer("relu6")
class ReLU6(Configured):
    """min(max(x, 0), 6)."""
    inplace: bool = False

@layer("leaky_relu")
class LeakyReLU(Configured):
    """x if x > 0, else `negative_slope` * x."""
    negative_slope: float = 1e-2
    inplace: bool = False

@layer("rrelu")
class RReLU(Configured):
    """Leaky ReLU with a random slope in training, and the mean slope in evaluation."""
    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False
    shown = ("lower", "upper")

    def options(self) -> dict[str, Any]:
        """The options, and the training mode."""
        return {**super().options(), "training": self.training}

@layer("elu")
class ELU(Configured):
    """x if x > 0, else alpha * (exp(x) - 1)."""
    alpha: float = 1.0
    inplace: bool = False

@layer("celu")
class CELU(Configured):
    """x if x > 0, else alpha * (exp(x / alpha) - 1)."""
    alpha: float = 1.0
    inplace: bool = False

@layer("selu")
class SELU(Configured):
    """ELU with a scale that keeps mean 0 and variance 1."""
    inplace: bool = False

@layer("gelu")
class GELU(Configured):
    """x times the probability that a standard normal number is below x."""
    approximate: str = "none"

@layer("silu")
class SiLU(Configured):
    """x * sigmoid(x)."""
    inplace: bool = False

@layer("mish")
class Mish(Configured):
    """x * tanh(softplus(x))."""
    inplace: bool = False

@layer("sigmoid")
class Sigmoid(Configured):
    """1 / (1 + exp(-x))."""

@layer("logsigmoid")
class LogSigmoid(Configured):
    """log(sigmoid(x))."""

@layer("tanh")
class Tanh(Configured):
    """The hyperbolic tangent."""

@layer("tanhshrink")
class Tanhshrink(Configured):
    """x - tanh(x)."""

@layer("softsign")
class Softsign(Configured):
    """x / (1 + |x|)."""

@layer("softplus")
class Softplus(Configured):
    """log(1 + exp(beta * x)) / beta; x where beta * x is above `threshold`."""
    beta: float = 1.0
    threshold: float = 20.0

@layer("hardtanh")
class Hardtanh(Configured):
    """x clamped to `min_val` and `max_val`."""
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

@layer("hardsigmoid")
class Hardsigmoid(Configured):
    """A piecewise linear approximation of sigmoid."""
    inplace: bool = False
    shown = ()

@layer("hardswish")
class Hardswish(Configured):
    """x * hardsigmoid(x)."""
    inplace: bool = False
    shown = ()

@layer("hardshrink")
class Hardshrink(Configured):
    """x, but 0 between -`lambd` and `lambd`."""
    lambd: float = 0.5
    bare = True

@layer("softshrink")
class Softshrink(Configured):
    """x moved towards 0 by `lambd`, but not past it."""
    lambd: float = 0.5
    bare = True

@layer("threshold")
class Threshold(Configured):
    """x if x > `threshold`, else `value`."""
    threshold: float
    value: float
    inplace: bool = False

@layer("glu")
class GLU(Configured):
    """The first half of the input times the sigmoid of the second half."""
    dim: int = -1

@layer("softmax")
class Softmax(Configured):
    """exp(x) divided by its sum along `dim`."""
    dim: int | None = None

@layer("softmin")
class Softmin(Softmax):
    """The softmax of -x."""

@layer("log_softmax")
class LogSoftmax(Softmax):
    """The logarithm of softmax."""

# fmt: on
class Softmax2d(Configured):
    """Softmax over the channels of images."""

    function = "softmax"
    shown = ()

    def __init__(self) -> None:
        super().__init__(dim=-3)

    def forward(self, *inputs: Any) -> Any:
        """Over the third dimension from the end."""
        if inputs[0].dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {inputs[0].dim()}D instead")
        return super().forward(*inputs)


class PReLU(Configured):
    """Leaky ReLU with a learned slope: one, or one per channel."""

    shown = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        check_device(device)
        super().__init__(num_parameters=num_parameters, init=init)
        self.weight = Parameter(full((num_parameters,), float(init), dtype=dtype))

    def forward(self, input: Any) -> Any:
        """The function of input and slope."""
        return functional.prelu(input, self.weight)
