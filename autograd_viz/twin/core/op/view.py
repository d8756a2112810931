"""Views: tensors that share the memory of a base, and remember which ops lead to them.

# Note [Views and in-place changes]
A view keeps its base and the ops that lead from the base to it. A change of base or view changes the history of all of
them. The base's new grad_fn is CopySlices (copy_slices.py). A view's grad_fn is made again from the base's when it is next
read. The version counter, which all tensors of one memory share, shows that it is out of date.
"""

from __future__ import annotations

from typing import Any, cast

from ..backward.saved import op_name
from ..base.grad_mode import State, enable_grad, recording
from ..base.quiet import quiet
from ..base.readings import ARRAY_NAMES, TENSOR_NAMES
from ..tensor import InferenceCounter, Tensor
from ..tensor.former import gone, history_of, remember, values_at

# one step from a base to its view: the op, its options, and the output index if it has several
Cut = tuple[Any, dict[str, Any], int | None]

# the kinds of views: changes are allowed, or the reason why not
NORMAL, NO_GRAD, SEVERAL, FUNCTION, INFERENCE = "", "no_grad mode", "several", "function", "inference mode"

_ENDINGS = {
    SEVERAL: "This view is the output of a function that returns multiple views. Such functions do not allow the output views "
    "to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    FUNCTION: "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic "
    "to handle view+inplace would override the custom backward associated with the custom Function, leading to incorrect "
    "gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function.",
    NO_GRAD: "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked).",
}
_ENDINGS[INFERENCE] = _ENDINGS[NO_GRAD].replace("no_grad block", "inference_mode block")


class View:
    """How a view depends on its base, the tensor that owns the memory, which is never a view."""

    __slots__ = ("base", "borrowed", "cuts", "kind", "seen")

    def __init__(self, base: Tensor, cuts: tuple[Cut, ...], kind: str) -> None:
        self.base, self.cuts = base, cuts  # `cuts` are the ops that lead from the base to the view
        self.kind = kind  # why in-place changes are forbidden, if they are (NO_GRAD, SEVERAL, ...)
        self.seen = _version(base)  # the version for which the view's grad_fn is right
        self.borrowed = False  # it requires grad only through its base: ops on it are recorded, but it gets no gradient

    @property
    def is_old(self) -> bool:
        """Has the memory changed since the view's grad_fn was made?"""
        return self.seen != _version(self.base)

    def refresh(self, view: Tensor) -> None:
        """Make the view's grad_fn again if the memory has changed since. The kind of the view may forbid the change."""
        base = self.base
        if self.borrowed or not view._requires_grad:
            view._requires_grad = self.borrowed = base._requires_grad and view._data.dtype.kind in "fc"
        now = base._counter[0] if base._counter else 0
        if now == self.seen:
            return
        if (base._requires_grad or view._node is not None) and view._data.dtype.kind in "fc":
            if self.kind != NORMAL:
                raise RuntimeError(why_forbidden(view, self.kind, indirect=True))
            strided = as_strided_like(base, view)
            old = view._node, view._output_nr
            self._remember(view)
            view._requires_grad, view._node, view._output_nr = True, strided._node, 0
            view._made_by = strided._made_by
            self.borrowed, self.seen = False, now
            view._keep_retaining(*old)

    def _remember(self, view: Tensor) -> None:
        """Remember the view's former value after a change of the base. A change of the view has already noted it."""
        known = None if view._extra is None else view._extra.former
        if known is not None and known.version >= self.seen:
            return
        base = values_at(self.base, self.seen)
        twin = gone(view) if base is None else Tensor(cut(self.cuts, base._data).copy())
        if view._node is None and view._extra is not None:  # a leaf has one AccumulateGrad, before and after
            twin._more.accumulator = view._extra.accumulator
        remember(view, history_of(view, twin), self.seen)

    def settle(self) -> None:
        """Declare the view's present grad_fn right."""
        self.seen = _version(self.base)


def cut(cuts: tuple[Cut, ...], array: Any) -> Any:
    """The part of an array to which the cuts lead. It shares the memory."""
    for primitive, options, index in cuts:
        array = ARRAY_NAMES[primitive.name](array, **options)
        array = array if index is None else array[index]
    return array


def cut_tensor(cuts: tuple[Cut, ...], tensor: Tensor) -> Tensor:
    """The part of a tensor to which the cuts lead, as a view of it."""
    for primitive, options, index in cuts:
        part = primitive(tensor, **options)
        tensor = part if index is None else part[index]
    return tensor


def _version(tensor: Tensor) -> int:
    counter = tensor._counter
    return counter[0] if counter else 0


def as_strided_like(base: Tensor, view: Tensor) -> Any:
    """The view recorded again on its base, as one op, AsStridedBackward0. Ops that change the type come before it."""
    tracked = base._requires_grad
    source = base if tracked else base._without_history().requires_grad_()
    with enable_grad(), quiet.nested():  # a backward may need it during its arithmetic
        strided: Any = source
        for one in cast("View", view._view).cuts:  # strides cannot distinguish a complex number from a pair of real ones
            if strided._data.dtype == view._data.dtype:
                strided = TENSOR_NAMES["as_strided"](strided, view.shape, view.stride(), view.storage_offset())
                break
            strided = cut_tensor((one,), strided)
    if not tracked:  # the base has left the graph (detach_): its views keep theirs, but get no gradient from here
        strided._node._next = (None,)
    return strided


def become_view(result: Tensor, source: Tensor, primitive: Any, options: dict[str, Any], index: int | None = None) -> None:
    """Let the result of a view op share the version counter of its source, and remember its cuts."""
    result._counter = source._shared_counter()
    if primitive.cuts or type(source._counter) is InferenceCounter:
        return
    outside = INFERENCE if State.inference else NO_GRAD
    kind = outside if not recording() else NORMAL if index is None else SEVERAL
    above = source._view
    if above is None:
        result._view = View(source, ((primitive, options, index),), kind)
    else:
        result._view = View(above.base, (*above.cuts, (primitive, options, index)), kind or above.kind)


def why_forbidden(view: Tensor, kind: str, indirect: bool = False) -> str:
    """PyTorch's message for a forbidden change of a view of this kind; `indirect`: through its base or another view."""
    changed = "its base or another view of its base has been" if indirect else "is being"
    output = "" if view._node is None else f"Output {view._output_nr} of {op_name(view._node)} is a view"
    if kind in (NO_GRAD, INFERENCE) or not output:
        made = f"{output} of a view which was" if output else "A view was"
        mode, where = (INFERENCE, "in normal mode") if kind == INFERENCE else (NO_GRAD, "with grad mode enabled")
        what = f"{made} created in {mode} and {changed} modified inplace {where}."
    else:
        what = f"{output} and {changed} modified inplace."
    return f"{what} {_ENDINGS[kind]}" if kind in _ENDINGS else what
