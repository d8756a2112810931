"""Dropout: in training, random numbers become 0, and the others are scaled up so that the mean stays the same."""
# fmt: off

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...op import public, renamed
from ...tensor import Tensor, refuse, refuse_if
from ...tensor.random import default_generator, laid_out

ALPHA = 1.7580993408473766  # minus the limit of selu at -infinity: alpha dropout replaces a dropped number with -ALPHA


# fmt: on
def keep(like: Any, p: float) -> Any:
    """True with probability 1 - p, in the shape of `like`."""
    return laid_out(default_generator.doubles(like.size) < 1 - p, like)


def times(input: Tensor, factor: Tensor, inplace: bool) -> Tensor:
    """The product, in new memory or in the memory of the input."""
    if input._data.dtype.kind not in "fc":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.legacy}")
    return input.mul_(factor) if inplace else input * factor


def drop(input: Tensor, p: float, train: bool, features: bool, inplace: bool = False, alpha: bool = False) -> Tensor:
    """Set numbers, or whole channels, to 0 with probability p.

    With `alpha` they become -ALPHA. Then everything is scaled and shifted, which keeps mean 0 and variance 1.
    """
    if not train or p == 0 or not input.numel():
        return input
    if p == 1:
        return times(input, Tensor(np.zeros((), input._data.dtype)), inplace)
    refuse(input, "c", "bernoulli_scalar_cpu_")
    refuse_if(features and input.ndim < 2, "Feature dropout requires at least 2 dimensions in the input")
    kept = keep(np.empty((*input.shape[:2], *[1] * (input.ndim - 2))) if features else input._data, p)
    if not alpha:
        return times(input, Tensor((kept / (1 - p)).astype(input._data.dtype, copy=False)), inplace)
    a = 1 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    shift = Tensor(((kept - 1.0) * (ALPHA * a) + ALPHA * a * p).astype(input._data.dtype))
    scaled = times(input, Tensor((kept * a).astype(input._data.dtype)), inplace)
    return scaled.add_(shift) if inplace else scaled + shift


def check_probability(p: float, error: type[Exception] = ValueError) -> None:
    """Refuse a value that is not a probability."""
    if not 0 <= p <= 1:
        text = f"{p:g}" if error is RuntimeError else str(p)
        raise error(f"dropout probability has to be between 0 and 1, but got {text}")


def _low_level(name: str, features: bool, alpha: bool) -> None:
    """Define torch.dropout and similar functions, which require the argument `train`."""

    def function(input: Tensor, p: float, train: bool) -> Tensor:
        check_probability(p, RuntimeError)
        return drop(input, p, train, features, alpha=alpha)

    public(f"torch.{name}")(renamed(function, name, f"{name}, with the required argument `train`."))


_low_level("dropout", features=False, alpha=False)
_low_level("feature_dropout", features=True, alpha=False)
_low_level("alpha_dropout", features=False, alpha=True)
_low_level("feature_alpha_dropout", features=True, alpha=True)


def _functional(name: str, does: str, features: bool, alpha: bool) -> Any:
    """Define nn.functional.dropout or a similar function."""

    def function(input: Tensor, p: float = 0.5, training: bool = not alpha, inplace: bool = False) -> Any:
        check_probability(p)
        return drop(input, p, training, features, inplace, alpha=alpha)

    return public(f"nn.functional.{name}")(renamed(function, name, does))


dropout = _functional(
    "dropout", "In training, each number becomes 0 with probability p, and the others are divided by 1 - p. Raises ValueError: "
    "p is not a probability.", features=False, alpha=False,
)  # fmt: skip
_functional("alpha_dropout", "Dropout that keeps mean 0 and variance 1, for selu.", features=False, alpha=True)
_functional("feature_alpha_dropout", "alpha_dropout of whole channels.", features=True, alpha=True)


@public("nn.functional.dropout1d")
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, L) or (C, L). Raises RuntimeError: the input does not have 2 or 3 dimensions."""
    check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return drop_channels(input, p, training, inplace, batched=input.ndim == 3)


@public("nn.functional.dropout2d")
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, H, W)."""
    check_probability(p)
    warn_about_dimensions(input, 2)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - "
            "input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future "
            "release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            UserWarning,
            stacklevel=2,
        )
    return drop_channels(input, p, training, inplace, batched=True)


@public("nn.functional.dropout3d")
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    check_probability(p)
    warn_about_dimensions(input, 3)
    return drop_channels(input, p, training, inplace, batched=input.ndim == 5)


def drop_channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    """Drop whole channels of a batch or of one sample."""
    if batched:
        return drop(input, p, training, True, inplace)
    if inplace:
        return drop(input.unsqueeze_(0), p, training, True, True).squeeze_(0)
    return drop(input.unsqueeze(0), p, training, True).squeeze(0)


def warn_about_dimensions(input: Tensor, spatial: int) -> None:
    """Warn if the input does not have `spatial` dimensions after the channels, with or without a batch."""
    if input.ndim in (spatial + 1, spatial + 2):
        return
    name = f"dropout{spatial}d"
    warnings.warn(
        f"{name}: Received a {input.ndim}-D input to {name}, which is deprecated and will result in an error in a future "
        f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {name} exists to "
        f"provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, and an optional "
        f"batch dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs).",
        UserWarning,
        stacklevel=3,
    )
