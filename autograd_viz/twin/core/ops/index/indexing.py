"""`x[...]`, read and written. Basic parts of the key become views, one after the other. Tensors of indices come last."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...backward.instrumentation import writing
from ...base.grad_mode import State
from ...base.provenance import note_change
from ...base.public import public
from ...tensor import Tensor, fitted, refuse_if
from ...tensor.extra import InferenceCounter
from ..shape import shape, slicing
from . import advanced_index

TO_THE_END = slicing.TO_THE_END


@public("Tensor.__getitem__")
def getitem(self: Tensor, key: Any) -> Any:
    """`x[0]`, `x[1:, None]`, `x[mask]`, `x[[0, 2], :, 1]`. Raises IndexError: out of range, or not an index."""
    if type(key) is int and (shape_of := self._data.shape) and -shape_of[0] <= key < shape_of[0]:
        return slicing.select.program(self, dim=0, index=key)
    view, indices = apply_basic(self, parts_of(key), alone=not isinstance(key, tuple))
    if indices:
        return advanced_index.index_tensors(view, indices=indices)
    return shape.alias(view) if view is self else view


@public("Tensor.__setitem__")
def setitem(self: Tensor, key: Any, value: Any) -> None:
    """`x[key] = value`: into a view if the key is basic, else at tensors of indices. Raises TypeError: no tensor or number."""
    value = assigned(self, value)
    if is_plain_element(self, key, value):
        self._data[key] = value._data
        self._bump_version()
        note_change(self)
        return
    if key is False:
        return
    key = None if key is True else key  # a new dimension of length 1, all of which is written
    whole = key is Ellipsis or (isinstance(key, slice) and key == slice(None))
    view, indices = (self, ()) if whole else apply_basic(self, parts_of(key), alone=not isinstance(key, tuple))
    if indices:
        view.index_put_(indices, value if value.shape == short_shape(value) else value.view(short_shape(value)))
    else:
        write(view, value)


def is_plain_element(self: Tensor, key: Any, value: Tensor) -> bool:
    """Is one element written by whole numbers, without history and observers? Then neither a view nor an op is needed."""
    array = self._data
    if type(key) is int:
        inside = array.ndim == 1 and -array.shape[0] <= key < array.shape[0]
    else:
        inside = type(key) is tuple and len(key) == array.ndim and all(
            type(k) is int and -n <= k < n for k, n in zip(key, array.shape, strict=True)
        )  # fmt: skip
    return (
        inside
        and not value._data.ndim
        and value._data.dtype is array.dtype
        and not (self._requires_grad or value._requires_grad or writing or State.inference)
        and type(self._counter) is not InferenceCounter
        and (self._view is None or not self._view.base._requires_grad)
        and (value._view is None or not value._view.base._requires_grad)
        and 0 not in array.strides
    )


def write(view: Tensor, value: Tensor) -> None:
    """Write a value into a view, broadcast to its shape."""
    if value.shape == view.shape:
        view.copy_(value)
    elif value.ndim == 0:
        view.fill_(value)
    else:
        value = value.view(short_shape(value))
        view.copy_(value if value.shape == view.shape else value.expand(view.shape))


def short_shape(value: Tensor) -> tuple[int, ...]:
    """The shape without leading dimensions of length 1."""
    return tuple(itertools.dropwhile(lambda n: n == 1, value.shape))


def assigned(self: Tensor, value: Any) -> Tensor:
    """The assigned value as a tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, bool | int | float | complex | np.number | np.bool_):
        return Tensor(fitted(value, self._data.dtype))
    kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
    raise TypeError(f"can't assign a {kind} to a torch.{self.dtype.legacy}Tensor")


