"""Puts the ops on Tensor: operators, methods, and the argument forms that PyTorch accepts."""

from __future__ import annotations

from typing import Any

from . import ops_more as _ops_more  # noqa: F401
from .backward import hooks
from .backward.backward import backward as run_backward_pass
from .base import provenance
from .base.missing import TENSOR_ATTRIBUTES, MissingAttribute, tensor_dir
from .base.public import INPLACE, NAMESPACES
from .inplace import activation_functional, inplace, inplace_views, own_memory  # noqa: F401 -- three of them only publish names
from .op.primitive import Primitive
from .tensor import interchange
from .tensor import questions as _questions  # noqa: F401 -- puts device and its like on Tensor
from .tensor.printing import tensor_text
from .tensor.tensor import Tensor


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Compute the gradients of this tensor and add them to the `grad` of the leaves.

    Args:
        self: the root.
        gradient: the v of vᵀJ, in this tensor's shape; may be left out for a single element.
        retain_graph: keep the saved tensors for another backward pass.
        create_graph: record the backward pass itself, for higher derivatives.
        inputs: accumulate only into these leaves.

    Raises:
        RuntimeError: as PyTorch says it.
    """
    if self._requires_grad:
        provenance.note(self, "backward")
    try:
        run_backward_pass(self, gradient, retain_graph, create_graph, inputs=inputs)
    except BaseException:
        if self._requires_grad:
            provenance.note(self, "failed")
        raise


# fmt: off
for _names, _op in {
    "backward": backward, "__repr__": tensor_text,
    "add_ __iadd__": inplace.add_, "sub_ __isub__": inplace.sub_, "mul_ __imul__": inplace.mul_,
    "div_ __itruediv__": inplace.div_, "zero_": inplace.zero_, "copy_": inplace.copy_,
    "detach_": inplace.detach_, "register_hook": hooks.register_hook,
    "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
}.items():
    for _name in _names.split():
        setattr(Tensor, _name, _op)
# fmt: on
Tensor.__dir__ = tensor_dir  # type: ignore[method-assign]
for _name in TENSOR_ATTRIBUTES:
    setattr(Tensor, _name, MissingAttribute(_name))
interchange.bind()
for _name, _op in NAMESPACES["Tensor"].items():
    setattr(Tensor, _name, _op)
for _name, _op in list(vars(Tensor).items()):
    if isinstance(_op, Primitive):
        _op.method_names.append(_name)
for _name, _op in INPLACE.items():
    setattr(Tensor, f"{_name}_", inplace.in_place(_op, f"{_name}_"))
