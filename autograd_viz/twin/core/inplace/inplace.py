"""In-place ops: what is allowed, the version counter, and the new history."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backward.instrumentation import about_to_write
from ..backward.saved import SavedResult
from ..base.grad_mode import State, no_grad, recording
from ..base.memory import check_overlap, elements_overlap, is_dense, turns
from ..base.provenance import note_change
from ..base.quiet import quiet
from ..op.primitive_node import PrimitiveNode
from ..op.view import NORMAL, why_forbidden
from ..ops.elementwise import arithmetic, augmented, rounding
from ..ops.shape import shape
from ..tensor import InferenceCounter, Tensor, check_broadcast
from ..tensor.former import as_it_is, forget_history, formers, history_of, remember
from .copy_slices import rebase_view

_DEPRECATED = (
    "Use of {}_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This also "
    "applies to advanced indexing e.g. tensor[{}"
)
_ON_EXPANDED = {"masked_fill": "mask] = scalar", "index_fill": "mask] = scalar", "index_put": "indices] = tensor"}


def check_inplace(tensor: Tensor, requires_grad: bool) -> None:
    """Refuse a recorded change of a leaf that requires grad, of a view of one, or of a view whose history would be wrong."""
    if type(tensor._counter) is InferenceCounter and not State.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
            "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    if not recording() or not (requires_grad or _wants_gradient(tensor)):
        return
    if (view := tensor._view) is not None:
        if view.kind != NORMAL:
            raise RuntimeError(why_forbidden(tensor, view.kind))
        if _wants_gradient(tensor) and view.base.is_leaf:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if _wants_gradient(tensor) and tensor._node is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")


def _wants_gradient(value: Any) -> bool:
    """`requires_grad` of an operand. A view's grad_fn is not made again for this."""
    if not isinstance(value, Tensor):
        return False
    return value._requires_grad or (value._view is not None and value._view.base._requires_grad)


def run_inplace(self: Tensor, op: Callable[..., Any], *operands: Any, **options: Any) -> Tensor:
    """Write `op(self, *operands)` into the memory of `self`, unless elements share memory. The op becomes its history."""
    recorded = any(map(_wants_gradient, (*operands, *options.values())))
    check_inplace(self, recorded)
    if recording() and (recorded or _wants_gradient(self)):
        for t in (self, *operands):  # as in PyTorch, edges are looked up before the computation
            if isinstance(t, Tensor) and t._view is not None:
                t._view.refresh(t)
    if op.__name__ in _ON_EXPANDED and elements_overlap(self._data):
        warnings.warn(_DEPRECATED.format(op.__name__, _ON_EXPANDED[op.__name__]), UserWarning, stacklevel=3)
    else:
        check_overlap(self._data)
    for operand in operands:
        if isinstance(operand, Tensor) and operand is not self and _share(self, operand):
            _check_partial_overlap(self._data, operand._data)
    return _run(self, op, *operands, **options)


def fill_inplace(self: Tensor, op: Callable[..., Any], *operands: Any, **options: Any) -> Tensor:
    """`run_inplace` for an op that may write to elements that share memory, because all of them get one value."""
    check_inplace(self, any(map(_wants_gradient, (*operands, *options.values()))))
    if any(isinstance(t, Tensor) and not _is_same(self._data, t._data) for t in operands):
        check_overlap(self._data)
    return _run(self, op, *operands, **options)


def _run(self: Tensor, op: Callable[..., Any], *operands: Any, **options: Any) -> Tensor:
    """Run the op on a copy of `self`, so that saved tensors keep the old values."""
    if not recording():
        _write(self, op(Tensor(self._data), *operands, **options), op, operands, options)
        return self
    version = self._counter[0] if self._counter else 0
    old = history_of(self, Tensor(self._data.copy("K")))
    old_base = None if self._view is None else as_it_is(self._view.base)
    result = op(old, *operands, **options)
    _write(self, result, op, operands, options)
    _rebase(self, old, old_base, result, version)
    return self


def _share(a: Tensor, b: Tensor) -> bool:
    """May they share memory? The result of `.data` does, with its own version counter."""
    own, other = (x._data if x._data.base is None else x._data.base for x in (a, b))
    return a._counter is b._counter is not None or own is other


def _check_partial_overlap(written: Any, read: Any) -> None:
    """Refuse to read from memory that is being written, except the same elements in the same order."""
    same = written.ctypes.data == read.ctypes.data and written.strides == read.strides and written.nbytes == read.nbytes
    if not same and is_dense(written) and is_dense(read) and np.may_share_memory(written, read):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def _is_same(a: Any, b: Any) -> bool:
    """Are they the same elements in the same order?"""
    mine, others = ((x.ctypes.data, x.strides, x.shape, x.dtype) for x in (a, b))
    return bool(mine == others)


