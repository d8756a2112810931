"""Losses between two or three points: ranking and distance. Each consists of several recorded ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import names as op
from ..base.public import public
from ..ops.elementwise.arithmetic import add_scalar, sub, sub_scalar
from ..ops.elementwise.choosing import minimum
from ..ops.loss.loss import loss, reduce_terms, reduction_number
from ..ops.reduce.norms import pairwise_distance
from ..tensor.arguments import check_broadcast
from ..tensor.tensor import Tensor


@loss("margin_ranking_loss")
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0) -> Any:
    """max(0, -target * (input1 - input2) + margin). Target 1 means that input1 should be larger.

    Raises:
        RuntimeError: the dimensions differ.
    """
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return add_scalar(-target * (input1 - input2), other=margin).clamp_min(0)


@loss("hinge_embedding_loss")
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0) -> Any:
    """input if target is 1, max(0, margin - input) if it is -1."""
    zeros = Tensor(np.zeros_like(input._data))
    far = op.where(target != 1, sub(margin, input).clamp_min(0), zeros)
    return far + op.where(target != -1, input, zeros)


def check_pair(input1: Tensor, input2: Tensor, target: Tensor) -> None:
    """Refuse arguments that are neither one pair with a 0-d target nor a batch of pairs with a 1-d target."""
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    wanted = target.ndim + 1
    if input1.ndim != wanted or input2.ndim != wanted:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {wanted}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )


@loss("cosine_embedding_loss")
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0) -> Any:
    """1 - cosine if target is 1, max(0, cosine - margin) if it is -1."""
    check_pair(input1, input2, target)
    dim = target.ndim
    squares = [add_scalar((x * x).sum(dim), other=1e-12) for x in (input1, input2)]
    cosine = (input1 * input2).sum(dim) / (squares[0] * squares[1]).sqrt()
    check_broadcast(target, cosine)
    zeros, ones = Tensor(np.zeros_like(cosine._data)), Tensor(np.ones_like(cosine._data))
    near = op.where(target == 1, ones - cosine, zeros)
    far = op.where(target == -1, sub_scalar(cosine, other=margin).clamp_min(0), zeros)
    return near + far


def check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> None:
    """Refuse points of different dimensions, and a margin that is not positive."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )


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
