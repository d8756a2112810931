"""Why some views must not be changed in place, in PyTorch's words."""

from __future__ import annotations

from ..backward.saved import op_name
from ..tensor.tensor import Tensor

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


def why_forbidden(view: Tensor, kind: str, indirect: bool = False) -> str:
    """The error message for a forbidden change of a view.

    Args:
        view: the view.
        kind: its kind (SEVERAL, NO_GRAD, ...).
        indirect: the change was made through its base or another view.
    """
    changed = "its base or another view of its base has been" if indirect else "is being"
    output = "" if view._node is None else f"Output {view._output_nr} of {op_name(view._node)} is a view"
    if kind in (NO_GRAD, INFERENCE) or not output:
        made = f"{output} of a view which was" if output else "A view was"
        mode, where = (INFERENCE, "in normal mode") if kind == INFERENCE else (NO_GRAD, "with grad mode enabled")
        what = f"{made} created in {mode} and {changed} modified inplace {where}."
    else:
        what = f"{output} and {changed} modified inplace."
    return f"{what} {_ENDINGS[kind]}" if kind in _ENDINGS else what
