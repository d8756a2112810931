"""Cross entropy of the outputs of a linear layer, as one function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.public import public
from ..ops.loss.loss_classes import cross_entropy
from ..ops.matrix.matrix_products import linear
from ..tensor.tensor import Tensor


def check_layer(input: Tensor, linear_weight: Tensor, linear_bias: Tensor | None) -> None:
    """Refuse a layer that does not fit the input."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.ndim}")
    features = linear_weight.shape[-1]
    if input.shape[-1] != features:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {features}, respectively"
        )
    wanted = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and linear_bias.shape != wanted:
        raise RuntimeError(f"expected linear_bias shape {wanted}, got {tuple(linear_bias.shape)}")
    if linear_weight.ndim > 2 and input.ndim == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {features}), got unbatched input with shape {tuple(input.shape)}"
        )


@public("nn.functional.linear_cross_entropy")
def linear_cross_entropy(
    input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
) -> Any:  # fmt: skip
    """cross_entropy(linear(input, linear_weight, linear_bias), target). `options` have no effect: they would save memory.

    Raises:
        RuntimeError: the layer or the target does not fit.
    """
    check_layer(input, linear_weight, linear_bias)
    rows = tuple(linear_weight.shape[:-1])
    scores_shape = (*input.shape[:-1], *rows)
    if target.shape == scores_shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if len(rows) > 1:
        linear_weight = linear_weight.reshape(int(np.prod(rows)), input.shape[-1])
        linear_bias = None if linear_bias is None else linear_bias.reshape(int(np.prod(rows)))
    scores = linear(input, linear_weight, linear_bias).reshape(scores_shape)
    return cross_entropy(
        scores,
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )
