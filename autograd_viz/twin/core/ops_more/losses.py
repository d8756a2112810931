"""Losses of margins, of pairs and triplets of points, and between distributions. Most consist of several recorded ops."""
# fmt: off

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import names as op
from ..op import primitive, public
from ..ops.activation.activation import logsigmoid
from ..ops.elementwise.arithmetic import add_scalar, mul_scalar, sub, sub_scalar
from ..ops.elementwise.choosing import minimum
from ..ops.loss.loss import MEAN, NONE, loss, reduce_terms, reduced, reduction_number
from ..ops.reduce.norms import pairwise_distance
from ..tensor import Tensor, check_broadcast, refuse_if


def shortfalls(self: Any, target: Any, margin: float, weight: Any) -> tuple[Any, Any, Any]:
    """max(0, margin - target's score + other score) for each sample and class, with the targets and their weights."""
    scores, chosen = np.atleast_2d(self), np.reshape(target, (-1, 1))
    refuse_if(np.any((chosen < 0) | (chosen >= scores.shape[1])), "target out of range")
    z = np.maximum(margin - np.take_along_axis(scores, chosen, 1) + scores, 0)
    np.put_along_axis(z, chosen, 0, 1)
    weights = np.ones(chosen.shape, z.dtype) if weight is None else weight[chosen]
    return z.astype(self.dtype), chosen, weights.astype(self.dtype)


@primitive("MultiMarginLossBackward0")
def multi_margin_loss(self, *, target, p=1, margin=1.0, weight=None, reduction=1):
    """The sum over other classes of max(0, margin - target's score + other score)**p, divided by the number of classes."""
    z, _, weights = shortfalls(self, target, margin, weight)
    terms = (z**p * weights).sum(1) / z.dtype.type(z.shape[1])
    return reduced(terms.reshape(target.shape) if reduction == NONE else terms, reduction)
multi_margin_loss.defvjp(
    self = lambda grad, self, target, p, margin, weight, reduction:
        multi_margin_loss_backward(grad, self, target=target, p=p, margin=margin, weight=weight, reduction=reduction))


@primitive()
def multi_margin_loss_backward(grad_output, self, *, target, p, margin, weight, reduction):
    """The slope of each shortfall for its class, and minus their sum for the target."""
    z, chosen, weights = shortfalls(self, target, margin, weight)
    slope = ((z > 0) if p == 1 else 2 * z) * weights / z.dtype.type(z.shape[1])
    np.put_along_axis(slope, chosen, -slope.sum(1, keepdims=True), 1)
    share = grad_output / len(z) if reduction == MEAN else grad_output
    return (slope * np.reshape(share, (-1, 1))).reshape(self.shape).astype(self.dtype)


@loss("multi_margin_loss")
def multi_margin_loss_of(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: int = MEAN
) -> Any:
    """Hinge loss over classes: the target's score should exceed all others by `margin`.

    Raises ValueError, RuntimeError: p is neither 1 nor 2, or the target or the weights do not fit.
    """
    refuse_if(p not in (1, 2), "only p == 1 and p == 2 supported", ValueError)
    refuse_if(weight is not None and weight.ndim != 1, "weight must be one-dimensional", ValueError)
    if input.ndim > 2 or not all(input.shape[-1:]):
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}")
    samples = input.shape[0] if input.ndim == 2 else 1
    refuse_if(target.ndim > 1 or target.numel() != samples, lambda:
        "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
        f"Expected target size [{samples}], but got {list(target.shape)}. Input has shape {list(input.shape)}.")
    if weight is not None and weight.numel() != (classes := input.shape[-1] if input.ndim else 1):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    refuse_if(target.dtype.name != "int64", lambda: f"expected scalar type Long but found {target.dtype.legacy}")
    return multi_margin_loss(input, target=target, p=p, margin=margin, weight=weight, reduction=reduction)


@public("nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Binary cross entropy of every class, averaged over the classes. Raises ValueError: an unknown reduction."""
    refuse_if(reduction not in ("none", "mean", "sum"), lambda: f"{reduction} is not valid", ValueError)
    terms = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        terms = terms * weight
    return reduce_terms(terms.sum(-1) / input.shape[-1], reduction_number(reduction, size_average, reduce))


@loss("margin_ranking_loss")
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0) -> Any:
    """max(0, margin - target * (input1 - input2)). Target 1 wants a larger input1. Raises RuntimeError: dimensions differ."""
    refuse_if(not input1.ndim == input2.ndim == target.ndim, lambda:
        "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
        f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return add_scalar(-target * (input1 - input2), other=margin).clamp_min(0)


@loss("hinge_embedding_loss")
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0) -> Any:
    """input if target is 1, max(0, margin - input) if it is -1."""
    zeros = Tensor(np.zeros_like(input._data))
    far = op.where(target != 1, sub(margin, input).clamp_min(0), zeros)
    return far + op.where(target != -1, input, zeros)


