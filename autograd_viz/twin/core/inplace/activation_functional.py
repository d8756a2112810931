"""The activations of torch.nn.functional that can overwrite their input."""

from __future__ import annotations

from typing import Any

from ..base.public import public
from ..ops.activation import activation, activation_kinked
from ..tensor import Tensor, refuse_if
from .inplace import run_inplace


def _run(op: Any, input: Tensor, inplace: bool, **options: Any) -> Any:
    return run_inplace(input, op, **options) if inplace else op(input, **options)


def _without_options(name: str, op: Any, does: str, **fixed: Any) -> Any:
    """Publish an activation that has no options but `inplace`."""

    def function(input: Tensor, inplace: bool = False) -> Any:
        return _run(op, input, inplace, **fixed)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = does
    return public(f"nn.functional.{name}")(function)


_SELU = {"alpha": 1.6732632423543772848170429916717, "scale": 1.0507009873554804934193349852946, "input_scale": 1}

relu = _without_options("relu", activation_kinked.relu, "max(input, 0).")
_without_options("relu6", activation_kinked.hardtanh_of, "min(max(input, 0), 6).", min_val=0, max_val=6)
_without_options("hardsigmoid", activation_kinked.hardsigmoid_of, "A linear function from 0 at -3 to 1 at 3, constant outside.")
_without_options("hardswish", activation_kinked.hardswish_of, "input * hardsigmoid(input).")
_without_options("silu", activation.silu_of, "input * sigmoid(input), also called swish.")
_without_options("mish", activation.mish_of, "input * tanh(softplus(input)).")
selu = _without_options("selu", activation.elu_of, "The elu with constants that keep mean 0 and variance 1.", **_SELU)
public("torch.selu")(selu)


@public("nn.functional.hardtanh")
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Clamp to `min_val` and `max_val`. Raises ValueError: `min_val` is larger than `max_val`."""
    refuse_if(min_val > max_val, "min_val cannot be greater than max_val", ValueError)
    return _run(activation_kinked.hardtanh_of, input, inplace, min_val=min_val, max_val=max_val)


@public("nn.functional.leaky_relu")
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """input above 0, negative_slope * input below."""
    return _run(activation_kinked.leaky_relu_of, input, inplace, negative_slope=negative_slope)


@public("nn.functional.threshold", "torch.threshold")
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Any:
    """input above the threshold, else `value`."""
    return _run(activation_kinked.threshold_of, input, inplace, threshold=threshold, value=value)


@public("nn.functional.rrelu")
def rrelu(input: Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Any:
    """Leaky relu with random slopes between `lower` and `upper` during training."""
    return _run(activation_kinked.rrelu, input, inplace, lower=lower, upper=upper, training=training)


@public("nn.functional.elu")
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """input above 0, alpha * (exp(input) - 1) below."""
    return _run(activation.elu_of, input, inplace, alpha=alpha, scale=1, input_scale=1)


@public("nn.functional.celu", "torch.celu")
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """input above 0, alpha * (exp(input / alpha) - 1) below. Raises RuntimeError: `alpha` is 0."""
    refuse_if(alpha == 0, "ZeroDivisionError: alpha cannot be 0 for CELU")
    return _run(activation.celu_of, input, inplace, alpha=alpha)


def _always_inplace(function: Any) -> Any:

    def overwrite(input: Tensor, *args: Any, **options: Any) -> Any:
        return function(input, *args, inplace=True, **options)

    overwrite.__name__, overwrite.__doc__ = f"{function.__name__}_", f"In place: {function.__doc__}"
    return overwrite


for _function in (relu, leaky_relu, elu, celu, selu, hardtanh, threshold, rrelu):
    _name = f"{_function.__name__}_"
    _overwrite = public(f"nn.functional.{_name}")(_always_inplace(_function))
    if _function not in (leaky_relu, elu, hardtanh):
        public(f"torch.{_name}")(_overwrite)
