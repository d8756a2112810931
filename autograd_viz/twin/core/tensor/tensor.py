"""Tensor: a NumPy array with data, grad, grad_fn, is_leaf and requires_grad. `methods.py` puts the ops on the class."""

from __future__ import annotations

import sys
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import provenance
from ..base.grad_mode import State, check_bool
from ..base.kinds import Node, View
from .as_array import Array, AsArray
from .extra import DETACH, NON_LEAF_GRAD_WARNING, NOT_OF_LEAF, Extra, InferenceCounter, check_assigned_grad


class Tensor(AsArray):
    """An array that remembers how it was made.

    Make one with `tensor(...)`, `ones(...)` and similar functions. Tensor itself takes nested lists (in the default type),
    lengths (a shape), or an array, in the default type; a call in this package keeps the array. As in PyTorch, `data` and
    `grad` are Tensors.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_counter", "_data", "_extra", "_grad", "_made_by", "_node", "_output_nr",
        "_requires_grad", "_view",
    )  # fmt: skip
    __array_priority__ = 1000  # `array * tensor` calls Tensor.__rmul__
    __hash__ = object.__hash__  # by identity, because == compares elements
    _is_number = False

    if TYPE_CHECKING:  # methods.py

        def __add__(self, other: Any) -> Any: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __add__
        __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __getitem__ = __add__

        def __neg__(self) -> Any: ...
        def __getattr__(self, name: str) -> Any: ...
        @staticmethod
        def _array_of(data: tuple[Any, ...], is_ours: bool) -> Array: ...

    def __init__(self, *data: Any) -> None:
        is_ours = provenance.is_ours(sys._getframe(1).f_code.co_filename)
        self._data: Array = data[0] if is_ours and data and type(data[0]) is np.ndarray else self._array_of(data, is_ours)
        self._requires_grad, self._output_nr = False, 0
        self._grad: Tensor | None = None
        self._node: Any = None
        self._counter: list[int] | None = None  # [number of in-place changes, *their places]; one for each memory
        self._view: View | None = None
        self._made_by: Any = None  # a provenance.Call, or the node
        self._extra: Extra | None = None
        if State.inference:
            self._counter = InferenceCounter()

    def _without_history(self) -> Tensor:
        """A tensor with the same memory and version, without grad_fn."""
        twin = of_array(self._data)
        twin._counter = self._shared_counter()
        return twin

    def _with_history(self, node: Node, output_nr: int) -> Tensor:
        """A tensor with the same memory and version, as output `output_nr` of `node`."""
        twin = self._without_history()
        twin._requires_grad, twin._node, twin._output_nr = True, node, output_nr
        return twin

    def _set_history(self, node: Node, output_nr: int) -> None:
        """Make this tensor output `output_nr` of `node`."""
        self._requires_grad, self._node, self._output_nr = True, node, output_nr

    def _shared_counter(self) -> list[int]:
        """The version counter, as an object that tensors of the same memory share."""
        if self._counter is None:
            self._counter = [0]
        return self._counter

    def _bump_version(self) -> None:
        counter = self._shared_counter()
        if type(counter) is list:
            counter[0] += 1

    @property
    def _more(self) -> Extra:
        """The rare attributes, made at first use."""
        if self._extra is None:
            self._extra = Extra()
        return self._extra

    @property
    def _events(self) -> tuple[provenance.Event, ...]:
        return () if self._extra is None else provenance.events_of(self._extra.statements)

    @property
    def data(self) -> Tensor:
        """The values as a tensor outside the graph. Autograd does not notice changes to it."""
        return Tensor(self._data)

    @data.setter
    def data(self, values: Tensor) -> None:
        if not isinstance(values, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(values).__name__}")
        if self._requires_grad and values._data.dtype.kind not in "fc":
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        self._data = values._data

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, or None. Reading it on a non-leaf without retain_grad() warns."""
        if self._grad is None and self._node is not None and not self.retains_grad:
            warnings.warn(NON_LEAF_GRAD_WARNING, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_assigned_grad(self, value, Tensor)
        elif self._grad is not None:
            provenance.note(self, "cleared")
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def grad_fn(self) -> Node | None:
        """The backward node of the op that made this tensor, or None for a leaf."""
        if self._view is not None:
            self._view.refresh(self)
        return self._node  # type: ignore[no-any-return]

    @property
    def _grad_fn(self) -> Node | None:
        return self.grad_fn

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")

    @property
    def is_leaf(self) -> bool:
        """True if no recorded op made it."""
        return self.grad_fn is None

    @property
    def requires_grad(self) -> bool:
        """True if gradients flow to it. A view requires grad if its base does."""
        if self._view is not None and (self._view.borrowed or not self._requires_grad):
            return self._view.base._requires_grad and self._data.dtype.kind in "fc"
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if type(value) is not bool:
            raise RuntimeError("requires_grad must be a bool")
        if self.grad_fn is not None:
            raise RuntimeError(NOT_OF_LEAF if value else NOT_OF_LEAF + DETACH)
        if value and self._data.dtype.kind not in "fc":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        self.requires_grad_(value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Record ops on this leaf, or not; return self. Raises RuntimeError: no leaf, or no gradients; TypeError: no bool."""
        check_bool("requires_grad_", "requires_grad", requires_grad)
        if self._node is not None and not requires_grad:
            raise RuntimeError(NOT_OF_LEAF + DETACH)
        if requires_grad and self._data.dtype.kind not in "fc":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and type(self._counter) is InferenceCounter and not State.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if self._view is not None and requires_grad:
            self._view.borrowed = False
        if requires_grad != self._requires_grad:
            self._requires_grad = requires_grad
            provenance.note(self, "requires_grad")
        return self

    def retain_grad(self) -> None:
        """Keep `grad` on this non-leaf. Raises RuntimeError: it does not require grad."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is None or self.retains_grad:  # a stale view too: PyTorch asks before it makes the grad_fn
            return
        node = self.grad_fn
        assert node is not None
        self._more.retains_grad = True
        node._more_of().retains[self._output_nr] = weakref.ref(self)
        provenance.note(self, "retain_grad")

    def _keep_retaining(self, node: Node | None, output_nr: int) -> None:
        """Move retain_grad() from the tensor's old node to its present one."""
        if self.retains_grad and node is not self._node:
            if node is not None:
                node._more_of().retains.pop(output_nr, None)
            self._more.retains_grad = False
            self.retain_grad()

    @property
    def retains_grad(self) -> bool:
        """True for a non-leaf whose `grad` is kept."""
        return self._extra is not None and self._extra.retains_grad

    @property
    def _backward_hooks(self) -> dict[int, Any] | None:
        """The hooks of this tensor by handle number; None if none was ever registered."""
        node = self.grad_fn
        if node is not None:
            return None if node._extra is None else node._extra.tensor_hooks.get(self._output_nr)
        return None if self._extra is None else self._extra.hooks

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: dict[int, Any] | None) -> None:
        node = self.grad_fn
        if node is None:
            self._more.hooks = hooks
        else:
            node._more_of().tensor_hooks[self._output_nr] = hooks or {}

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def output_nr(self) -> int:
        """The index of this tensor among the outputs of its op."""
        return self._output_nr

    @property
    def _version(self) -> int:
        if self._counter is None:
            return 0
        if type(self._counter) is InferenceCounter:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._counter[0]

    @property
    def _base(self) -> Tensor | None:
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    def is_inference(self) -> bool:
        """True if it was made in inference mode."""
        return type(self._counter) is InferenceCounter

    @property
    def volatile(self) -> bool:
        """The predecessor of no_grad in PyTorch. Always False, with a warning."""
        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False

    def __format__(self, spec: str) -> str:
        return format(self.item() if self._data.ndim == 0 else str(self), spec)


def of_array(array: Array, new: Any = object.__new__) -> Tensor:
    """`Tensor(array)` for this package, in a third of the time: it does not ask who calls."""
    tensor: Tensor = new(Tensor)
    tensor._data = array
    tensor._grad = tensor._node = tensor._view = tensor._made_by = tensor._extra = None
    tensor._counter = InferenceCounter() if State.inference else None
    tensor._requires_grad, tensor._output_nr = False, 0
    return tensor
