"""GELU: x times the probability that a standard normal number is below x. Exact, or approximated with tanh."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.public import public
from ...base.readings import ARRAY_NAMES, composite
from ...base.scipy_special import special
from ...op.primitive import primitive
from ...op.row import row
from ...tensor.refusals import refuse


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
        return self * special.ndtr(self).astype(self.dtype, copy=False)
    return 0.5 * self * (1 + np.tanh(ARRAY_NAMES["gelu_inner"](self)))
gelu.defvjp(self = lambda grad, self, approximate: gelu_backward(grad, self, approximate=approximate))


gelu_backward = row("gelu_backward", "GeluBackwardBackward0", "grad_output * gelu'(self).",
    lambda grad_output, self, *, approximate: grad_output * ARRAY_NAMES["gelu_slope"](self, approximate),
    written=lambda grad_output, self, approximate: (
        grad_output * (ndtr(self) + self * bell(self)) if approximate == "none"
        else grad_output * gelu_slope(self, approximate)),
    grad_output = lambda grad, self, approximate: gelu_backward(grad, self, approximate=approximate),
    self        = lambda grad, grad_output, self, approximate: grad * grad_output * gelu_curvature(self, approximate))


@composite
def bell(x: Any) -> Any:
    """The density of the standard normal distribution."""
    return exp(-0.5 * x * x) * 0.3989422804014327


@composite
def gelu_slope(x: Any, approximate: str) -> Any:
    """The first derivative of gelu."""
    if approximate == "none":
        return 0.5 * erfc(x * -0.7071067811865476) + x * bell(x)
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