def parts_of(key: Any) -> tuple[Any, ...]:
    """The parts of an index, one per dimension. As in PyTorch, a short list that holds slices or lists means a tuple."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, list) and any(k is None or k is Ellipsis or isinstance(k, list | tuple | slice | Tensor) for k in key):
        return tuple(key)
    return (key,)


def as_tensor_index(part: Any) -> Tensor | None:
    """A list, range, array or tensor as a tensor of indices; None for anything else."""
    if isinstance(part, Tensor):
        return part
    if isinstance(part, np.ndarray):
        return Tensor(part)
    if isinstance(part, list | tuple | range):
        array = np.array([p.item() if isinstance(p, Tensor) else p for p in part])
        return Tensor(array if array.size else array.astype(np.int64))
    return None


def is_integer(part: Any) -> bool:
    """Is it a Python or NumPy integer, or a 0-d tensor of one? A bool is not."""
    if isinstance(part, Tensor):
        return part.ndim == 0 and part._data.dtype.kind in "iu" and part._data.dtype != np.uint8
    return hasattr(part, "__index__") and not isinstance(part, bool | np.bool_ | np.ndarray)


def dims_taken(part: Any) -> int:
    """The number of dimensions that a part of the index uses."""
    if part is None or part is Ellipsis or isinstance(part, bool | np.bool_):
        return 0
    if isinstance(part, Tensor | np.ndarray) and (part.dtype == np.uint8 or str(part.dtype).endswith(("bool", "uint8"))):
        return part.ndim
    return 1


def apply_basic(self: Tensor, parts: tuple[Any, ...], alone: bool) -> tuple[Tensor, tuple[Any, ...]]:
    """The view that integers, slices and None make, and the tensors of indices for its dimensions."""
    taken = sum(dims_taken(p) for p in parts)
    single = alone and (is_integer(parts[0]) or isinstance(parts[0], slice))
    if taken > self.ndim and not single:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    view, dim, indices = self, 0, dict[int, Tensor]()
    for position, part in enumerate(parts):
        if part is Ellipsis:
            dim += self.ndim - taken
        elif part is None:
            view, dim = shape.unsqueeze(view, dim=dim), dim + 1
        elif is_integer(part):
            view = _selected(view, dim, int(part), position)
        elif isinstance(part, slice):
            view, dim = _sliced(view, dim, part, alone), dim + 1
        else:
            view, indices[dim] = _with_tensor(view, dim, part)
            dim += max(indices[dim].ndim, 1) if indices[dim].dtype.name in ("bool", "uint8") else 1
    out: list[Any] = []  # the tensors of indices, with None for the dimensions before and between them
    dim = 0
    for d in sorted(indices):
        out += [None] * (d - dim) + [indices[d]]
        dim = d + (indices[d].ndim if indices[d].dtype.name in ("bool", "uint8") else 1)
    return view, tuple(out)


def _selected(view: Tensor, dim: int, index: int, position: int) -> Tensor:
    """The slice at one index."""
    if view.ndim == 0 and index == 0:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
            "tensor to a number"
        )
    length = view.shape[dim] if dim < view.ndim else 0
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for dimension {position} with size {length}")
    return slicing.select(view, dim=dim, index=index)


def _sliced(view: Tensor, dim: int, part: slice, alone: bool) -> Tensor:
    """Part of a dimension. If the key has other parts, a slice of the whole dimension is skipped."""
    if view.ndim == 0:
        return slicing.slice_dim(view)  # it raises after it has read the view's history
    start, end, step = (p if p is None else _whole(p) for p in (part.start, part.stop, part.step))
    refuse_if(step == 0, "slice step cannot be zero", ValueError)
    if step is not None and step < 0:
        raise ValueError("step must be greater than zero")
    start, end, step = start or 0, TO_THE_END if end is None else end, step or 1
    if start == 0 and end >= view.shape[dim] and step == 1 and not alone:
        return view
    return slicing.slice_dim(view, dim=dim, start=start, end=end, step=step)


def _whole(value: Any) -> int:
    """A bound of a slice as an int."""
    if not isinstance(value, Tensor) and not hasattr(value, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return int(value)


def _with_tensor(view: Tensor, dim: int, part: Any) -> tuple[Tensor, Tensor]:
    """The view and the index tensor of its dimension `dim`. True and False take a new dimension of length 1."""
    if isinstance(part, bool | np.bool_) or (isinstance(part, Tensor) and part.ndim == 0 and part.dtype.name == "bool"):
        return shape.unsqueeze(view, dim=dim), Tensor(np.arange(int(bool(part))))
    found = as_tensor_index(part)
    if found is None:
        refuse_if(isinstance(part, str), "new(): invalid data type 'str'", TypeError)
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
            f"(got {type(part).__name__})"
        )
    return view, found
