"""Changing a view changes its base.

# Note [Changing a view]
The base's new grad_fn is CopySlices: it sends the part of a gradient that belongs to the view through the op that changed it,
and the rest straight on. The view's own grad_fn is made anew (view.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backward.accumulate_grad import gradient_edge
from ..backward.node import Node
from ..base.memory import OVERLAP, check_overlap, elements_overlap
from ..op.former import remember
from ..op.primitive_node import PrimitiveNode
from ..op.view import cut, cut_tensor
from ..tensor.tensor import Tensor


class CopySlices(Node):
    """The backward of changing a view: its part of the gradient goes through `inner`, the op that changed it."""

    __slots__ = ("axes", "cuts", "inner", "inputs", "is_folded")

    def __init__(self, base: Tensor, view: Any, inner: Any) -> None:
        edges = (gradient_edge(base), *inner.next_functions[1:])
        super().__init__(edges, ((base._data.shape, base._data.dtype),))
        self.inner, self.cuts = inner, view.cuts  # not the view: the base that it holds holds this node
        self.is_folded = elements_overlap(base._data)
        strides = base._data.strides
        # the cuts fit memory in the base's order only
        self.axes = tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))
        self.inputs = inner._as_call.inputs
        self._code, self._lasti = inner._code, inner._lasti

    def name(self) -> str:
        """The name with PyTorch's namespace; the class is plain CopySlices."""
        return "torch::autograd::CopySlices"

    @property
    def op(self) -> str:
        """The op that changed the view."""
        return str(self.inner._as_call.op)

    @property
    def options(self) -> dict[str, Any]:
        """The op's other arguments by name."""
        return dict(self.inner._as_call.options)

    def apply(self, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """Cut the view's part out of the gradient, send it through `inner`, and put back what comes out.

        Raises:
            RuntimeError: the gradient, laid out in memory as the base, would have elements that share it.
        """
        if grads[0] is None:
            return (None,) * len(self._next)
        if self.is_folded:
            raise RuntimeError(OVERLAP)
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
        """What `inner` saved."""
        saved: dict[str, Any] = self.inner._saved()
        return saved

    def _release(self) -> None:
        """Free what `inner` saved."""
        self.inner._release()

    def _remember(self) -> tuple[Any, ...]:
        """What passed, here and in `inner`."""
        return (self._passed, self.inner._remember())

    def _recall(self, remembered: tuple[Any, ...]) -> None:
        """Put both back."""
        self._passed = remembered[0]
        self.inner._recall(remembered[1])


def rebase_view(view: Tensor, inner: Any, old_base: Tensor, version: int) -> None:
    """A view was changed by the op of `inner` (see Note [Changing a view]); its base was `old_base`, at `version`."""
    assert view._view is not None
    base = view._view.base
    remember(base, old_base, version)
    cut_by = view._grad_fn
    if isinstance(cut_by, PrimitiveNode) and cut_by.inputs[0] is base:  # it has read what the base was; and the base as it is
        cut_by.inputs = (old_base, *cut_by.inputs[1:])  # now leads to it: each would keep the other alive
    node = CopySlices(base, view._view, inner)
    node.inputs = tuple(old_base if t is base else t for t in node.inputs)
    old = base._grad_fn, base._output_nr
    base._requires_grad, base._grad_fn, base._output_nr, base._made_by = True, node, 0, node
    base._keep_retaining(*old)
    view._view.refresh(view)
