"""Batch norm: each channel gets mean 0 and variance 1, by the statistics of the batch or by running averages."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import normalization_backward, normalized, per_channel, per_channel_sum, sqrt
from ...op import composite, public, public_primitive
from ...tensor import Size, Tensor, check_scalar_type, refuse_if
from .normalization import channels, check_same_type, scaled, standardized


@public_primitive("torch.native_batch_norm", "NativeBatchNormBackward0",
                  results=("output", "save_mean", "save_invstd"), nondifferentiable=("save_mean", "save_invstd"))
def native_batch_norm(input, weight=None, bias=None, *, running_mean=None, running_var=None, training, momentum, eps):
    """Each channel normalized by the batch (training) or by the running averages, then scaled by weight and shifted by bias."""
    number = input.shape[1] if input.ndim > 1 else 0
    for name, p in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if p is None and name.startswith("running") and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if p is not None and p.size != number:
            raise RuntimeError(f"{name} should contain {number} elements not {p.size}")
    given = [p for p in (weight, bias, running_mean, running_var) if p is not None]
    check_same_type(input, *given[:1])
    for p in given[1:]:
        check_scalar_type(p, given[0])
    x, none = input, np.empty(0, input.dtype)
    weight, bias = (None if v is None else channels(v, x) for v in (weight, bias))
    if not training:
        rstd = 1 / np.sqrt(channels(running_var, x) + eps)
        return scaled((x - channels(running_mean, x)) * rstd, weight, bias).astype(x.dtype, copy=False), none, none
    normal, mean, variance, rstd = standardized(x, (0, *range(2, x.ndim)), eps)
    n = x.size // x.shape[1]
    if running_mean is not None:  # the running averages are updated in place
        running_mean += momentum * (mean.reshape(-1) - running_mean)
    if running_var is not None:
        running_var += momentum * (variance.reshape(-1) * (n / max(n - 1, 1)) - running_var)
    return scaled(normal, weight, bias).astype(x.dtype, copy=False), mean.reshape(-1), rstd.reshape(-1)
native_batch_norm.defvjp(
    input  = lambda grad, input, weight, running_mean, running_var, result1, result2, training, eps:
        batch_norm_backward(grad, input, weight, running_var, result1, result2, training, eps),
    weight = lambda grad, input, running_mean, running_var, result1, result2, training, eps:
        per_channel_sum(grad * by_channel(input, running_mean, running_var, result1, result2, training, eps)),
    bias   = lambda grad: per_channel_sum(grad))


@composite
def by_channel(
    input: Any, running_mean: Any, running_var: Any, mean: Any, rstd: Any, training: bool, eps: float
) -> Any:
    """The input, normalized as in forward."""
    ndim = len(input.shape)
    if training:
        return normalized(input, per_channel(mean, ndim), per_channel(rstd, ndim), (0, *range(2, ndim)))
    return (input - per_channel(running_mean, ndim)) / per_channel(sqrt(running_var + eps), ndim)


@composite
def batch_norm_backward(
    grad: Any, input: Any, weight: Any, running_var: Any, mean: Any, rstd: Any, training: bool, eps: float
) -> Any:
    """The backward rule of normalization over the batch. With running averages it is a constant factor."""
    ndim = len(input.shape)
    if weight is not None:
        grad = grad * per_channel(weight, ndim)
    if training:
        return normalization_backward(grad, input, per_channel(mean, ndim), per_channel(rstd, ndim), (0, *range(2, ndim)))
    return grad / per_channel(sqrt(running_var + eps), ndim)


# fmt: on
@public("nn.functional.batch_norm")
def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel (dimension 1), normalized. In training the batch gives the statistics and updates the running averages.

    Raises:
        ValueError: a channel has a single value in training, or eps is not positive.
        RuntimeError: a parameter does not have one element per channel.
    """
    if training and input.shape[0] * int(np.prod(input.shape[2:])) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {Size(input.shape)}")
    refuse_if(training and eps <= 0, lambda: f"batch_norm eps must be positive during training, but got {eps}", ValueError)
    refuse_if(eps < 0, lambda: f"batch_norm eps must be non-negative, but got {eps}", ValueError)
    if not input.numel():  # no statistics, and zero gradients for the parameters
        output = input.clone() if weight is None else input.clone() * weight[0]
        return output if bias is None else output + bias[0]
    options = {"running_mean": running_mean, "running_var": running_var, "training": training}
    return native_batch_norm(input, weight, bias, **options, momentum=momentum, eps=eps)[0]


@public("nn.functional.instance_norm")
def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None,
    bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel of each sample, normalized. It is batch norm with samples and channels merged.

    Raises ValueError: a channel of a sample has a single value.
    """
    if use_input_stats and int(np.prod(input.shape[2:])) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {Size(input.shape)}")
    n, c = input.shape[:2]
    rows = input.reshape(1, n * c, *input.shape[2:])
    weight, bias = (None if p is None else p.repeat(n) for p in (weight, bias))
    means, variances = (None if r is None else Tensor(np.tile(r._data, n)) for r in (running_mean, running_var))
    options = {"running_mean": means, "running_var": variances, "training": use_input_stats}
    output = native_batch_norm(rows, weight, bias, **options, momentum=momentum, eps=eps)[0]
    for running, repeated in ((running_mean, means), (running_var, variances)):
        if use_input_stats and running is not None and repeated is not None:
            running._data[...] = repeated._data.reshape(n, c).mean(0)
            running._bump_version()
    return output.view(input.shape)
