"""Normalization to mean 0 and variance 1: over the last dimensions (layer norm), groups of channels, or the batch.

# Note [Saved statistics are functions of the input]
Forward saves the mean and rstd = 1 / sqrt(variance + eps). A second derivative must not treat them as constants. So
`known_mean` and `known_rstd` return the saved values, and have the gradients of mean and rstd.
"""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import expand, reshape, sqrt, sum_dim, unsqueeze
from ...op import composite, inlined, primitive, public, public_primitive, row
from ...tensor import Size, Tensor, check_scalar_type, refuse_if
from ..elementwise.arithmetic import add_scalar
from ..loss.loss import floating
from ..reduce.reduction import mean_dim, mean_divisor

known_mean = row("known_mean", "KnownMeanBackward0", "The mean of self over `dim`, which is already known.",
    lambda self, *, mean, dim: mean,
    self = lambda grad, self_sym_sizes, dim: expand(grad, self_sym_sizes) / mean_divisor(self_sym_sizes, dim))
known_rstd = row("known_rstd", "KnownRstdBackward0", "1 / sqrt(variance + eps) of self over `dim`, which is already known.",
    lambda self, *, rstd, dim: rstd,
    self = lambda grad, self, result, self_sym_sizes, dim:
        -(grad * result**3) * (self - mean_dim(self, dim=dim, keepdim=True)) / mean_divisor(self_sym_sizes, dim))


@composite
def normalized(input: Any, mean: Any, rstd: Any, dim: tuple[int, ...]) -> Any:
    """(input - mean) * rstd, with known statistics."""
    return (input - known_mean(input, mean=mean, dim=dim)) * known_rstd(input, rstd=rstd, dim=dim)


@composite
def normalization_backward(grad: Any, input: Any, mean: Any, rstd: Any, dim: tuple[int, ...]) -> Any:
    """rstd * (grad - mean(grad) - x * mean(grad * x)), where x is the normalized input."""
    x = normalized(input, mean, rstd, dim)
    along_x = x * mean_dim(grad * x, dim=dim, keepdim=True)
    return known_rstd(input, rstd=rstd, dim=dim) * (grad - mean_dim(grad, dim=dim, keepdim=True) - along_x)


def standardized(x: Any, dim: tuple[int, ...], eps: float) -> tuple[Any, Any, Any, Any]:
    """(x - mean) / sqrt(variance + eps) over `dim`, mean, variance, 1 / sqrt(variance + eps); dimensions stay with length 1."""
    count = x.dtype.type(mean_divisor(x.shape, dim))
    mean = np.add.reduce(x, axis=dim, keepdims=True) / count
    centred = x - mean
    variance = np.add.reduce(centred * centred, axis=dim, keepdims=True) / count
    rstd = (1 / np.sqrt(variance + eps)).astype(x.dtype, copy=False)
    centred *= rstd
    return centred, mean, variance, rstd


def channels(value: Any, x: Any) -> Any:
    """One number per channel, in a shape that broadcasts with the array x."""
    return value.reshape((1, -1) + (1,) * (x.ndim - 2))


@inlined
def scaled(x: Any, weight: Any, bias: Any) -> Any:
    """x * weight + bias. Either may be None."""
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


@inlined
def last_dims(normalized_shape: tuple[int, ...]) -> tuple[int, ...]:
    """(-2, -1) for a shape of length 2."""
    return tuple(range(-len(normalized_shape), 0))


@primitive("NativeLayerNormBackward0", results=("output", "mean", "rstd"), nondifferentiable=("mean", "rstd"))
def layer_normalization(input, weight=None, bias=None, *, normalized_shape, eps=1e-5):
    """(input - mean) / sqrt(variance + eps) * weight + bias, over the last dimensions."""
    check_same_type(floating(input, "LayerNormKernelImpl"), weight, bias)
    x, mean, _, rstd = standardized(input, last_dims(normalized_shape), eps)
    return scaled(x, weight, bias).astype(input.dtype, copy=False), mean, rstd
layer_normalization.defvjp(
    input  = lambda grad, input, result1, result2, weight, normalized_shape:
        normalization_backward(scaled(grad, weight, None), input, result1, result2, last_dims(normalized_shape)),
    weight = lambda grad, input, result1, result2, normalized_shape:
        grad * normalized(input, result1, result2, last_dims(normalized_shape)),
    bias   = lambda grad, bias: grad)


