"""Changing a view changes its base.

# Note [Changing a view]
The base's new grad_fn is CopySlices. It sends the view's part of a gradient through the op that changed the view. It passes
the rest on unchanged. The view's own grad_fn is made again (view.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backward.accumulate_grad import gradient_edge
from ..backward.node import Node, Wanted
from ..base.memory import OVERLAP, check_overlap, elements_overlap
from ..op.primitive_node import PrimitiveNode
from ..op.view import cut, cut_tensor
from ..tensor import Tensor, refuse_if
from ..tensor.former import remember


class CopySlices(Node):
    """The backward of a change of a view. `inner`, the op that changed the view, gets its part of the gradient."""

    __slots__ = ("axes", "cuts", "inner", "inputs", "is_folded")

    def __init__(self, base: Tensor, view: Any, inner: Any) -> None:
        edges = (gradient_edge(base), *inner.next_functions[1:])
        super().__init__(edges, ((base._data.shape, base._data.dtype),))
        self.inner, self.cuts = inner, view.cuts  # without the view: it holds the base, and the base holds this node
        self.is_folded = elements_overlap(base._data)
        strides = base._data.strides
        # the cuts fit only memory in the base's order
        self.axes = tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))
        self.inputs = inner._as_call.inputs
        self._code, self._lasti = inner._code, inner._lasti

    def name(self) -> str:
        """The name with PyTorch's namespace. The name of the class has none."""
        return "torch::autograd::CopySlices"

    @property
    def op(self) -> str:
        """The op that changed the view."""
        return str(self.inner._as_call.op)

    @property
    def options(self) -> dict[str, Any]:
        """The op's other arguments by name."""
        return dict(self.inner._as_call.options)

    def apply(self, grads: tuple[Any, ...], on_tensors: bool, wanted: Wanted = None) -> tuple[Any, ...]:
        """Take the view's part out of the gradient, send it through `inner`, and put the result back."""
        if grads[0] is None:
            return (None,) * len(self._next)
        refuse_if(self.is_folded, OVERLAP)
        memory = np.zeros([self._shape[d] for d in self.axes], self._dtype).transpose(np.argsort(self.axes))
        whole: Any = memory
        if on_tensors:
            whole = Tensor(memory).copy_(grads[0])
            part = cut_tensor(self.cuts, whole)
            results = self.inner.apply((part.clone(),), True)
            part.copy_(results[0]) if results[0] is not None else part.zero_()
        else:
            memory[...] = grads[0]
            part = cut(self.cuts, whole)
            results = self.inner.apply((part.copy(),), False)
            check_overlap(part)
            part[...] = 0 if results[0] is None else results[0]
        return (whole if self._next[0] is not None else None, *results[1:])

    def _saved(self) -> dict[str, Any]:
        return dict(self.inner._saved())

    def _release(self) -> None:
        self.inner._release()

    def _remember(self) -> tuple[Any, ...]:
        return (self._passed, self.inner._remember())

    def _recall(self, remembered: tuple[Any, ...]) -> None:
        self._passed = remembered[0]
        self.inner._recall(remembered[1])


def rebase_view(view: Tensor, inner: Any, old_base: Tensor, version: int) -> None:
    """The op of `inner` has changed a view (see Note [Changing a view]). Its base was `old_base`, at `version`."""
    assert view._view is not None
    base = view._view.base
    remember(base, old_base, version)
    cut_by = view._node
    if isinstance(cut_by, PrimitiveNode) and cut_by.inputs[0] is base:  # it read the base before the change. The base now
        cut_by.inputs = (old_base, *cut_by.inputs[1:])  # leads to it, so each would keep the other alive
    node = CopySlices(base, view._view, inner)
    node.inputs = tuple(old_base if t is base else t for t in node.inputs)
    old = base._node, base._output_nr
    base._requires_grad, base._node, base._output_nr, base._made_by = True, node, 0, node
    base._keep_retaining(*old)
    view._view.refresh(view)
