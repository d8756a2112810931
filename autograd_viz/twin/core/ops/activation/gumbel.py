"""gumbel_softmax: a random choice with a gradient."""

from __future__ import annotations

from typing import Any

from ...base.public import public
from ...tensor.factories import empty, zeros_like
from ...tensor.tensor import Tensor


@public("nn.functional.gumbel_softmax")
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """The softmax of logits with Gumbel noise.

    Args:
        logits: unnormalized log probabilities.
        tau: a smaller value makes the result sharper.
        hard: return one-hot vectors, with the gradient of the soft ones.
        eps: has no effect, as in PyTorch.
        dim: the dimension of the softmax.
    """
    noise = -empty(logits.shape, dtype=logits.dtype).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = zeros_like(logits).scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0)
    return chosen - soft.detach() + soft