def _write(self: Tensor, result: Tensor, op: Callable[..., Any], operands: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Write the values of the result into the memory of `self`. Elements that share a place are computed in turn."""
    if result._data.shape != self._data.shape:
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(result.shape)}")
    if not np.can_cast(result._data.dtype, self._data.dtype, "same_kind"):
        raise RuntimeError(f"result type {result.dtype.legacy} can't be cast to the desired output type {self.dtype.legacy}")
    about_to_write(self._data)
    made_by = result._made_by
    first, *later = (True,) if self._data.flags.forc else turns(self._data)
    if elements_overlap(self._data):  # an element that stays must not undo the change of another one
        first = (result._data != self._data) & ((result._data == result._data) | (self._data == self._data))
    quiet.run(np.copyto, self._data, result._data, casting="unsafe", where=first)
    for turn in later:
        with no_grad():
            result = op(Tensor(self._data), *operands, **options)
        quiet.run(np.copyto, self._data, result._data, casting="unsafe", where=turn)
    self._bump_version()
    note_change(self, None if made_by is None else made_by.at)


def _rebase(self: Tensor, old: Tensor, old_base: Tensor | None, result: Tensor, version: int) -> None:
    """Make the op the history of `self`, and of its base if `self` is a view."""
    inner, made_by = result._node, result._made_by
    remember(self, old, version)
    if inner is not None and old_base is not None:
        rebase_view(self, inner, old_base, version)
    elif inner is not None or result._node is not self._node:
        self._requires_grad, self._node, self._output_nr = result._requires_grad, inner, result._output_nr
    if isinstance(inner, PrimitiveNode):  # if it saves its own result, it saves the changed memory, at its new version
        for kept in (getattr(inner, slot) for slot in inner.slots):
            if isinstance(kept, SavedResult) and kept.unpack_hook is None:
                kept.now(self)
    if self._view is None or inner is None:
        self._made_by = made_by
    if made_by is not None:  # a tensor multiplied by itself: the input is the old tensor
        made_by.inputs = tuple(old if t is self else t for t in made_by.inputs)
    self._keep_retaining(old._node, old._output_nr)


def in_place(op: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """The method that writes the result of `op` into its first operand."""
    run = fill_inplace if name == "fill_" else run_inplace

    def method(self: Tensor, *operands: Any, **options: Any) -> Tensor:
        return run(self, op, *operands, **options)

    method.__name__, method.__doc__ = name, f"In place: {op.__doc__}"
    return method


def _copied(self: Tensor, src: Tensor) -> Any:
    """The values that `copy_` writes: `src` in the shape of `self`."""
    check_broadcast(self, src)
    together = np.broadcast_shapes(self._data.shape, src._data.shape)
    if together != self._data.shape:
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(together)}")
    return shape.copy_into(self, src)


# fmt: off
def add_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """self += alpha * other."""
    return run_inplace(self, arithmetic.add, other, alpha=alpha)
def sub_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """self -= alpha * other."""
    return run_inplace(self, arithmetic.sub, other, alpha=alpha)
def mul_(self: Tensor, other: Any) -> Tensor:
    """self *= other."""
    return run_inplace(self, arithmetic.mul, other)
def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """self /= other."""
    return run_inplace(self, rounding.div, other, **({"rounding_mode": rounding_mode} if rounding_mode else {}))
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """self[...] = src, a tensor."""
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    return (fill_inplace if _is_same(self._data, src._data) else run_inplace)(self, _copied, src)
def zero_(self: Tensor) -> Tensor:
    """All elements 0."""
    return fill_inplace(self, augmented.zero)
def detach_(self: Tensor) -> Tensor:
    """Leave the graph: no grad_fn, does not require grad. Raises RuntimeError: the tensor is a view."""
    if self._view is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
            "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
            "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
            "torch/optim/optimizer.py as the solution."
        )
    if self._node is not None:
        self._shared_counter()  # make the counter, so that a node that saved the tensor compares versions
        first = next(reversed([t for t, _ in formers(self)]), self)
        self._more.detached |= first._node is not None
        extra = self._node._extra
        self._more.hooks = extra.tensor_hooks.get(self._output_nr) if extra is not None else None  # now a leaf's
    forget_history(self)
    self._node, self._requires_grad, self._output_nr = None, False, 0
    return self
# fmt: on
