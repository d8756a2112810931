"""The end of the backward graph: AccumulateGrad of a leaf, and the edge that leads to any tensor."""

from __future__ import annotations

import weakref
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.grad_mode import State
from ..base.memory import check_overlap, copied_like, is_dense
from ..base.provenance import note
from ..base.quiet import quiet
from ..tensor.arguments import check_broadcast
from ..tensor.as_array import Array
from ..tensor.former import remember_before_sum
from ..tensor.tensor import Tensor, of_array
from . import hooks
from .node import LAST_SEQUENCE_NR, SMALL, Node

if TYPE_CHECKING:
    from .node import Edge, Wanted


def _count(grad: Any, more: int = 0) -> int:
    return _count(grad, more - 1) if more else getrefcount(grad)


def _counts_alone() -> tuple[int, int]:
    """The reference counts of an array in `_add` that only a pass holds: in an input buffer, and among a node's results."""
    input_buffers, results = [np.zeros(1)], (np.zeros(1),)
    grads, grad = (input_buffers[0],), results[0]
    return _count(grads[0]), _count(grad, 1)


def _count_alone() -> int:
    """The reference count of a grad in `accumulate` that only its leaf holds."""
    leaf = [np.zeros(1)]
    old = leaf[0]
    return _count(old)


HELD, HELD_BY_RESULTS = _counts_alone()
HELD_BY_LEAF = _count_alone()
_LARGE = (None,), (), False  # `_passed` of a leaf whose gradient is not kept


class AccumulateGrad(Node):
    """The end of a path: adds the gradient to ``variable.grad``.

    # Note [Whose array a gradient is]
    An op may send one array to two leaves, and the user may hold it too. So a leaf's first gradient is a copy.
    If only the pass holds the array, the array itself becomes the gradient.
    """

    __slots__ = ("variable",)
    variable: Tensor
    # the same for every leaf
    _next = _index = ()
    _others = _results = _code = None
    _sequence, _lasti = LAST_SEQUENCE_NR, 0  # it runs as soon as it is ready

    __init__ = object.__init__  # `accumulator` fills the slots

    def name(self) -> str:
        """The name with PyTorch's namespace. The name of the class has none."""
        return "torch::autograd::AccumulateGrad"

    @property
    def is_plain(self) -> bool:
        """True if the leaf has no hooks."""
        extra = self.variable._extra
        return extra is None or not (extra.hooks or extra.post_hooks)

    def vjp(self, grads: Any, wanted: Wanted = None) -> tuple[Any, ...]:
        """`apply` for an array."""
        variable = self.variable
        is_untouched = variable._node is None and variable._view is None
        if grads[0] is not None and (variable._requires_grad if is_untouched else self._is_wanted()):
            self._add(grads[0], HELD)
        return ()

    def pass_on(self, grads: Any, wanted: Wanted, keep_graph: bool) -> tuple[Any, ...]:
        """`apply` in the engine's loop."""
        return self.vjp(grads)

    def vjp_on_tensors(self, grads: Any, wanted: Wanted = None) -> tuple[Any, ...]:
        """`apply` for a tensor."""
        State.in_rule = False
        return self.apply(grads, True)

    def _add(self, grad: Any, held: int) -> None:
        """Accumulate an array. `held`: how often it is held if only the pass holds it."""
        variable = self.variable
        if variable._grad is not None:
            accumulate(variable, grad, False)
        elif grad.size > SMALL and getrefcount(grad) == held and _fits(grad, variable._data):
            variable._grad = of_array(grad)
        else:  # drawings keep small arrays
            variable._grad = of_array(copied_like(grad, variable._data))

    def takes(self, grad: Any, is_large: bool) -> bool:
        """Accumulate the only gradient, which the results of a node still hold. False if user code or an error may follow."""
        variable = self.variable
        if self._extra is not None or variable._node is not None or variable._view is not None or not variable._requires_grad:
            return False
        if (extra := variable._extra) is not None and (extra.hooks or extra.post_hooks):
            return False
        if is_large:
            self._add(grad, HELD_BY_RESULTS)
            self._passed = _LARGE
            return True
        if variable._grad is None:  # the usual case of `_add`
            variable._grad = of_array(copied_like(grad, variable._data))
        else:
            accumulate(variable, grad, False)
        self._passed = (grad,), (), False
        return True

    def apply(self, grads: tuple[Any, ...], on_tensors: bool, wanted: Wanted = None) -> tuple[Any, ...]:
        """Add to an existing `grad`: in place, or out of place in a recorded pass. A first gradient is stored as a copy."""
        variable = self.variable
        if grads[0] is not None and self._is_wanted():
            if on_tensors:
                accumulate(variable, grads[0], True)
            else:
                quiet.run(accumulate, variable, grads[0], False)
        if variable._extra is not None and variable._extra.post_hooks:
            hooks.run_post_accumulate(variable)
        return ()

    def _is_wanted(self) -> bool:
        """Does the leaf still require grad? One that a recorded in-place op has changed is no longer a leaf: it raises."""
        if self.variable.grad_fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        return self.variable._requires_grad