@loss("cosine_embedding_loss")
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0) -> Any:
    """1 - cosine if target is 1, max(0, cosine - margin) if it is -1."""
    refuse_if(target.ndim > 1, "0D or 1D target tensor expected, multi-target not supported")
    dim = target.ndim
    refuse_if(not input1.ndim == input2.ndim == dim + 1, lambda:
        f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs with sizes {list(input1.shape)} and "
        f"{list(input2.shape)}.")
    squares = [add_scalar((x * x).sum(dim), other=1e-12) for x in (input1, input2)]
    cosine = (input1 * input2).sum(dim) / (squares[0] * squares[1]).sqrt()
    check_broadcast(target, cosine)
    zeros, ones = Tensor(np.zeros_like(cosine._data)), Tensor(np.ones_like(cosine._data))
    near = op.where(target == 1, ones - cosine, zeros)
    far = op.where(target == -1, sub_scalar(cosine, other=margin).clamp_min(0), zeros)
    return near + far


def check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> None:
    """Refuse points of different dimensions, and a margin that is not positive."""
    refuse_if(margin <= 0, lambda: f"margin must be greater than 0, got {margin}", ValueError)
    refuse_if(not anchor.ndim == positive.ndim == negative.ndim, lambda:
        "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
        f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs")


@loss("triplet_margin_loss")
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False
) -> Any:
    """max(0, margin + distance to the positive - distance to the negative)."""
    check_triplet(anchor, positive, negative, margin)
    near, far = (pairwise_distance(anchor, other, p, eps) for other in (positive, negative))
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return (add_scalar(near, other=margin) - far).clamp_min(0)


@public("nn.functional.triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """triplet_margin_loss with the given distance function."""
    number = reduction_number(reduction)
    check_triplet(anchor, positive, negative, margin)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduce_terms((margin + near - far).clamp_min(0), number)


KL_WARNING = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the "
    "batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the "
    "next major release."
)


@public("nn.functional.kl_div")
def kl_div(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:  # fmt: skip
    """target * (log(target) - input). `input` is a log-probability, `target` a probability or its logarithm."""
    refuse_if(input.is_complex() or target.is_complex(), "kl_div: Complex inputs not supported.")
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(KL_WARNING, UserWarning, stacklevel=2)
    number = reduction_number("sum" if reduction == "batchmean" else reduction, size_average, reduce)
    terms = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    total = reduce_terms(terms, number)
    return total / input.shape[0] if reduction == "batchmean" and input.ndim else total


@loss("poisson_nll_loss", between="eps")
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, eps: float = 1e-8) -> Any:
    """The negative log-likelihood of counts `target` at rate `input` or exp(input). `full` adds Stirling's log(target!)."""
    terms = input.exp() - target * input if log_input else input - target * add_scalar(input, other=eps).log()
    if full:
        half_log = mul_scalar(mul_scalar(target, other=2 * math.pi).log(), other=0.5)
        terms = terms + (target * target.log() - target + half_log).masked_fill(target <= 1, 0)
    return terms


@public("nn.functional.gaussian_nll_loss")
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """The negative log-likelihood of `target` under a normal distribution with mean `input` and variance `var`.

    Raises ValueError: a variance is negative or of another size.
    """
    negative = var < 0 if isinstance(var, float | int) else bool((var.detach() < 0).any())
    refuse_if(negative, "var has negative entry/entries", ValueError)
    if isinstance(var, float | int):
        var = Tensor(np.full_like(input._data, var))
    var = fitting_variance(input, var)
    refuse_if(reduction not in ("none", "mean", "sum"), lambda: f"{reduction} is not valid", ValueError)
    var = var.clone()
    np.maximum(var._data, eps, out=var._data)  # not recorded: the gradient is that of the given variance
    var._bump_version()
    terms = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        terms = terms + 0.5 * math.log(2 * math.pi)
    return reduce_terms(terms, reduction_number(reduction))


def fitting_variance(input: Tensor, var: Tensor) -> Tensor:
    """The variance in a shape that broadcasts with the input. At most one dimension may differ."""
    if var.shape == input.shape:
        return var
    if var.shape == input.shape[:-1]:
        return var.unsqueeze(-1)
    differing = [v for n, v in zip(input.shape, var.shape, strict=False) if n != v]
    refuse_if(input.ndim != var.ndim or differing != [1], "var is of incorrect size", ValueError)
    return var
