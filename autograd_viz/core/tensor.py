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
from .grad_mode import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .former import Former
    from .node import AccumulateGrad, Node
    from .view import View

Array = np.ndarray[Any, Any]

NON_LEAF_GRAD_WARNING = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
    ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)

SCALAR_WARNING = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
_said_once: set[str] = set()  # warnings that PyTorch gives once in the life of a process


class Size(tuple[int, ...]):
    """The shape of a tensor."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return Size(part) if isinstance(index, slice) else part

    def numel(self) -> int:
        """The number of elements."""
        n = 1
        for length in self:
            n *= length
        return n


class Extra:
    """What few tensors have: hooks, a retained gradient, events, the leaf's AccumulateGrad."""

    __slots__ = ("accumulator", "detached", "events", "former", "hooks", "post_hooks", "retains_grad")

    def __init__(self) -> None:
        self.accumulator: weakref.ref[AccumulateGrad] | None = None  # weak: the node holds the leaf
        self.events: tuple[provenance.Event, ...] = ()
        self.hooks: dict[int, Any] | None = None
        self.post_hooks: dict[int, Any] | None = None
        self.retains_grad = False
        self.former: Former | None = None  # what the tensor was before a change in place
        self.detached = False  # in place, after being saved by a node


class InferenceCounter(list[int]):
    """Stands where the version counter is, in a tensor made in inference mode."""


