"""Puts the ops on Tensor: operators, methods, and the argument forms that PyTorch accepts."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import hooks, inplace, interchange, provenance
from .arguments import check_dim
from .backward import backward as run_backward_pass
from .dtypes import dtype, float32, float64, int64
from .missing import tensor_getattr
from .ops import reduction, shape
from .primitive import Primitive
from .printing import tensor_text
from .public import INPLACE, NAMESPACES
from .tensor import Tensor


def _sizes(sizes: tuple[Any, ...], numel: int) -> tuple[int, ...]:
    """`(2, 3)` from view(2, 3), view((2, 3)) or view(2, -1)."""
    if len(sizes) == 1 and isinstance(sizes[0], list | tuple):
        sizes = tuple(sizes[0])
    if any(s < -1 for s in sizes):
        raise RuntimeError(f"invalid shape dimension {min(sizes)}")
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in sizes:
        known = 1
        for s in sizes:
            known *= s if s != -1 else 1
        sizes = tuple(numel // known if s == -1 and known else s for s in sizes)
    total = 1
    for s in sizes:
        total *= s
    if total != numel:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {numel}")
    return tuple(int(s) for s in sizes)


def view(self: Tensor, *sizes: Any) -> Any:
    """The same memory in another shape.

    Raises:
        RuntimeError: the element counts differ, or the memory does not allow it.
    """
    size = _sizes(sizes, self.numel())
    if not np.shares_memory(self._data, self._data.reshape(size)) and self.numel():
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return shape.view_sizes(self, size=size)


def reshape(self: Tensor, *sizes: Any) -> Any:
    """Another shape: a view if the memory allows, else a copy."""
    size = _sizes(sizes, self.numel())
    if self.numel() and not np.shares_memory(self._data, self._data.reshape(size)):
        return shape.unsafe_view(shape.clone(self), size=size)
    return shape.view_sizes(self, size=size)


def expand(self: Tensor, *sizes: Any) -> Any:
    """Repeat along dimensions of length 1; -1 keeps a length."""
    wanted = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    lead = len(wanted) - self.ndim
    size = tuple(self.shape[i - lead] if s == -1 else s for i, s in enumerate(wanted))
    for i, (have, want) in enumerate(zip(self.shape, size[max(lead, 0) :], strict=False)):
        if lead < 0 or have not in (1, want):
            raise RuntimeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) at non-singleton dimension "
                f"{i + lead}.  Target sizes: {list(size)}.  Tensor sizes: {list(self.shape)}"
            )
    return shape.expand_sizes(self, size=size)


def squeeze(self: Tensor, dim: int | None = None) -> Any:
    """Without dimensions of length 1, or without `dim` if it is one."""
    if dim is None:
        return shape.squeeze_all(self)
    return shape.squeeze_dim(self, dim=check_dim(dim, self.ndim))


def unsqueeze(self: Tensor, dim: int) -> Any:
    """A new dimension of length 1."""
    return shape.unsqueeze(self, dim=check_dim(dim, self.ndim + 1))


def unbind(self: Tensor, dim: int = 0) -> Any:
    """All slices along `dim`, as a tuple of views."""
    if self.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape.unbind_dim(self, dim=check_dim(dim, self.ndim))


def transpose(self: Tensor, dim0: int, dim1: int) -> Any:
    """Two dimensions swapped."""
    return shape.transpose_dims(self, dim0=check_dim(dim0, self.ndim), dim1=check_dim(dim1, self.ndim))


def permute(self: Tensor, *dims: Any) -> Any:
    """Dimensions in another order."""
    given = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], list | tuple) else dims
    if len(given) != self.ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
            f"of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(given)}"
        )
    order = tuple(check_dim(d, self.ndim) % self.ndim for d in given)
    if len(set(order)) != len(order):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return shape.permute_dims(self, dims=order)


def t(self: Tensor) -> Any:
    """Transpose of a matrix.

    Raises:
        RuntimeError: more than two dimensions.
    """
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return shape.t(self)


def select(self: Tensor, dim: int, index: int) -> Any:
    """One slice along `dim`, without that dimension.

    Raises:
        IndexError: out of range.
    """
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = check_dim(dim, self.ndim) % self.ndim
    if not -self.shape[dim] <= index < self.shape[dim]:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {self.shape[dim]}")
    return shape.select(self, dim=dim, index=int(index) % self.shape[dim])


def getitem(self: Tensor, index: Any) -> Any:
    """`x[0]`, `x[1, 2]`: slices by integers.

    Raises:
        IndexError: out of range.
        NotImplementedError: an index that is not made of integers and full slices.
    """
    parts = index if isinstance(index, tuple) else (index,)
    result, dim = self, 0
    for part in parts:
        if isinstance(part, int | np.integer) and not isinstance(part, bool):
            if result.ndim <= dim:
                raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
            result = select(result, dim, int(part))
        elif isinstance(part, slice) and part == slice(None) and len(parts) > 1:
            dim += 1
        else:
            raise NotImplementedError(f"indexing with {part!r} is not in autograd_viz yet; integers and ':' are")
    return result


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
    run_backward_pass(self, gradient, retain_graph, create_graph, inputs=inputs)


def to(self: Tensor, wanted: dtype) -> Any:
    """The values in another type; self if it has that type."""
    return self if self.dtype is wanted else shape.to_copy(self, dtype=wanted)


def type_as(self: Tensor, other: Tensor) -> Any:
    """The values in the type of `other`."""
    return to(self, other.dtype)


# fmt: off
for _names, _op in {
    "sum": reduction.sum, "mean": reduction.mean,
    "view": view, "reshape": reshape, "expand": expand, "squeeze": squeeze, "unsqueeze": unsqueeze, "unbind": unbind,
    "transpose": transpose, "permute": permute, "t": t,
    "select": select,
    "clone": shape.clone, "detach": shape.detach, "__getitem__": getitem, "to": to, "type_as": type_as,
    "backward": backward, "__repr__": tensor_text,
    "float": lambda self: to(self, float32), "double": lambda self: to(self, float64), "long": lambda self: to(self, int64),
    "add_ __iadd__": inplace.add_, "sub_ __isub__": inplace.sub_, "mul_ __imul__": inplace.mul_,
    "div_ __itruediv__": inplace.div_, "zero_": inplace.zero_, "fill_": inplace.fill_, "copy_": inplace.copy_,
    "detach_": inplace.detach_, "register_hook": hooks.register_hook,
    "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
}.items():
    for _name in _names.split():
        setattr(Tensor, _name, _op)
# fmt: on
Tensor.__getattr__ = tensor_getattr  # type: ignore[method-assign]
interchange.bind()
for _name, _op in NAMESPACES["Tensor"].items():
    setattr(Tensor, _name, _op)
for _name, _op in list(vars(Tensor).items()):
    if isinstance(_op, Primitive):
        _op.method_names.append(_name)
for _name, _op in INPLACE.items():
    setattr(Tensor, f"{_name}_", inplace.in_place(_op, f"{_name}_"))
Tensor.T = property(lambda self: permute(self, *reversed(range(self.ndim))))  # type: ignore[attr-defined]
Tensor.mT = property(lambda self: transpose(self, -2, -1))  # type: ignore[attr-defined]
