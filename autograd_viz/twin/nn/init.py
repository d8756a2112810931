"""Initialization: functions that fill a parameter in place, unrecorded, and return it."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..core.base.grad_mode import no_grad
from ..core.ops.random.random import normal_fill, uniform_fill
from ..core.tensor import Generator, Tensor, randn, refuse_if

_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_GAIN_ONE = (
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid",
)  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor of weights before a function that makes values smaller. Raises ValueError: it or its parameter is unknown."""
    if nonlinearity in _GAIN_ONE:
        return 1
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    refuse_if(nonlinearity not in _GAINS, lambda: f"Unsupported nonlinearity {nonlinearity}", ValueError)
    return _GAINS[nonlinearity]


def _put(tensor: Tensor, values: Any) -> Tensor:
    """Write an array into a tensor, unrecorded."""
    tensor._data[...] = values
    tensor._bump_version()
    return tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers from [a, b)."""
    return _put(tensor, uniform_fill.forward(tensor._data, low=a, high=b, generator=generator))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers."""
    return _put(tensor, normal_fill.forward(tensor._data, mean=mean, std=std, generator=generator))


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Generator | None = None
) -> Tensor:
    """Normal numbers from [a, b]. Those outside are drawn again. If few would be inside, it rejects uniform ones."""
    if mean < a - 2 * std or mean > b + 2 * std:
        said = "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        warnings.warn(said, stacklevel=2)
    inside = (math.erf((b - mean) / std / math.sqrt(2.0)) - math.erf((a - mean) / std / math.sqrt(2.0))) / 2.0
    top = max(a, min(mean, b))  # the mode of the density in [a, b]

    def draw() -> tuple[Any, Any]:
        """New numbers, and which of them are rejected."""
        if inside > 0.3:
            values = normal_fill.forward(tensor._data, mean=mean, std=std, generator=generator)
            return values, (values < a) | (values > b)
        values = uniform_fill.forward(tensor._data, low=a, high=b, generator=generator)
        height = np.exp((((top - mean) / std) ** 2 - ((values - mean) / std) ** 2) / 2)
        return values, uniform_fill.forward(tensor._data, generator=generator) > height

    values, wrong = draw()
    while wrong.any():
        fresh, still = draw()
        values, wrong = np.where(wrong, fresh, values), wrong & still
    return _put(tensor, values)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value everywhere."""
    return _put(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return _put(tensor, 1)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return _put(tensor, 0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix; a matrix that is not square has ones on the diagonal. Raises ValueError: not a matrix."""
    refuse_if(tensor.ndim != 2, "Only tensors with 2 dimensions are supported", ValueError)
    return _put(tensor, np.eye(*tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The kernel of a convolution that returns its input. Raises ValueError: not 3 to 5 dimensions, or unequal groups."""
    refuse_if(tensor.ndim not in (3, 4, 5), "Only tensors with 3, 4, or 5 dimensions are supported", ValueError)
    refuse_if(tensor.shape[0] % groups, "dim 0 must be divisible by groups", ValueError)
    kernel, each = np.zeros(tensor.shape), tensor.shape[0] // groups
    centre = tuple(n // 2 for n in tensor.shape[2:])
    for group in range(groups):
        for d in range(min(each, tensor.shape[1])):
            kernel[(group * each + d, d, *centre)] = 1
    return _put(tensor, kernel)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The number of inputs of each output, and the number of outputs of each input."""
    refuse_if(tensor.ndim < 2, "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions", ValueError)
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers that keep the variance in forward and backward (Glorot and Bengio)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers that keep the variance in forward and backward (Glorot and Bengio)."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _calculate_fan_in_and_fan_out(tensor)[mode.lower() == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def _is_empty(tensor: Tensor) -> bool:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return 0 in tensor.shape


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Uniform numbers that keep the variance through ReLUs (He and others)."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Generator | None = None
) -> Tensor:
    """Normal numbers that keep the variance through ReLUs (He and others)."""
    return tensor if _is_empty(tensor) else normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A random matrix with orthonormal rows (or columns), times `gain`. Raises ValueError: fewer than two dimensions."""
    refuse_if(tensor.ndim < 2, "Only tensors with 2 or more dimensions are supported", ValueError)
    if not tensor.numel():
        return tensor
    rows, cols = tensor.shape[0], tensor.numel() // tensor.shape[0]
    flat = randn(rows, cols, dtype=tensor.dtype, generator=generator)._data
    q, r = np.linalg.qr(flat.T if rows < cols else flat)
    q = q * np.sign(np.diag(r))
    return _put(tensor, gain * (q.T if rows < cols else q).reshape(tensor.shape))


def reset_like_linear(weight: Tensor, bias: Tensor | None) -> None:
    """The initialization of linear and convolution layers: uniform numbers within 1 / sqrt(fan_in)."""
    with no_grad():
        kaiming_uniform_(weight, a=math.sqrt(5))
        fan_in, _ = _calculate_fan_in_and_fan_out(weight)
        if bias is not None and fan_in:
            bound = 1 / math.sqrt(fan_in)
            uniform_(bias, -bound, bound)
