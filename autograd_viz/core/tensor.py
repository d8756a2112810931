"""Tensor: a NumPy array with the five attributes that autograd is about: data, grad, grad_fn, is_leaf, requires_grad.

Its operators and methods are the ops; `methods.py` puts them on the class.
"""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import provenance
from .dtypes import dtype, from_numpy_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .node import AccumulateGrad, Node

Array = np.ndarray[Any, Any]

NON_LEAF_GRAD_WARNING = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
    ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
    "Tensor instead."
)


class Size(tuple[int, ...]):
    """The shape of a tensor."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def numel(self) -> int:
        """The number of elements."""
        n = 1
        for length in self:
            n *= length
        return n


class Tensor:
    """An array that remembers how it was made.

    Make one with `tensor(...)`, `ones(...)` and the like. `data` and `grad` are Tensors, as in PyTorch; the NumPy array
    is `numpy()`.
    """

    __slots__ = (
        "__weakref__", "_accumulator", "_base", "_counter", "_data", "_events", "_grad", "_grad_fn", "_is_number",
        "_made_by", "_output_nr", "_requires_grad", "_retains_grad",
    )  # fmt: skip
    __array_priority__ = 1000  # let `array * tensor` be decided here
    __hash__ = object.__hash__  # by identity: == compares elements

    if TYPE_CHECKING:  # methods.py
        __add__: Callable[[Any, Any], Any]
        __mul__: Callable[[Any, Any], Any]

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, data: Any) -> None:
        self._data: Array = data if type(data) is np.ndarray else np.asarray(data)
        self._requires_grad = False
        self._grad: Tensor | None = None
        self._grad_fn: Node | None = None
        self._output_nr = 0
        self._counter = [0]  # changes in place so far; views of one memory share the list
        self._base: Tensor | None = None
        self._retains_grad = False
        self._is_number = False
        self._made_by: provenance.Call | None = None
        self._events: tuple[provenance.Event, ...] = ()
        self._accumulator: weakref.ref[AccumulateGrad] | None = None

    @classmethod
    def _of(cls, data: Any) -> Tensor:
        """A leaf that holds this very array."""
        return Tensor(data)

    def _without_history(self) -> Tensor:
        """The same memory and version, no grad_fn."""
        twin = Tensor(self._data)
        twin._counter, twin._is_number = self._counter, self._is_number
        return twin

    def _with_history(self, node: Node, output_nr: int) -> Tensor:
        """The same memory and version, as output `output_nr` of `node`'s op."""
        twin = self._without_history()
        twin._requires_grad, twin._grad_fn, twin._output_nr = True, node, output_nr
        return twin

    def _set_history(self, node: Node, output_nr: int) -> None:
        """Become output `output_nr` of `node`'s op, if the type has gradients at all."""
        if self._data.dtype.kind in "fc":
            self._requires_grad, self._grad_fn, self._output_nr = True, node, output_nr

    def _share_storage(self, base: Tensor, cut: bool) -> None:
        """Become a view of `base`: one version counter for both; a cut one does not belong to its graph."""
        self._base = None if cut else base if base._base is None else base._base
        self._counter = base._counter

    def _bump_version(self) -> None:
        self._counter[0] += 1

    # -- the five attributes ------------------------------------------------------------------------------------------

    @property
    def data(self) -> Tensor:
        """The values as a tensor outside the graph; a change to it is not noticed by autograd."""
        return Tensor(self._data)

    @data.setter
    def data(self, values: Tensor) -> None:
        if not isinstance(values, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(values).__name__}")
        if self._requires_grad and not values.dtype.is_floating_point:
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        self._data = values._data

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated so far, or None. Reading it on a non-leaf that does not retain it warns."""
        if self._grad_fn is not None and self._grad is None and not self._retains_grad:
            warnings.warn(NON_LEAF_GRAD_WARNING, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
            if value.shape != self.shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(self.shape)}'. "
                    "Please ensure that the gradient and the tensor are the same size"
                )
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if value.dtype is not self.dtype:
                raise RuntimeError(
                    f"attempting to assign a gradient with dtype '{value.dtype}' to a tensor with grad_dtype '{self.dtype}'"
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_fn(self) -> Node | None:
        """The backward node of the op that made this tensor, or None for a leaf."""
        return self._grad_fn

    @property
    def is_leaf(self) -> bool:
        """True if no recorded op made it."""
        return self._grad_fn is None

    @property
    def requires_grad(self) -> bool:
        """True if gradients flow to it."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    # -- what one may do to them --------------------------------------------------------------------------------------

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start (or stop) recording ops on this leaf; returns self.

        Raises:
            RuntimeError: it is not a leaf, or its type has no gradients.
        """
        if self._grad_fn is not None and not requires_grad:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if bool(requires_grad) != self._requires_grad:
            self._requires_grad = bool(requires_grad)
            provenance.note(self, "requires_grad")
        return self

    def retain_grad(self) -> None:
        """Keep `grad` on this non-leaf too.

        Raises:
            RuntimeError: it does not require grad.
        """
        if not self._requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._grad_fn is None or self._retains_grad:
            return
        self._retains_grad = True
        retains = self._grad_fn._retains or {}
        self._grad_fn._retains = {**retains, self._output_nr: weakref.ref(self)}
        provenance.note(self, "retain_grad")

    @property
    def retains_grad(self) -> bool:
        """True for a non-leaf whose `grad` is kept."""
        return self._retains_grad and self._grad_fn is not None

    @property
    def output_nr(self) -> int:
        """Which output of its op this tensor is."""
        return self._output_nr

    @property
    def _version(self) -> int:
        return self._counter[0]

    # -- as an array --------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The length of each dimension."""
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one dimension."""
        return self.shape if dim is None else self._data.shape[dim]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim

    def numel(self) -> int:
        """The number of elements."""
        return self._data.size

    @property
    def dtype(self) -> dtype:
        """The element type."""
        return from_numpy_dtype(self._data.dtype)

    def numpy(self) -> Array:
        """The NumPy array, sharing memory.

        Raises:
            RuntimeError: the tensor requires grad.
        """
        if self._requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._data

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def tolist(self) -> Any:
        """The values as nested Python lists, or a number."""
        return self._data.tolist()

    def item(self) -> Any:
        """The one value as a Python number.

        Raises:
            RuntimeError: there is not exactly one element.
        """
        if self._data.size != 1:
            raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
        return self._data.item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __bool__(self) -> bool:
        if self._data.size != 1:
            what = "no values" if self._data.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self._data.item())

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __format__(self, spec: str) -> str:
        return format(self.item() if self._data.ndim == 0 else str(self), spec)
