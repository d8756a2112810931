"""Activation layers, and dropout: random values become 0, the others grow so that the mean stays the same."""
# fmt: off
# tables of layers: the function, a docstring, the options

from __future__ import annotations

from typing import Any

from ..core.base.device import check_device
from ..core.tensor import full, refuse_if
from . import functional
from .configured import Configured, InTraining, row
from .parameter import Parameter

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d",
    "FeatureAlphaDropout", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax",
    "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink",
    "Softsign", "Tanh", "Tanhshrink", "Threshold",
]

ReLU = row("ReLU", "relu", "max(x, 0).", inplace=False)
ReLU6 = row("ReLU6", "relu6", "min(max(x, 0), 6).", inplace=False)
LeakyReLU = row("LeakyReLU", "leaky_relu", "x if x > 0, else `negative_slope` * x.", negative_slope=1e-2, inplace=False)
RReLU = row("RReLU", "rrelu", "Leaky ReLU with a random slope in training, and the mean slope in evaluation.",
    lower=1.0 / 8, upper=1.0 / 3, inplace=False, shown=("lower", "upper"), base=InTraining)
ELU = row("ELU", "elu", "x if x > 0, else alpha * (exp(x) - 1).", alpha=1.0, inplace=False)
CELU = row("CELU", "celu", "x if x > 0, else alpha * (exp(x / alpha) - 1).", alpha=1.0, inplace=False)
SELU = row("SELU", "selu", "ELU with a scale that keeps mean 0 and variance 1.", inplace=False)
GELU = row("GELU", "gelu", "x times the probability that a standard normal number is below x.", approximate="none")
SiLU = row("SiLU", "silu", "x * sigmoid(x).", inplace=False)
Mish = row("Mish", "mish", "x * tanh(softplus(x)).", inplace=False)
Sigmoid = row("Sigmoid", "sigmoid", "1 / (1 + exp(-x)).")
LogSigmoid = row("LogSigmoid", "logsigmoid", "log(sigmoid(x)).")
Tanh = row("Tanh", "tanh", "The hyperbolic tangent.")
Tanhshrink = row("Tanhshrink", "tanhshrink", "x - tanh(x).")
Softsign = row("Softsign", "softsign", "x / (1 + |x|).")
Softplus = row("Softplus", "softplus", "log(1 + exp(beta * x)) / beta; x where beta * x is above `threshold`.",
    beta=1.0, threshold=20.0)
Hardtanh = row("Hardtanh", "hardtanh", "x clamped to `min_val` and `max_val`.", min_val=-1.0, max_val=1.0, inplace=False)
Hardsigmoid = row("Hardsigmoid", "hardsigmoid", "A piecewise linear approximation of sigmoid.", inplace=False, shown=())
Hardswish = row("Hardswish", "hardswish", "x * hardsigmoid(x).", inplace=False, shown=())
Hardshrink = row("Hardshrink", "hardshrink", "x, but 0 between -`lambd` and `lambd`.", lambd=0.5, bare=True)
Softshrink = row("Softshrink", "softshrink", "x moved towards 0 by `lambd`, but not past it.", lambd=0.5, bare=True)
Threshold = row("Threshold", "threshold", "x if x > `threshold`, else `value`.", "threshold", "value", inplace=False)
GLU = row("GLU", "glu", "The first half of the input times the sigmoid of the second half.", dim=-1)
Softmax = row("Softmax", "softmax", "exp(x) divided by its sum along `dim`.", dim=None)
Softmin = row("Softmin", "softmin", "The softmax of -x.", dim=None)
LogSoftmax = row("LogSoftmax", "log_softmax", "The logarithm of softmax.", dim=None)


class _Dropout(InTraining):
    shown = ("p", "inplace")
    p: float

    def __post_init__(self) -> None:
        refuse_if(not 0 <= self.p <= 1, lambda: f"dropout probability has to be between 0 and 1, but got {self.p}", ValueError)


_DROPOUT: Any = {"base": _Dropout, "p": 0.5, "inplace": False}
Dropout = row("Dropout", "dropout", "Each value becomes 0 with probability p.", **_DROPOUT)
Dropout1d = row("Dropout1d", "dropout1d", "Each channel of a sequence becomes 0 with probability p.", **_DROPOUT)
Dropout2d = row("Dropout2d", "dropout2d", "Each channel of an image becomes 0 with probability p.", **_DROPOUT)
Dropout3d = row("Dropout3d", "dropout3d", "Each channel of a volume becomes 0 with probability p.", **_DROPOUT)
AlphaDropout = row("AlphaDropout", "alpha_dropout", "Dropout that keeps mean 0 and variance 1, for SELU.", **_DROPOUT)
FeatureAlphaDropout = row("FeatureAlphaDropout", "feature_alpha_dropout", "AlphaDropout of whole channels.", **_DROPOUT)


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