class Tensor:
    """An array that remembers how it was made.

    Make one with `tensor(...)`, `ones(...)` and the like; Tensor itself makes one of nested lists in the default type, or, of
    lengths, one of that shape, and holds an array as it is. `data` and `grad` are Tensors, as in PyTorch; the NumPy array is
    `numpy()`.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_counter", "_data", "_extra", "_grad", "_grad_fn", "_made_by", "_output_nr",
        "_requires_grad", "_view",
    )  # fmt: skip
    __array_priority__ = 1000  # let `array * tensor` be decided here
    __hash__ = object.__hash__  # by identity: == compares elements
    _is_number = False

    if TYPE_CHECKING:  # methods.py

        def __add__(self, other: Any) -> Any: ...

        __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __add__
        __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __getitem__ = __add__

        def __neg__(self) -> Any: ...

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, *data: Any) -> None:
        self._data: Array = data[0] if data and type(data[0]) is np.ndarray else _array_of_user(data)
        self._requires_grad = False
        self._grad: Tensor | None = None
        self._grad_fn: Node | None = None
        self._output_nr = 0
        self._counter: list[int] | None = None  # changes in place so far (None: 0); tensors of one memory share the list
        self._view: View | None = None
        self._made_by: provenance.Call | Node | None = None
        self._extra: Extra | None = None
        if State.inference:
            self._counter = InferenceCounter()

    def _without_history(self) -> Tensor:
        """The same memory and version, no grad_fn."""
        twin = Tensor(self._data)
        twin._counter = self._shared_counter()
        return twin

    def _with_history(self, node: Node, output_nr: int) -> Tensor:
        """The same memory and version, as output `output_nr` of `node`'s op."""
        twin = self._without_history()
        twin._requires_grad, twin._grad_fn, twin._output_nr = True, node, output_nr
        return twin

    def _set_history(self, node: Node, output_nr: int) -> None:
        """Become output `output_nr` of `node`'s op."""
        self._requires_grad, self._grad_fn, self._output_nr = True, node, output_nr

    def _shared_counter(self) -> list[int]:
        """The version counter as an object that another tensor of the same memory can share."""
        if self._counter is None:
            self._counter = [0]
        return self._counter

    def _bump_version(self) -> None:
        counter = self._shared_counter()
        if type(counter) is list:
            counter[0] += 1

    @property
    def _more(self) -> Extra:
        """The rare attributes, made when first wanted."""
        if self._extra is None:
            self._extra = Extra()
        return self._extra

    @property
    def _events(self) -> tuple[provenance.Event, ...]:
        return () if self._extra is None else self._extra.events

    @property
    def _retains_grad(self) -> bool:
        return self._extra is not None and self._extra.retains_grad

    # -- the five attributes ------------------------------------------------------------------------------------------

    @property
    def data(self) -> Tensor:
        """The values as a tensor outside the graph; a change to it is not noticed by autograd."""
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
        """The gradient accumulated so far, or None. Reading it on a non-leaf that does not retain it warns."""
        if self._grad is None and self._grad_fn is not None and not self._retains_grad:
            warnings.warn(NON_LEAF_GRAD_WARNING, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_assigned_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def grad_fn(self) -> Node | None:
        """The backward node of the op that made this tensor, or None for a leaf."""
        if self._view is not None:
            self._view.refresh(self)
        return self._grad_fn

    @property
    def is_leaf(self) -> bool:
        """True if no recorded op made it."""
        return self.grad_fn is None

    @property
    def requires_grad(self) -> bool:
        """True if gradients flow to it; a view does if its base does."""
        if self._view is not None and (self._view.borrowed or not self._requires_grad):
            return self._view.base._requires_grad and self._data.dtype.kind in "fc"
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if self.grad_fn is not None:
            hint = (
                ""
                if value
                else " If you want to use a computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
            raise RuntimeError(f"you can only change requires_grad flags of leaf variables.{hint}")
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
        if requires_grad and self._data.dtype.kind not in "fc":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if requires_grad and type(self._counter) is InferenceCounter and not State.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        if self._view is not None and requires_grad:
            self._view.borrowed = False
        if bool(requires_grad) != self._requires_grad:
            self._requires_grad = bool(requires_grad)
            provenance.note(self, "requires_grad")
        return self

    def retain_grad(self) -> None:
        """Keep `grad` on this non-leaf too.

        Raises:
            RuntimeError: it does not require grad.
        """
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        node = self.grad_fn
        if node is None or self._retains_grad:
            return
        self._more.retains_grad = True
        node._more_of().retains[self._output_nr] = weakref.ref(self)
        provenance.note(self, "retain_grad")

    def _keep_retaining(self, node: Node | None, output_nr: int) -> None:
        """retain_grad() follows the tensor from what was its node to what is its node now."""
        if self._retains_grad and node is not self._grad_fn:
            if node is not None:
                node._more_of().retains.pop(output_nr, None)
            self._more.retains_grad = False
            self.retain_grad()

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

    # -- as an array --------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The length of each dimension."""
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of one dimension.

        Raises:
            IndexError: there is no such dimension.
        """
        if dim is None:
            return self.shape
        if not -self._data.ndim <= dim < self._data.ndim:
            if self._data.ndim == 0:
                raise IndexError("Dimension specified as 0 but tensor has no dimensions")
            bounds = f"[{-self._data.ndim}, {self._data.ndim - 1}]"
            raise IndexError(f"Dimension out of range (expected to be in range of {bounds}, but got {dim})")
        return self._data.shape[dim]

    def stride(self, dim: int | None = None) -> Any:
        """How many elements apart neighbours lie, in each dimension or in one."""
        steps = tuple(n // self._data.itemsize for n in self._data.strides)
        return steps if dim is None else steps[dim]

    def storage_offset(self) -> int:
        """How many elements into the base's memory the first element lies."""
        base = self._view.base if self._view is not None else self
        return int((self._data.ctypes.data - base._data.ctypes.data) // self._data.itemsize)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self._data.ctypes.data)

    def is_contiguous(self) -> bool:
        """True if the elements lie in memory row after row."""
        return bool(self._data.flags.c_contiguous)

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

    nelement = numel

    def element_size(self) -> int:
        """Bytes per element."""
        return self._data.itemsize

    @property
    def dtype(self) -> dtype:
        """The element type."""
        return from_numpy_dtype(self._data.dtype)

    def is_floating_point(self) -> bool:
        """True for float16, float32 and float64."""
        return bool(self._data.dtype.kind == "f")

    def is_complex(self) -> bool:
        """True for complex64 and complex128."""
        return bool(self._data.dtype.kind == "c")

    def numpy(self, *, force: bool = False) -> Array:
        """The NumPy array, sharing memory.

        Args:
            force: detach first instead of refusing.

        Raises:
            RuntimeError: the tensor requires grad.
        """
        if self._requires_grad and State.enabled and not force:
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
        if self._requires_grad and SCALAR_WARNING not in _said_once:
            _said_once.add(SCALAR_WARNING)
            warnings.warn(SCALAR_WARNING, UserWarning, stacklevel=2)
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self._data.dtype.kind not in "iub" or self._data.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

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

    def __contains__(self, element: Any) -> bool:
        return bool((self._data == (element._data if isinstance(element, Tensor) else element)).any())

    def __format__(self, spec: str) -> str:
        return format(self.item() if self._data.ndim == 0 else str(self), spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  "
                "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, "
                "see https://github.com/pytorch/pytorch/pull/103001"
            )
        if id(self) not in memo:
            twin = type(self).__new__(type(self))
            Tensor.__init__(twin, self._data.copy())
            memo[id(self)] = twin
            twin._requires_grad = self._requires_grad
            twin.__dict__.update(self.__dict__)
            if self._grad is not None:
                twin._grad = Tensor(self._grad._data.copy())
        known: Tensor = memo[id(self)]
        return known

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (type(self), self._data, self._requires_grad, dict(self.__dict__))


def _array_of_user(data: tuple[Any, ...]) -> Array:
    """What ``Tensor(...)`` means to a user: the values of a nested list, or a shape."""
    if len(data) == 1 and isinstance(data[0], np.generic | np.ndarray):
        return np.asarray(data[0])
    from .creation import array_or_shape

    return array_or_shape(data)


def _rebuilt(kind: type[Tensor], data: Array, requires_grad: bool, attributes: dict[str, Any]) -> Tensor:
    """A leaf from its pickled parts."""
    twin = kind.__new__(kind)
    Tensor.__init__(twin, data)
    twin._requires_grad = requires_grad
    twin.__dict__.update(attributes)
    return twin


class Number(Tensor):
    """A Python number as an operand: a 0-d tensor that stays weak in type promotion.

    Attributes:
        value: the number itself.
    """

    __slots__ = ("value",)
    __hash__ = object.__hash__
    _is_number = True
    # what every number is; nothing but the value is stored
    _grad = _grad_fn = _counter = _view = _made_by = _extra = None
    _requires_grad = False
    _output_nr = 0

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def _data(self) -> Array:  # type: ignore[override]
        kind = type(self.value)
        return np.array(self.value, np.int64) if kind is int else np.array(self.value)


def check_assigned_grad(tensor: Tensor, value: Any) -> None:
    """Refuse what cannot be the gradient of `tensor`.

    Raises:
        TypeError: no tensor.
        RuntimeError: another shape or type, or the tensor itself.
    """
    if not isinstance(value, Tensor):
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
