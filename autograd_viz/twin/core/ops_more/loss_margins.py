"""Multi-class hinge losses: the score of a target class should exceed all others by a margin."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.public import public
from ..op.primitive import primitive
from ..ops.activation.activation import logsigmoid
from ..ops.loss.loss import MEAN, NONE, loss, reduce_terms, reduced, reduction_number
from ..tensor.tensor import Tensor


def shortfalls(self: Any, target: Any, p: int, margin: float, weight: Any) -> tuple[Any, Any, Any]:
    """max(0, margin - target's score + other score) for each sample and class, with the targets and their weights."""
    scores, chosen = np.atleast_2d(self), np.reshape(target, (-1, 1))
    if np.any((chosen < 0) | (chosen >= scores.shape[1])):
        raise RuntimeError("target out of range")
    z = np.maximum(margin - np.take_along_axis(scores, chosen, 1) + scores, 0)
    np.put_along_axis(z, chosen, 0, 1)
    weights = np.ones(chosen.shape, z.dtype) if weight is None else weight[chosen]
    return z.astype(self.dtype), chosen, weights.astype(self.dtype)


@primitive("MultiMarginLossBackward0")
def multi_margin_loss(self, *, target, p=1, margin=1.0, weight=None, reduction=1):
    """The sum over other classes of max(0, margin - target's score + other score)**p, divided by the number of classes."""
    z, _, weights = shortfalls(self, target, p, margin, weight)
    terms = (z**p * weights).sum(1) / z.dtype.type(z.shape[1])
    return reduced(terms.reshape(target.shape) if reduction == NONE else terms, reduction)
multi_margin_loss.defvjp(
    self = lambda grad, self, target, p, margin, weight, reduction:
        multi_margin_loss_backward(grad, self, target=target, p=p, margin=margin, weight=weight, reduction=reduction),
)


@primitive()
def multi_margin_loss_backward(grad_output, self, *, target, p, margin, weight, reduction):
    """The slope of each shortfall for its class, and minus their sum for the target."""
    z, chosen, weights = shortfalls(self, target, p, margin, weight)
    slope = ((z > 0) if p == 1 else 2 * z) * weights / z.dtype.type(z.shape[1])
    np.put_along_axis(slope, chosen, -slope.sum(1, keepdims=True), 1)
    share = grad_output / len(z) if reduction == MEAN else grad_output
    return (slope * np.reshape(share, (-1, 1))).reshape(self.shape).astype(self.dtype)


# fmt: on
def check_scores(input: Tensor) -> None:
    """Refuse an input that is neither a vector nor a matrix of scores."""
    if input.ndim > 2 or not all(input.shape[-1:]):
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}")


@loss("multi_margin_loss")
def multi_margin_loss_of(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: int = MEAN
) -> Any:
    """Hinge loss over classes: the target's score should exceed all others by `margin`.

    Raises:
        ValueError, RuntimeError: p is neither 1 nor 2, or the target or the weights do not fit.
    """
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    check_scores(input)
    samples = input.shape[0] if input.ndim == 2 else 1
    if target.ndim > 1 or target.numel() != samples:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{samples}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.numel() != (classes := input.shape[-1] if input.ndim else 1):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    if target.dtype.name != "int64":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.legacy}")
    return multi_margin_loss(input, target=target, p=p, margin=margin, weight=weight, reduction=reduction)


@public("nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Binary cross entropy of every class, averaged over the classes.

    Raises:
        ValueError: an unknown reduction.
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    terms = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        terms = terms * weight
    return reduce_terms(terms.sum(-1) / input.shape[-1], reduction_number(reduction, size_average, reduce))
