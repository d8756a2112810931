"""The rare attributes of a tensor."""

from __future__ import annotations

from typing import Any

from ..base import provenance

NOT_OF_LEAF = "you can only change requires_grad flags of leaf variables."
DETACH = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
)
NON_LEAF_GRAD_WARNING = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
    ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)


class Extra:
    """The rare attributes of a tensor: hooks, a retained gradient, events, the leaf's AccumulateGrad."""

    __slots__ = ("accumulator", "detached", "first", "former", "hooks", "post_hooks", "retains_grad", "statements")

    def __init__(self) -> None:
        self.accumulator: Any = None  # a weak reference: the node holds the leaf
        self.statements: list[provenance.Statement] = []  # what the user did to it that is no op
        self.first = 0  # set in place: where the base begins in its memory, in elements
        self.hooks: dict[int, Any] | None = None
        self.post_hooks: dict[int, Any] | None = None
        self.retains_grad = False
        self.former: Any = None  # the value before an in-place change
        self.detached = False  # in place; the tensor saved by an earlier node was not a leaf


class InferenceCounter(list[int]):
    """The version counter of a tensor made in inference mode. It counts nothing."""


def check_assigned_grad(tensor: Any, value: Any, kind: Any) -> None:
    """Refuse a value that cannot be the gradient of `tensor`; `kind` is Tensor."""
    if not isinstance(value, kind):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if value.dtype is not tensor.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{value.dtype.cpp}' to a tensor with grad_dtype "
            f"'{tensor.dtype.legacy}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You "
            "can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
            "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match."
        )
    if value.shape != tensor.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(tensor.shape)}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )
