"""Ops on three tensors: a product or quotient added to a tensor, and interpolation between two tensors."""
# fmt: off

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.names import conjugated
from ...op import primitive, public, public_row, row
from ...tensor import Tensor, brought_together, refuse

addcmul = public_row("addcmul", "AddcmulBackward0", "self + value * tensor1 * tensor2.",
    lambda self, tensor1, tensor2, *, value=1: self + value * tensor1 * tensor2, promotes=True, inplace=True,
    self    = lambda grad: grad,
    tensor1 = lambda grad, tensor2, value: grad * conjugated(tensor2 * value),
    tensor2 = lambda grad, tensor1, value: grad * conjugated(tensor1 * value))


def _check_division(tensor1: Any, tensor2: Any) -> None:
    """Refuse to divide whole numbers by whole numbers."""
    if tensor1.dtype.kind in "iub" and tensor2.dtype.kind in "iub":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
            "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
            "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), "
            "for all dtypes."
        )


def _divisible(*operands: Tensor) -> tuple[Any, ...]:
    _check_division(operands[1]._data, operands[2]._data)
    return brought_together(*operands)


@public("addcdiv", inplace=True)
@primitive("AddcdivBackward0", promotes=_divisible)
def addcdiv(self, tensor1, tensor2, *, value=1):
    """self + value * tensor1 / tensor2.

    Raises:
        RuntimeError: both are of whole numbers.
    """
    _check_division(tensor1, tensor2)
    return self + value * (tensor1 / tensor2)
addcdiv.defvjp(
    self    = lambda grad: grad,
    tensor1 = lambda grad, tensor2, value: grad * conjugated(value / tensor2),
    tensor2 = lambda grad, tensor1, tensor2, value: -grad * conjugated(value * tensor1 / (tensor2 * tensor2)))


lerp_scalar = row("lerp_scalar", "LerpBackward0", "self + weight * (end - self), for a number `weight`.",
    lambda self, end, *, weight: self + weight * (end - self) if abs(weight) < 0.5 else end - (end - self) * (1 - weight),
    promotes=True,
    self = lambda grad, weight: grad * conjugated(1 - weight),
    end  = lambda grad, weight: grad * conjugated(weight))
lerp_tensor = row("lerp_tensor", "LerpBackward1", "self + weight * (end - self), all tensors.",
    lambda self, end, weight: np.where(np.abs(weight) < 0.5, self + weight * (end - self), end - (end - self) * (1 - weight)),
    promotes=True,
    self   = lambda grad, weight: grad * conjugated(1 - weight),
    end    = lambda grad, weight: grad * conjugated(weight),
    weight = lambda grad, end, self: grad * conjugated(end - self))


@public("lerp", inplace=True)
def lerp(input: Tensor, end: Tensor, weight: Any) -> Any:
    """Linear interpolation from `input` (weight 0) to `end` (weight 1).

    Raises:
        RuntimeError: the types differ.
    """
    for name, t in (("end", end), ("weight", weight)):
        if isinstance(t, Tensor) and t.dtype is not input.dtype and (name == "end" or t.ndim):
            raise RuntimeError(f"expected dtype {input.dtype.cpp} for `{name}` but got dtype {t.dtype.cpp}")
    refuse(input, "iub", f"lerp_kernel_{'tensor' if isinstance(weight, Tensor) else 'scalar'}")
    return lerp_tensor(input, end, weight) if isinstance(weight, Tensor) else lerp_scalar(input, end, weight=weight)