@primitive("NativeGroupNormBackward0", results=("output", "mean", "rstd"))
def group_normalization(input, weight=None, bias=None, *, N, C, HxW, group, eps):
    """(input - mean) / sqrt(variance + eps) * weight + bias, with one mean and variance per sample and group of channels."""
    check_same_type(floating(input, "GroupNormKernelImpl"), weight, bias)
    x = input.reshape(N, group, C // group * HxW)
    x, mean, _, rstd = standardized(x, (2,), eps)
    weight, bias = (None if v is None else channels(v, input) for v in (weight, bias))
    output = scaled(x.reshape(input.shape), weight, bias)
    return output.astype(input.dtype, copy=False), mean[..., 0], rstd[..., 0]
group_normalization.defvjp(
    input  = lambda grads, input, result1, result2, weight, N, C, HxW, group, eps:
        group_norm_backward(grads, input, result1, result2, weight, (N, group, C // group * HxW)),
    weight = lambda grads, input, result1, result2, N, C, HxW, group:
        per_channel_sum(grads[0] * in_groups(input, result1, result2, (N, group, C // group * HxW))),
    bias   = lambda grads: per_channel_sum(grads[0]))


@composite
def in_groups(input: Any, mean: Any, rstd: Any, groups: tuple[int, ...]) -> Any:
    """The input, normalized over each group."""
    x = normalized(reshape(input, groups), unsqueeze(mean, dim=2), unsqueeze(rstd, dim=2), (2,))
    return reshape(x, input.shape)


@composite
def group_norm_backward(grads: Any, input: Any, mean: Any, rstd: Any, weight: Any, groups: tuple[int, ...]) -> Any:
    """The backward rule of normalization on groups, including the gradients of the outputs mean and rstd."""
    grad, grad_mean, grad_rstd = grads[0], unsqueeze(grads[1], dim=2), unsqueeze(grads[2], dim=2)
    if weight is not None:
        grad = grad * per_channel(weight, len(input.shape))
    x, mean, rstd = reshape(input, groups), unsqueeze(mean, dim=2), unsqueeze(rstd, dim=2)
    through_output = normalization_backward(reshape(grad, groups), x, mean, rstd, (2,))
    r = known_rstd(x, rstd=rstd, dim=(2,))
    through_rstd = grad_rstd * r**2 * normalized(x, mean, rstd, (2,))
    return reshape(through_output + (grad_mean - through_rstd) / groups[2], input.shape)


@composite
def per_channel(value: Any, ndim: int) -> Any:
    """One number per channel, in a shape that broadcasts with (N, C, ...)."""
    return reshape(value, (1, value.shape[0]) + (1,) * (ndim - 2))


@composite
def per_channel_sum(value: Any) -> Any:
    """The sum over all dimensions except 1, the channels."""
    return sum_dim(value, dim=tuple(d for d in range(len(value.shape)) if d != 1))


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
def by_channel(input, running_mean, running_var, mean, rstd, training, eps) -> Any:
    """The input, normalized as in forward."""
    ndim = len(input.shape)
    if training:
        return normalized(input, per_channel(mean, ndim), per_channel(rstd, ndim), (0, *range(2, ndim)))
    return (input - per_channel(running_mean, ndim)) / per_channel(sqrt(running_var + eps), ndim)


@composite
def batch_norm_backward(grad, input, weight, running_var, mean, rstd, training, eps) -> Any:
    """The backward rule of normalization over the batch. With running averages it is a constant factor."""
    ndim = len(input.shape)
    if weight is not None:
        grad = grad * per_channel(weight, ndim)
    if training:
        return normalization_backward(grad, input, per_channel(mean, ndim), per_channel(rstd, ndim), (0, *range(2, ndim)))
    return grad / per_channel(sqrt(running_var + eps), ndim)


# fmt: on
def check_same_type(input: Any, *parameters: Any) -> None:
    """Refuse parameters of another type than the input. float16 may be mixed with float32."""
    others = [p.dtype for p in parameters if p is not None and p.dtype != input.dtype]
    refuse_if(any(kind != np.float32 for kind in others), "mixed dtype (CPU): expect parameter to have scalar type of Float")
    refuse_if(others and input.dtype != np.float16, "mixed dtype (CPU): all inputs must share same datatype.")


def check_normalized_shape(input: Tensor, normalized_shape: Any, *parameters: Tensor | None, op: str = "layer_norm") -> Any:
    """The shape as a tuple. The input must end with it, and the parameters must have it."""
    if not isinstance(normalized_shape, list | tuple):
        got = type(normalized_shape).__name__
        raise TypeError(f"{op}(): argument 'normalized_shape' (position 2) must be tuple of ints, not {got}")
    shape = tuple(int(n) for n in normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, p in zip(("weight", "bias"), parameters, strict=False):
        if p is not None and p.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(p.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if input.ndim < len(shape) or input.shape[-len(shape) :] != shape:
        wanted = (", " if op == "layer_norm" else "") + ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{wanted}], but got input of "
            f"size{list(input.shape)}"
        )
    return shape


@public("nn.functional.layer_norm", "torch.layer_norm")
def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:  # fmt: skip
    """Normalize to mean 0 and variance 1 over the last dimensions, then apply weight and bias."""
    shape = check_normalized_shape(input, normalized_shape, weight, bias)
    return layer_normalization(input, weight, bias, normalized_shape=shape, eps=eps)[0]


@public("nn.functional.group_norm", "torch.group_norm")
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """Normalize each group of channels of each sample to mean 0 and variance 1, then apply weight and bias.

    Raises RuntimeError: the groups do not divide the channels, or a parameter does not have one element per channel.
    ValueError: a group has a single value.
    """
    refuse_if(input.ndim < 2, lambda: f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    n, c, pixels = input.shape[0], input.shape[1], int(np.prod(input.shape[2:]))
    if n * c // num_groups * pixels == 1:
        seen = [n * c // num_groups, num_groups, *input.shape[2:]]
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {seen}")
    if c % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for name, p in (("weight", weight), ("bias", bias)):
        if p is not None and p.shape != (c,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(p.shape)} and input of shape {list(input.shape)}"
            )
    return group_normalization(input, weight, bias, N=n, C=c, HxW=pixels, group=num_groups, eps=eps)[0]


@public("nn.functional.rms_norm", "torch.rms_norm")
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None) -> Any:
    """The input divided by its root mean square over the last dimensions."""
    shape = check_normalized_shape(input, normalized_shape, weight, op="rms_norm")
    eps = float(np.finfo(input.dtype.numpy).eps) if eps is None else eps
    dims = [input.ndim - 1 - i for i in range(len(shape))]
    output = input * add_scalar(input.pow(2).mean(dims, keepdim=True), other=eps).rsqrt()
    return output if weight is None else output * weight


@public("nn.functional.batch_norm")
def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
    bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each channel (dimension 1), normalized. In training the batch gives the statistics and updates the running averages.

    Raises ValueError: a channel has a single value in training, or eps is not positive. RuntimeError: a parameter does not have
    one element per channel.
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
    """Batch norm of each channel of each sample. Raises ValueError: a channel of a sample has a single value."""
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