def _fits(grad: Any, like: Array) -> bool:
    """Can this array itself be the gradient of a leaf with the array `like`?"""
    if grad.base is not None or not grad.flags.writeable or grad.dtype != like.dtype:
        return False
    return grad.strides == like.strides if like.flags.c_contiguous or is_dense(like) else bool(grad.flags.c_contiguous)


def accumulate(variable: Tensor, grad: Any, on_tensors: bool) -> None:
    """``variable.grad += grad``. As in PyTorch, the first gradient is copied into the memory order of the leaf."""
    old = variable._grad
    if on_tensors:
        variable._grad = _copied(grad, variable._data) if old is None else old + grad
    elif old is None:
        variable._grad = of_array(copied_like(grad, variable._data))
    else:
        if _count(old) > HELD_BY_LEAF and old._node is None and old._view is None:
            remember_before_sum(old)
        if 0 in old._data.strides:
            check_overlap(old._data)
        try:
            np.add(old._data, grad, out=old._data)
        except ValueError:  # the leaf's shape has changed since
            check_broadcast(old, Tensor(grad))
            raise
        old._bump_version()


def _copied(grad: Tensor, like: Array) -> Any:
    """`copied_like`, recorded. Drawings show the destination of a copy, so its values are zeros."""
    return Tensor(np.zeros_like(like)).copy_(grad) if is_dense(like) else grad.clone(memory_format="contiguous")


def clear_grad(variable: Tensor, set_to_none: bool) -> None:
    """``zero_grad`` for one tensor: grad becomes None, or the same tensor filled with zeros, outside any graph."""
    if (grad := variable._grad) is None:
        return
    if set_to_none:
        note(variable, "zero_grad")
        variable._grad = None
        return
    grad.requires_grad_(False) if grad._node is None else grad.detach_()
    grad.zero_()


def accumulator(leaf: Tensor) -> AccumulateGrad | None:
    """The leaf's AccumulateGrad, shared while a graph holds it. None for a view that requires grad only through its base."""
    if (view := leaf._view) is not None and view.borrowed:
        return None
    extra = leaf._more if leaf._extra is None else leaf._extra
    known: AccumulateGrad | None = None if extra.accumulator is None else extra.accumulator()
    if known is not None:
        return known
    node: AccumulateGrad = AccumulateGrad()
    node.variable, data = leaf, leaf._data
    node._shape, node._dtype, node._extra, node._passed = data.shape, data.dtype, None, None
    extra.accumulator = weakref.ref(node)
    return node


def gradient_edge(tensor: Tensor) -> Edge:
    """The receiver of the gradient of `tensor`: its grad_fn, a leaf's AccumulateGrad, or none."""
    if (tensor._node if tensor._view is None else tensor.grad_fn) is not None:
        return tensor._node, tensor._output_nr
    return (accumulator(tensor), 0) if tensor._requires_grad else (None, 0)
