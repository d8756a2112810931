"""``grad(..., is_grads_batched=True)``: many gradients of the same outputs, with one pass for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.grad_mode import enable_grad
from ..base.readings import TENSOR_NAMES
from ..tensor.as_array import Size
from ..tensor.tensor import Tensor


def batches(outputs: tuple[Any, ...], grad_outputs: Any) -> list[tuple[Tensor, ...]]:
    """The gradients of each pass. The first dimension of a grad_output is the batch, the rest is the shape of its output."""
    given = (grad_outputs,) if grad_outputs is None or isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    for i, (output, gradient) in enumerate(zip(outputs, given, strict=False)):
        _check_batch(output, gradient, i)
    sizes = [g.shape[0] for g in given]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
            "dimension"
        )
    return [tuple(g[i] for g in given) for i in range(sizes[0])] if sizes else [()]


def _check_batch(output: Any, gradient: Any, index: int) -> None:
    """Refuse a value that is not a batch of gradients of `output`."""
    if gradient is None:
        raise ValueError(
            "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of dimensionality 0 "
            "so expected in_dim to satisfy 0 <= in_dim < 0."
        )
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    shape = output.shape if isinstance(output, Tensor) else Size(output.node._outputs_metadata()[output.output_nr][0])
    if gradient[0].shape != shape:
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
            "sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was "
            f"detected: grad_output[{index}] has a shape of {Size(gradient.shape[1:])} and output[{index}] has a shape of "
            f"{shape}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
        )


def stack_batch(grads: tuple[Any, ...]) -> Tensor:
    """The results of all passes, stacked. They are arrays, or tensors of recorded passes."""
    if not isinstance(grads[0], Tensor):
        return Tensor(np.stack(grads))
    with enable_grad():
        found: Tensor = TENSOR_NAMES["stack"](grads)
    return found
