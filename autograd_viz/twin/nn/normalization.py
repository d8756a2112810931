"""Normalization: values get mean 0 and variance 1, then a learned scale and shift."""
# fmt: off
# tables of layers: the dimensions of one layer

from __future__ import annotations

from typing import Any

from ..core.base.device import check_device
from ..core.base.dtypes import int64
from ..core.tensor import Tensor, ones, zeros
from . import functional, init
from .configured import Configured, Sized, layer
from .module import Module
from .parameter import Parameter

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
    "LocalResponseNorm", "RMSNorm",
]


class _Affine(Module):
    """A learned weight, initially 1, and a learned bias, initially 0. Either may be missing."""

    def _learn(self, size: Any, weight: bool, bias: bool, dtype: Any) -> None:
        self.register_parameter("weight", Parameter(ones(size, dtype=dtype)) if weight else None)
        self.register_parameter("bias", Parameter(zeros(size, dtype=dtype)) if weight and bias else None)

    def reset_parameters(self) -> None:
        """Reset weight and bias."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self._parameters.get("bias") is not None:
            init.zeros_(self.bias)


class _RunningNorm(_Affine, Sized):
    """Batch and instance norm: per channel, with running statistics for evaluation."""

    dims: tuple[int, ...] = ()
    _version = 2

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:
        super().__init__()
        check_device(device)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._learn(num_features, affine, bias, dtype)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(num_features, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", zeros((), dtype=int64) if tracked else None)

    def reset_running_stats(self) -> None:
        """Reset the running statistics."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Reset weight, bias and running statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def extra_repr(self) -> str:
        """The number of channels and all options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _check(self, input: Tensor) -> None:
        if input.dim() not in self.dims:
            allowed = " or ".join(f"{d}D" for d in self.dims)
            raise ValueError(f"expected {allowed} input (got {input.dim()}D input)")


class _BatchNorm(_RunningNorm):
    def forward(self, input: Tensor) -> Any:
        """Normalize over all dimensions except the channels. Evaluation uses running statistics, training the batch's."""
        self._check(input)
        by_batch = self.training or self.running_mean is None
        weight = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                weight = 1.0 / float(self.num_batches_tracked)
        kept = not self.training or self.track_running_stats
        return functional.batch_norm(
            input, self.running_mean if kept else None, self.running_var if kept else None, self.weight, self.bias,
            by_batch, weight, self.eps,
        )


class BatchNorm1d(_BatchNorm, dims=(2, 3)): """Each feature, normalized over the batch (and the sequence)."""
class BatchNorm2d(_BatchNorm, dims=(4,)): """Each channel, normalized over the batch and the image."""
class BatchNorm3d(_BatchNorm, dims=(5,)): """Each channel, normalized over the batch and the volume."""


class _InstanceNorm(_RunningNorm):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Any:
        """Normalize each channel of each sample."""
        self._check(input)
        single = input.dim() == self.dims[0]
        result = functional.instance_norm(
            input.unsqueeze(0) if single else input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, self.momentum if self.momentum is not None else 0.0, self.eps,
        )
        return result.squeeze(0) if single else result


class InstanceNorm1d(_InstanceNorm, dims=(2, 3)): """Each channel of each sequence, normalized separately."""
class InstanceNorm2d(_InstanceNorm, dims=(3, 4)): """Each channel of each image, normalized separately."""
class InstanceNorm3d(_InstanceNorm, dims=(4, 5)): """Each channel of each volume, normalized separately."""


class _LastDimensions(_Affine):
    """Layer and RMS norm: over the last dimensions, whose lengths are `normalized_shape`."""

    def _set_up(self, normalized_shape: Any, eps: float | None, affine: bool, device: Any) -> None:
        super().__init__()
        check_device(device)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, affine

    def extra_repr(self) -> str:
        """The lengths and the options."""
        bias = f", bias={self.bias is not None}" if "bias" in self._parameters else ""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}{bias}"


class LayerNorm(_LastDimensions):
    """Each sample, normalized to mean 0 and variance 1."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:
        self._set_up(normalized_shape, eps, elementwise_affine, device)
        self._learn(self.normalized_shape, elementwise_affine, bias, dtype)

    def forward(self, input: Tensor) -> Any:
        """Normalize over the last dimensions."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class RMSNorm(_LastDimensions):
    """Each sample, normalized to mean square 1."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:
        self._set_up(normalized_shape, eps, elementwise_affine, device)
        self.register_parameter("weight", Parameter(ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None)

    def forward(self, input: Tensor) -> Any:
        """Divide by the root mean square over the last dimensions."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(_Affine):
    """Groups of channels of each sample, normalized separately."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None, dtype: Any = None,
        *, bias: bool = True,
    ) -> None:
        super().__init__()
        check_device(device)
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._learn(num_channels, affine, bias, dtype)

    def forward(self, input: Tensor) -> Any:
        """Normalize each group."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """The sizes and the options."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


@layer("local_response_norm")
class LocalResponseNorm(Configured):
    """Each value divided by a power of the mean square of its neighbours in other channels."""
    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def extra_repr(self) -> str:
        """The size without its name."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
