"""After the forward of a user-defined op: connect its node to inputs and outputs."""

from __future__ import annotations

import warnings
from typing import Any

from ..backward.instrumentation import attend, packed
from ..backward.saved import SavedResult, SavedTensor, keep
from ..base import provenance
from ..base.grad_mode import State, recording, saved_hooks
from ..inplace.copy_slices import rebase_view
from ..inplace.inplace import check_inplace, detach_
from ..op.view import FUNCTION, SEVERAL, View
from ..tensor.former import formers, gone, history_of, remember
from ..tensor.tensor import Tensor
from .function_node import BackwardCFunction

NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
    "inplace must all be outputs of the Function."
)
NOT_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be passed to "
    "ctx.mark_dirty()."
)
SEVERAL_OF_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one "
    "Tensor. This is not supported by the current autograd engine. You should either make sure the input is not a view (using "
    ".clone() for example) or make your Function only return one Tensor (potentially splitting it into two Functions: one "
    "doing the inplace that returns a single Tensor and a second one that does the other operations). You can ask on the forum "
    "https://discuss.pytorch.org/ if you need help to do this change."
)


def record(
    node: BackwardCFunction, args: tuple[Any, ...], edges: tuple[Any, ...], values: tuple[Any, ...], versions: tuple[int, ...]
) -> tuple[Any, ...]:
    """The result of forward for the caller. If an input requires grad, the node becomes its grad_fn.

    The node is the ctx that forward has filled, with these arguments; `values` are its result. Edges and versions are those of
    the tensors among `args`, before forward.
    """
    inputs = tuple(a for a in args if isinstance(a, Tensor))
    node._check_marks()
    for d in node._dirty:
        d._bump_version()
    tracked = recording() and any(node.needs_input_grad)
    differentiable = [isinstance(v, Tensor) and v._data.dtype.kind in "fc" for v in values]
    node._fixed = frozenset(
        i for i, v in enumerate(values) if not (tracked and differentiable[i] and not _among(v, node._not_differentiable))
    )
    if tracked:
        _check_dirty(node, inputs, values)
    if not all(_among(d, values) for d in node._dirty):
        raise RuntimeError(NOT_RETURNED)
    outputs = tuple(_own(node, i, v, inputs) for i, v in enumerate(values))
    if len(values) - len(node._fixed) > 1:
        for o in outputs:
            if isinstance(o, Tensor) and o._view is not None:
                o._view.kind = SEVERAL
    if tracked:
        _hang(node, args, edges, outputs, versions)
    else:
        made = provenance.untracked(node._forward_cls.__name__, inputs, None, provenance.callers_frame())
        for o in outputs:
            if isinstance(o, Tensor) and not _among(o, inputs):
                o._made_by = made
    return outputs


def _among(tensor: Any, tensors: tuple[Any, ...]) -> bool:
    return any(tensor is t for t in tensors)


def _check_dirty(node: BackwardCFunction, inputs: tuple[Tensor, ...], values: tuple[Any, ...]) -> None:
    """Refuse in-place changes that would break the history: of a leaf, of a view among several outputs, ..."""
    for i, v in enumerate(values):
        if i in node._fixed or not _among(v, node._dirty):
            continue
        if v._node is None and v.requires_grad:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if not _among(v, inputs):
            if v._view is not None:
                raise RuntimeError(NOT_INPUT)
            warnings.warn(NOT_INPUT, UserWarning, stacklevel=4)
        if v._view is not None and len(values) > 1:
            raise RuntimeError(SEVERAL_OF_VIEW)
        check_inplace(v, True)


def _own(node: BackwardCFunction, index: int, value: Any, inputs: tuple[Tensor, ...]) -> Any:
    """One value as an output of the op. An input that is returned itself becomes a view of itself."""
    if not isinstance(value, Tensor):
        return value
    is_input, is_dirty = _among(value, inputs), _among(value, node._dirty)
    if index in node._fixed and value.requires_grad:
        if is_input:
            value = value.detach()
        elif value._view is None:
            detach_(value)
    elif is_input and not is_dirty:
        given, value = value, value._without_history()
        base, cuts = (given, ()) if given._view is None else (given._view.base, given._view.cuts)
        value._view = View(base, cuts, FUNCTION)
    if value._view is not None and not (is_input and is_dirty):
        value._view.kind = FUNCTION
    return value


def _hang(
    node: BackwardCFunction, args: tuple[Any, ...], edges: tuple[Any, ...], outputs: tuple[Any, ...], versions: tuple[int, ...]
) -> None:
    """Connect the node to its inputs (with their edges and versions before forward) and outputs. Note the data for pictures."""
    inputs = tuple(a for a in args if isinstance(a, Tensor))
    tensors = tuple(o for o in outputs if isinstance(o, Tensor))
    for d in node._dirty:  # pictures show its value before the change
        version = next((v for t, v in zip(inputs, versions, strict=True) if t is d), 0)
        remember(d, history_of(d, gone(d)), version)
    frame = provenance.callers_frame()
    node._is_tensor = tuple(isinstance(a, Tensor) for a in args)
    node._next, node._index = tuple(e[0] for e in edges), tuple(e[1] for e in edges)
    node._places = tuple(i if isinstance(o, Tensor) else None for i, o in enumerate(outputs))
    metadata: list[Any] = [(o._data.shape, o._data.dtype) if isinstance(o, Tensor) else ((), None) for o in outputs]
    (node._shape, node._dtype), node._others = metadata[0] if metadata else ((), None), tuple(metadata[1:]) or None
    node._code, node._lasti = frame.f_code, frame.f_lasti
    node._call = provenance.untracked(node._forward_cls.__name__, inputs, None, frame)
    node._call.node = node
    node._call.inputs = tuple(next(formers(t))[0] if _among(t, node._dirty) else t for t in inputs)
    for i, o in enumerate(outputs):
        if i not in node._fixed:
            _set_history(node, i, o)
        elif isinstance(o, Tensor):
            o._made_by = node._call
    _keep(node, tensors)
    if State.attentive and tensors:
        attend(node, tensors[0])


def _set_history(node: BackwardCFunction, index: int, output: Tensor) -> None:
    """Make the node the grad_fn of the output. If forward changed a view, its base changes too."""
    old = output._node, output._output_nr
    view = output._view
    if view is not None and _among(output, node._dirty):
        rebase_view(output, node, history_of(view.base, gone(view.base)), output._version - 1)
        return
    output._set_history(node, index)
    output._made_by = node._call
    if view is not None:  # this is its history, whatever forward did to its memory
        view.settle()
    output._keep_retaining(*old)


def _keep(node: BackwardCFunction, outputs: tuple[Tensor, ...]) -> None:
    """After forward: remember versions, and save an output without its history (see Note [Own results])."""
    kept: list[Any] = []
    to_save, node._to_save = node._to_save, ()  # an output in it would make a reference cycle
    for t in to_save:
        own = t is not None and t._node is node and _among(t, outputs)
        saved = SavedResult(t) if own else None if t is None else keep(t)
        saved = SavedTensor(saved) if isinstance(saved, Tensor) else saved
        kept.append(packed(saved, saved_hooks[-1], node) if saved_hooks and saved is not None else saved)
    node._kept = tuple(kept)
