"""After the forward of a user-defined op: its node is hung between inputs and outputs."""

from __future__ import annotations

from types import FrameType
from typing import Any

from . import provenance
from .attention import attend, packed, saved_hooks
from .copy_slices import rebase_view
from .forbidden import FUNCTION, SEVERAL
from .former import formers, gone, history_of, remember
from .function_node import BackwardCFunction
from .grad_mode import State
from .inplace import check_inplace
from .saved import SavedResult, SavedTensor, keep
from .tensor import Tensor
from .view import View


def own(node: BackwardCFunction, inputs: tuple[Tensor, ...], outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outputs as tensors of their own: an input that is returned as it is becomes a view of itself."""
    if any(all(d is not o for o in outputs) for d in node._dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
            "inplace must all be outputs of the Function."
        )
    found = []
    for o in outputs:
        if isinstance(o, Tensor) and any(o is i for i in inputs) and not any(o is d for d in node._dirty):
            twin = o._without_history()
            twin._view = View(o if o._view is None else o._view.base, () if o._view is None else o._view.cuts, FUNCTION)
            found.append(twin)
        else:
            if isinstance(o, Tensor) and o._view is not None and not any(o is d for d in node._dirty):
                o._view.kind = FUNCTION if len(outputs) == 1 else SEVERAL
            found.append(o)
    return tuple(found)


def record(
    node: BackwardCFunction,
    args: tuple[Any, ...],
    edges: tuple[Any, ...],
    outputs: tuple[Any, ...],
    versions: tuple[int, ...],
) -> None:
    """Hang the node between inputs (with their edges and versions before forward) and outputs, if an input requires grad."""
    inputs = tuple(a for a in args if isinstance(a, Tensor))
    tensors = tuple(o for o in outputs if isinstance(o, Tensor))
    frame = provenance.callers_frame()
    if not any(node.needs_input_grad):
        made = provenance.untracked(node._forward_cls.__name__, inputs, None, frame)
        for o in tensors:
            o._made_by = o._made_by if any(o is i for i in inputs) else made
        return
    fixed = node._not_differentiable
    node._fixed = frozenset(i for i, o in enumerate(outputs) if any(o is f for f in fixed))
    tracked = [o for o in tensors if o._data.dtype.kind in "fc" and not any(o is f for f in fixed)]
    for d in node._dirty:
        if d._view is None and d.is_leaf and d._requires_grad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        check_inplace(d, any(node.needs_input_grad))
        _note_former(d, inputs, versions)
        d._bump_version()
    _place(node, args, edges, outputs, frame)
    node._call.inputs = tuple(_as_given(t, node._dirty) for t in inputs)
    for i, o in enumerate(outputs):
        if any(o is t for t in tracked):
            if o._view is not None and any(o is d for d in node._dirty):
                rebase_view(o, node, history_of(o._view.base, gone(o._view.base)), o._version - 1)
                continue
            o._set_history(node, i)
            if o._view is not None:  # whatever forward did to its memory, this is its history
                o._view.settle()
        if isinstance(o, Tensor):
            o._made_by = node._call
    _keep(node, tensors)
    if State.attentive and tensors:
        attend(node, tensors[0])


def _note_former(dirty: Tensor, inputs: tuple[Tensor, ...], versions: tuple[int, ...]) -> None:
    """Forward has changed an input: what pictures show as the input is what it was."""
    version = next((v for t, v in zip(inputs, versions, strict=True) if t is dirty), 0)
    remember(dirty, history_of(dirty, gone(dirty)), version)


def _as_given(tensor: Tensor, dirty: tuple[Tensor, ...]) -> Tensor:
    """The input as it was before forward."""
    return next(formers(tensor))[0] if any(tensor is d for d in dirty) else tensor


def _place(
    node: BackwardCFunction, args: tuple[Any, ...], edges: tuple[Any, ...], outputs: tuple[Any, ...], frame: FrameType
) -> None:
    """Tell the node what it stands between: edges, the outputs' shapes, and what pictures show."""
    inputs = tuple(a for a in args if isinstance(a, Tensor))
    node._is_tensor = tuple(isinstance(a, Tensor) for a in args)
    node._next, node._index = tuple(e[0] for e in edges), tuple(e[1] for e in edges)
    node._places = tuple(i if isinstance(o, Tensor) else None for i, o in enumerate(outputs))
    metadata: list[Any] = [(o._data.shape, o._data.dtype) if isinstance(o, Tensor) else ((), None) for o in outputs]
    (node._shape, node._dtype), node._others = metadata[0], tuple(metadata[1:]) or None
    node._code, node._lasti = frame.f_code, frame.f_lasti
    node._call = provenance.untracked(node._forward_cls.__name__, inputs, None, frame)
    node._call.node = node


def _keep(node: BackwardCFunction, outputs: tuple[Tensor, ...]) -> None:
    """After forward: remember versions, and keep an output bare (see Note [Own results])."""
    kept: list[Any] = []
    for t in node._kept:
        own = t is not None and t._grad_fn is node and any(t is o for o in outputs)
        saved = SavedResult(t) if own else None if t is None else keep(t)
        saved = SavedTensor(saved) if isinstance(saved, Tensor) else saved
        kept.append(packed(saved, saved_hooks[-1], node) if saved_hooks and saved is not None else saved)
    node._kept = tuple(kept)
