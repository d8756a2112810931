"""Gradients in the form of a pass, of a drawing, of their receiver, and of a batch (``is_grads_batched=True``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.grad_mode import enable_grad, recording, set_recording
from ..base.quiet import quiet
from ..base.readings import ARRAY_NAMES, TENSOR_NAMES
from ..tensor.as_array import Size
from ..tensor.tensor import Tensor
from .node import SMALL, Node

_LARGE = (None,)
_sum = np.add.reduce


def as_tensor(grad: Any) -> Tensor | None:
    """An array as a tensor."""
    return grad if grad is None or isinstance(grad, Tensor) else Tensor(grad)


def small_arrays(grads: Sequence[Any]) -> Sequence[Any]:
    """The small arrays among the gradients, for drawings; None for large ones, so that they can be freed."""
    if len(grads) == 1:  # the usual case
        return grads if (g := grads[0]) is None or g.size <= SMALL else _LARGE
    return [g if g is not None and g.size <= SMALL else None for g in grads]


def small(grads: Sequence[Any]) -> Sequence[Any]:
    """`small_arrays` for arrays or tensors."""
    return small_arrays([g._data if isinstance(g, Tensor) else g for g in grads])


def sum_of(there: Any, grad: Any, recorded: bool) -> Any:
    """The sum of two gradients. It is recorded if the pass is."""
    if not recorded:
        return quiet.run(np.add, there, grad)
    before = recording()
    set_recording(True)
    try:
        return there + grad
    finally:
        set_recording(before)


def validate_output(node: Node, index: int, grad: Any, after: Node | None, output_nr: int) -> Any:
    """A gradient in the shape and type of the forward value: broadcast dimensions are summed (PyTorch's validate_outputs)."""
    if grad is None or after is None:
        return None
    shape, element_type = after._output_metadata(output_nr) if output_nr else (after._shape, after._dtype)
    data = grad._data if isinstance(grad, Tensor) else grad
    lead = data.ndim - len(shape)
    if grad is data and lead > 0 and data.shape[lead:] == shape:  # as for a bias; three times as fast as the general rule
        grad = data = _sum(data) if lead == 1 else _sum(data, tuple(range(lead)))
    elif data.shape != shape:
        if not _expands_to(shape, data.shape):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {index} - got {list(data.shape)} but "
                f"expected shape compatible with {list(shape)}"
            )
        grad = (TENSOR_NAMES if isinstance(grad, Tensor) else ARRAY_NAMES)["sum_to"](grad, shape)
        data = grad._data if isinstance(grad, Tensor) else grad
    if data.dtype != element_type:
        if element_type.kind != "c" and data.dtype.kind == "c":  # the gradient of a real input is real
            grad = grad.real
        grad = grad.to(Tensor(np.empty(0, element_type)).dtype) if isinstance(grad, Tensor) else grad.astype(element_type)
    return grad


def validate_outputs(node: Node, results: Sequence[Any]) -> Sequence[Any]:
    """The results of a node, each in the shape and type of its receiver. Most already have both."""
    found: Any = results
    index = node._index
    for i, after in enumerate(node._next):
        g = results[i]
        if g is None:
            continue
        data = g._data if isinstance(g, Tensor) else g
        if after is None or index[i] or data.shape != after._shape or data.dtype is not after._dtype:
            if found is results:
                found = list(results)
            found[i] = validate_output(node, i, g, after, index[i])
    return found  # type: ignore[no-any-return]


def _expands_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Could a tensor of `shape` have been broadcast to `target`?"""
    lead = len(target) - len(shape)
    if lead < 0:
        return False
    return shape == target[lead:] or all(a in (1, b) for a, b in zip(shape, target[lead:], strict=True))


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
