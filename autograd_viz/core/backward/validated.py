"""A gradient on its way from one node to the next is made to fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.readings import ARRAY_NAMES, TENSOR_NAMES
from ..tensor.tensor import Tensor
from .node import Node


def validated(node: Node, index: int, grad: Any, after: Node | None, output_nr: int) -> Any:
    """A gradient as its receiver wants it: broadcasting undone, type of the forward value (PyTorch's validate_outputs).

    Raises:
        RuntimeError: the shape cannot be made to fit.
    """
    if grad is None or after is None:
        return None
    shape, element_type = after._output_metadata(output_nr) if output_nr else (after._shape, after._dtype)
    data = grad._data if isinstance(grad, Tensor) else grad
    if grad is data and data.shape[1:] == shape != data.shape:  # as of a bias; three times as fast as the rule for all shapes
        grad = data = np.add.reduce(data, 0)
    elif data.shape != shape:
        if not _expands_to(shape, data.shape):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {index} - got {list(data.shape)} but "
                f"expected shape compatible with {list(shape)}"
            )
        grad = (TENSOR_NAMES if isinstance(grad, Tensor) else ARRAY_NAMES)["sum_to"](grad, shape)
        data = grad._data if isinstance(grad, Tensor) else grad
    if data.dtype != element_type:
        if element_type.kind != "c" and data.dtype.kind == "c":  # a real input has a real gradient
            grad = grad.real
        grad = grad.to(Tensor(np.empty(0, element_type)).dtype) if isinstance(grad, Tensor) else grad.astype(element_type)
    return grad


def _expands_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Could a tensor of `shape` have been broadcast to `target`?"""
    lead = len(target) - len(shape)
    if lead < 0:
        return False
    return shape == target[lead:] or all(a in (1, b) for a, b in zip(shape, target[lead:], strict=True))
