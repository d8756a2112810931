"""Losses for classification: negative log-likelihood, cross entropy, and those for two classes."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import exp, log, per_term, sigmoid, where, zeros_like
from ...base.symbol import Symbol, call
from ...op import composite, inlined, primitive, row
from ...tensor import Tensor, check_broadcast, check_scalar_type, refuse_if, scalar_type
from ..elementwise.arithmetic import add_scalar, div_scalar, mul_scalar
from .loss import MEAN, NONE, loss, reduced


def class_axis(scores: Any) -> int:
    """The dimension of the classes: the second, or the only one."""
    return 0 if scores.ndim == 1 else 1


def weight_per_target(self: Any, target: Any, weight: Any, ignore_index: int) -> tuple[Any, Any]:
    """The targets with 0 instead of ignored ones, and the weight of each (0 for ignored ones)."""
    classes = self.shape[class_axis(self)]
    target = target if self.ndim > 1 else target.reshape(())
    kept = target != ignore_index
    outside = kept & ((target < 0) | (target >= classes))
    refuse_if(outside.any(), lambda: f"Target {target[outside].flat[0]} is out of bounds.", IndexError)
    chosen = np.multiply(target, kept, dtype=np.int64)
    return chosen, (kept.astype(self.dtype) if weight is None else weight[chosen] * kept)


def at_targets(self: Any, chosen: Any) -> tuple[Any, ...]:
    """The index of each sample's score for its target."""
    samples = np.ogrid[tuple(map(slice, chosen.shape))] if chosen.ndim != 1 else [np.arange(len(chosen))]
    return (*samples[: class_axis(self)], chosen, *samples[class_axis(self) :])


def nll_rule(grad, self, *, target, weight, reduction, total_weight, **_) -> Symbol:
    """The text of `nll_loss_backward` in a formula."""
    share = -grad if weight is None else -grad * weight
    return call("zeros_but", share / total_weight if reduction == MEAN else share, at=target)


@primitive("NllLossBackward0", results=("output", "total_weight"), nondifferentiable=("total_weight",))
def nll_loss_forward(self, *, target, weight=None, reduction=1, ignore_index=-100):
    """The negative log-probability of each target. The classes are dimension 1."""
    chosen, weights = weight_per_target(self, target, weight, ignore_index)
    terms = -weights * self[at_targets(self, chosen)]
    terms, total = np.where(weights == 0, 0, terms).astype(self.dtype), weights.sum(dtype=self.dtype)
    return (terms.sum() / total if reduction == MEAN else reduced(terms, reduction)), total


@primitive("NllLossBackwardBackward0", written=nll_rule)
def nll_loss_backward(grad_output, self, *, target, weight, reduction, ignore_index, total_weight):
    """-grad_output * weight at the targets, else 0."""
    chosen, weights = weight_per_target(self, target, weight, ignore_index)
    share = (grad_output / total_weight if reduction == MEAN else grad_output) * -weights
    out = np.zeros(self.shape, grad_output.dtype)
    out[at_targets(self, chosen)] = np.where(weights == 0, 0, share)
    return out
nll_loss_backward.defvjp(
    grad_output = lambda grad, target, weight, reduction, ignore_index:
        nll_loss_forward(grad, target=target, weight=weight, reduction=reduction, ignore_index=ignore_index)[0],
    self        = lambda grad: zeros_like(grad))


nll_loss2d_forward = row("nll_loss2d_forward", "NllLoss2DBackward0", "The negative log-probability of each pixel's target.",
    lambda self, *, target, weight=None, reduction=1, ignore_index=-100:
        nll_loss_forward.forward(self, target=target, weight=weight, reduction=reduction, ignore_index=ignore_index),
    results=("output", "total_weight"), nondifferentiable=("total_weight",),
    self = lambda grad, self, target, weight, reduction, ignore_index, total_weight:
        nll_loss2d_backward(grad, self, target=target, weight=weight, reduction=reduction, ignore_index=ignore_index,
                            total_weight=total_weight))
nll_loss2d_backward = row("nll_loss2d_backward", "NllLoss2DBackwardBackward0", "-grad_output * weight at the targets, else 0.",
    lambda grad_output, self, *, target, weight, reduction, ignore_index, total_weight: nll_loss_backward.forward(
        grad_output, self, target=target, weight=weight, reduction=reduction, ignore_index=ignore_index,
        total_weight=total_weight), written=nll_rule,
    grad_output = lambda grad, target, weight, reduction, ignore_index:
        nll_loss2d_forward(grad, target=target, weight=weight, reduction=reduction, ignore_index=ignore_index)[0],
    self        = lambda grad: zeros_like(grad))


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
        weighted(per_term(grad, self, reduction), weight) * (sigmoid(self) - target if pos_weight is None
            else (pos_weight * target + 1 - target) * sigmoid(self) - pos_weight * target),
    target = lambda grad, self, weight, pos_weight, reduction:
        weighted(per_term(grad, self, reduction), weight)
        * (-self if pos_weight is None else log_of_sigmoid(-self) - pos_weight * log_of_sigmoid(self)))


