"""Binary losses: binary cross entropy of probabilities and of logits, and the soft margin loss."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import exp, log, per_term, sigmoid, where, zeros_like
from ...op import composite, inlined, primitive, row
from ...tensor import Tensor, check_broadcast, refuse_if, scalar_type
from .loss import loss, reduced


@inlined
def weighted(value: Any, weight: Any) -> Any:
    """value * weight, or `value` if there are no weights."""
    return value if weight is None else value * weight


@primitive("BinaryCrossEntropyBackward0")
def binary_cross_entropy(self, target, *, weight=None, reduction=1):
    """-(target * log(self) + (1 - target) * log(1 - self)). The logarithm is at least -100."""
    refuse_if(np.any((self < 0) | (self > 1)), "all elements of input should be between 0 and 1")
    refuse_if(self.dtype != target.dtype, lambda: f"Found dtype {scalar_type(target)} but expected {scalar_type(self)}")
    yes, no = (np.maximum(log, self.dtype.type(-100)) for log in (np.log(self), np.log1p(-self)))
    return reduced(weighted(-(target * yes + (1 - target) * no), weight), reduction)
binary_cross_entropy.defvjp(
    self   = lambda grad, self, target, weight, reduction:
        weighted(per_term(grad, self, reduction), weight) * ((self - target) / away_from_zero((1 - self) * self)),
    target = lambda grad, self, weight, reduction:
        weighted(per_term(grad, self, reduction), weight) * (log_above(1 - self) - log_above(self)))


@composite
def away_from_zero(value: Any) -> Any:
    """The value, but at least 1e-12: the divisor in the rule of binary cross entropy."""
    return where(value > 1e-12, value, zeros_like(value) + 1e-12)


@composite
def log_above(value: Any) -> Any:
    """The logarithm, but at least -100."""
    return where(log(value) > -100, log(value), zeros_like(value) - 100)


@primitive("BinaryCrossEntropyWithLogitsBackward0")
def binary_cross_entropy_with_logits(self, target, *, weight=None, pos_weight=None, reduction=1):
    """Binary cross entropy of sigmoid(self), without overflow. `pos_weight` multiplies the terms of positive targets."""
    softplus = np.log1p(np.exp(-np.abs(self))) + np.maximum(-self, 0)
    factor = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    return reduced(weighted((1 - target) * self + factor * softplus, weight), reduction)
binary_cross_entropy_with_logits.defvjp(
    self   = lambda grad, self, target, weight, pos_weight, reduction:
        weighted(per_term(grad, self, reduction), weight) * logits_slope(self, target, pos_weight),
    target = lambda grad, self, weight, pos_weight, reduction:
        weighted(per_term(grad, self, reduction), weight)
        * (-self if pos_weight is None else log_of_sigmoid(-self) - pos_weight * log_of_sigmoid(self)))


@inlined
def logits_slope(self: Any, target: Any, pos_weight: Any) -> Any:
    """sigmoid(self) - target, with `pos_weight` on the positive targets."""
    if pos_weight is None:
        return sigmoid(self) - target
    return (pos_weight * target + 1 - target) * sigmoid(self) - pos_weight * target


@composite
def log_of_sigmoid(self: Any) -> Any:
    """log(sigmoid(self)), without underflow."""
    return where(self < 0, self, zeros_like(self)) - log(1 + exp(-abs(self)))


soft_margin_loss = row("soft_margin_loss", "SoftMarginLossBackward0", "log(1 + exp(-target * self)) for targets 1 and -1.",
    lambda self, *, target, reduction=1: reduced(np.log1p(np.exp(-target * self)), reduction),
    self = lambda grad, self, target, reduction: per_term(grad, self, reduction) * (-target * sigmoid(-target * self)))


# fmt: on
@loss("binary_cross_entropy")
def binary_cross_entropy_of(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1) -> Any:
    """Binary cross entropy of probabilities.

    Raises:
        ValueError: the sizes differ.
        RuntimeError: a probability outside [0, 1].
    """
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    if weight is not None:
        check_broadcast(target, weight)
        weight = weight.expand(np.broadcast_shapes(target.shape, weight.shape))
    return binary_cross_entropy(input, target, weight=weight, reduction=reduction)


@loss("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits_of(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1, pos_weight: Tensor | None = None
) -> Any:
    """Binary cross entropy of logits; it includes the sigmoid. Raises ValueError: the sizes differ."""
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if not target.dtype.is_floating_point:
        raise RuntimeError(f"result type {input.dtype.legacy} can't be cast to the desired output type {target.dtype.legacy}")
    return binary_cross_entropy_with_logits(input, target, weight=weight, pos_weight=pos_weight, reduction=reduction)


@loss("soft_margin_loss")
def soft_margin_loss_of(input: Tensor, target: Tensor, reduction: int) -> Any:
    """log(1 + exp(-target * input)). It is small if both have the same sign."""
    check_broadcast(input, target)
    return soft_margin_loss(input, target=target, reduction=reduction)
