"""Activations: functions that bend, one line of options each."""

from __future__ import annotations

from typing import Any

from ..core.base.device import check_device
from ..core.tensor.factories import full
from . import functional
from .configured import Configured
from .parameter import Parameter


class ReLU(Configured):
    """max(x, 0)."""

    function = "relu"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class ReLU6(Configured):
    """min(max(x, 0), 6)."""

    function = "relu6"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class LeakyReLU(Configured):
    """x, and below 0 `negative_slope` * x."""

    function = "leaky_relu"

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(negative_slope=negative_slope, inplace=inplace)


class RReLU(Configured):
    """Leaky ReLU with a random slope while training, the middle one otherwise."""

    function = "rrelu"
    shown = ("lower", "upper")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(lower=lower, upper=upper, inplace=inplace)

    def options(self) -> dict[str, Any]:
        """The options, and whether it is training."""
        return {**super().options(), "training": self.training}


class ELU(Configured):
    """x, and below 0 alpha * (exp(x) - 1)."""

    function = "elu"

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class CELU(Configured):
    """x, and below 0 alpha * (exp(x / alpha) - 1)."""

    function = "celu"

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(alpha=alpha, inplace=inplace)


class SELU(Configured):
    """ELU with the scale that keeps mean 0 and variance 1."""

    function = "selu"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class GELU(Configured):
    """x times the probability that a standard normal number is below x."""

    function = "gelu"

    def __init__(self, approximate: str = "none") -> None:
        super().__init__(approximate=approximate)

    def extra_repr(self) -> str:
        """The approximation in quotes."""
        return f"approximate={self.approximate!r}"


class SiLU(Configured):
    """x * sigmoid(x)."""

    function = "silu"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Mish(Configured):
    """x * tanh(softplus(x))."""

    function = "mish"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Sigmoid(Configured):
    """1 / (1 + exp(-x))."""

    function = "sigmoid"


class LogSigmoid(Configured):
    """log(sigmoid(x))."""

    function = "logsigmoid"


class Tanh(Configured):
    """The hyperbolic tangent."""

    function = "tanh"


class Tanhshrink(Configured):
    """x - tanh(x)."""

    function = "tanhshrink"


class Softsign(Configured):
    """x / (1 + |x|)."""

    function = "softsign"


class Softplus(Configured):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above `threshold`."""

    function = "softplus"

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__(beta=beta, threshold=threshold)


class Hardtanh(Configured):
    """x kept between `min_val` and `max_val`."""

    function = "hardtanh"

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(min_val=min_val, max_val=max_val, inplace=inplace)


class Hardsigmoid(Configured):
    """Straight lines close to sigmoid."""

    function = "hardsigmoid"
    shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardswish(Configured):
    """x * hardsigmoid(x)."""

    function = "hardswish"
    shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace=inplace)


class Hardshrink(Configured):
    """x, and 0 within `lambd` of 0."""

    function = "hardshrink"
    bare = True

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)


class Softshrink(Configured):
    """x moved towards 0 by `lambd`."""

    function = "softshrink"
    bare = True

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__(lambd=lambd)


class Threshold(Configured):
    """x, and `value` where x is not above `threshold`."""

    function = "threshold"

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(threshold=threshold, value=value, inplace=inplace)


class GLU(Configured):
    """The first half times the sigmoid of the second."""

    function = "glu"

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim=dim)


class Softmax(Configured):
    """exp(x) divided by its sum along `dim`."""

    function = "softmax"

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(dim=dim)


class Softmin(Softmax):
    """The softmax of -x."""

    function = "softmin"


class LogSoftmax(Softmax):
    """The logarithm of softmax."""

    function = "log_softmax"


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
    """Leaky ReLU whose slope is learned: one, or one per channel."""

    shown = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        check_device(device)
        super().__init__(num_parameters=num_parameters, init=init)
        self.weight = Parameter(full((num_parameters,), float(init), dtype=dtype))

    def forward(self, input: Any) -> Any:
        """The function of input and slope."""
        return functional.prelu(input, self.weight)