@composite
def log_of_sigmoid(self: Any) -> Any:
    """log(sigmoid(self)), without underflow."""
    return where(self < 0, self, zeros_like(self)) - log(1 + exp(-abs(self)))


soft_margin_loss = row("soft_margin_loss", "SoftMarginLossBackward0", "log(1 + exp(-target * self)) for targets 1 and -1.",
    lambda self, *, target, reduction=1: reduced(np.log1p(np.exp(-target * self)), reduction),
    self = lambda grad, self, target, reduction: per_term(grad, self, reduction) * (-target * sigmoid(-target * self)))


# fmt: on
def check_targets(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """Refuse targets and weights that do not fit the scores."""
    refuse_if(input.ndim == 0, "Expected 1 or more dimensions (got 0)", ValueError)
    if input.ndim != 1 and (target.ndim == 0 or input.shape[0] != target.shape[0]):
        got = target.shape[0] if target.ndim else 0
        raise ValueError(f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({got}).")
    if input.ndim == 1 and target.ndim == 1 and target.numel() != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target.numel()}")
    refuse_if(input.ndim <= 2 and target.ndim > 1, "0D or 1D target tensor expected, multi-target not supported")
    if input.ndim > 2 and target.shape != (wanted := (input.shape[0], *input.shape[2:])):
        raise RuntimeError(f"Expected target size {list(wanted)}, got {list(target.shape)}")
    if target.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.legacy}")
    classes = input.shape[class_axis(input)]
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight.shape)}"
        )
    if weight is not None:
        check_scalar_type(weight, input)


def nll_of(scores: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """The negative log-likelihood. More than two dimensions are reshaped to an image."""
    check_targets(scores, target, weight)
    options = {"weight": weight, "reduction": reduction, "ignore_index": ignore_index}
    if scores.ndim <= 2:
        return nll_loss_forward(scores, target=target, **options)[0]
    if scores.ndim == 4:
        return nll_loss2d_forward(scores, target=target, **options)[0]
    n, c, pixels = scores.shape[0], scores.shape[1], int(np.prod(scores.shape[2:]))
    output = nll_loss2d_forward(scores.reshape(n, c, 1, pixels), target=target.reshape(n, 1, pixels), **options)[0]
    return output.view(target.shape) if reduction == NONE else output


@loss("nll_loss", between="ignore_index")
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: int = MEAN
) -> Any:
    """The negative log-probability (`input`) of each sample's target class."""
    return nll_of(input, target, weight, reduction, ignore_index)


@loss("cross_entropy", between="ignore_index")
def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: int = MEAN,
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Cross entropy of scores (before softmax). The targets are classes, or probabilities in the shape of `input`.

    Raises RuntimeError, ValueError, IndexError: the target does not fit, in PyTorch's words.
    """
    refuse_if(not 0 <= label_smoothing <= 1, lambda: f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    if input.shape == target.shape and input.ndim:
        return cross_entropy_of_probabilities(input, target, weight, reduction, label_smoothing)
    log_probabilities = input.log_softmax(class_axis(input)) if input.ndim else input
    sharp = nll_of(log_probabilities, target, weight, reduction, ignore_index)
    if label_smoothing == 0:
        return sharp
    smooth = smoothed(log_probabilities, target, weight, reduction, ignore_index)
    share = label_smoothing / input.shape[class_axis(input)]
    return mul_scalar(sharp, other=1 - label_smoothing) + mul_scalar(smooth, other=share)


def weight_by_class(weight: Tensor, scores: Tensor) -> Tensor:
    """The weights in a shape that broadcasts with the scores."""
    return weight.view(tuple(-1 if d == class_axis(scores) else 1 for d in range(scores.ndim)))


def cross_entropy_of_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float
) -> Tensor:
    """-sum(target * log_softmax(input)) for each sample."""
    if not target.dtype.is_floating_point:
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {target.dtype.legacy}")
    axis = class_axis(input)
    classes = input.shape[axis]
    if label_smoothing > 0:
        target = add_scalar(mul_scalar(target, other=1 - label_smoothing), other=label_smoothing / classes)
    terms = input.log_softmax(axis) * target
    if weight is not None:
        terms = terms * weight_by_class(weight, input)
    if reduction == NONE:
        return -terms.sum(axis)
    total = -terms.sum()
    return div_scalar(total, other=input.numel() // classes) if reduction == MEAN else total


def smoothed(log_probabilities: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """The loss for a target spread evenly over all classes (label smoothing)."""
    scores = log_probabilities if weight is None else log_probabilities * weight_by_class(weight, log_probabilities)
    ignored = target == ignore_index
    terms = (-scores.sum(class_axis(scores))).masked_fill(ignored, 0.0)
    if reduction != MEAN:
        return terms if reduction == NONE else terms.sum()
    arrays = (log_probabilities._data, target._data, None if weight is None else weight._data)
    return terms.sum() / Tensor(weight_per_target(*arrays, ignore_index)[1].sum())


@loss("binary_cross_entropy")
def binary_cross_entropy_of(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1) -> Any:
    """Binary cross entropy of probabilities. Raises ValueError: the sizes differ. RuntimeError: one is outside [0, 1]."""
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
