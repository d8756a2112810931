"""Puts the ops on Tensor: operators, methods, and PyTorch's forms of arguments."""

from __future__ import annotations

from functools import cache
from typing import Any

from . import ops_more
from .backward import hooks
from .backward.backward import backward as run_backward_pass
from .base import provenance
from .base.missing import TENSOR_ATTRIBUTES, MissingAttribute, tensor_dir
from .base.public import INPLACE, LATE, NAMESPACES
from .base.readings import LATER
from .inplace import activation_functional, inplace, inplace_views  # noqa: F401 -- two of them only publish names
from .op.out import give_out
from .op.primitive import Primitive
from .tensor import interchange, questions  # noqa: F401 -- put methods and properties on Tensor
from .tensor.creation import array_of_call
from .tensor.printing import tensor_text
from .tensor.tensor import Tensor


def backward(
    self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False,
    inputs: Any = None,
) -> None:  # fmt: skip
    """Compute the gradients of this tensor and add them to the `grad` of the leaves, or only of `inputs`.

    `gradient` is the v of vᵀJ, in this tensor's shape; optional for a single element. `retain_graph` keeps the saved tensors
    for another pass. `create_graph` records the pass itself, for higher derivatives. Raises RuntimeError: as in PyTorch.
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
Tensor._array_of = staticmethod(array_of_call)  # type: ignore[method-assign]
for _name in TENSOR_ATTRIBUTES:
    setattr(Tensor, _name, MissingAttribute(_name))


class Late:
    """A descriptor on Tensor for a method of ops_more. The first access loads the method."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Tensor | None, owner: type[Tensor]) -> Any:
        load_more()
        return getattr(owner if instance is None else instance, self.name)


def attach(methods: dict[str, Any], changes: dict[str, Any]) -> None:
    """Put methods on Tensor, and their in-place forms."""
    for name, op in methods.items():
        setattr(Tensor, name, op)
        if isinstance(op, Primitive):
            op.method_names.append(name)
    for name, op in changes.items():
        setattr(Tensor, f"{name}_", inplace.in_place(op, f"{name}_"))


@cache
def load_more() -> None:
    """Load the ops of ops_more, once."""
    methods, changes = set(NAMESPACES["Tensor"]), set(INPLACE)
    ops_more.load()
    give_out(NAMESPACES)
    attach(
        {name: op for name, op in NAMESPACES["Tensor"].items() if name not in methods},
        {name: op for name, op in INPLACE.items() if name not in changes},
    )


LATER.append(load_more)
attach(NAMESPACES["Tensor"], INPLACE)
give_out(NAMESPACES)
for _namespace, _names in ops_more.NAMES.items():
    LATE[_namespace] = dict.fromkeys(_names.split(), load_more)
for _name in LATE["Tensor"]:
    setattr(Tensor, _name, Late(_name))
