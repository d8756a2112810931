"""What each PyTorch function is to the recorder: an op, quiet or not, or one of the few calls that need a closer look."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

import torch

QUIET, OP, SKIP, INPLACE, LEFT, BACKWARD, GRAD, SET_GRAD, SET_DATA, SWITCH, HELD, UNSCALE, SHAPED, LIKE, MODE, LOOK = range(16)

T = torch.Tensor
_GET, _SET = "__get__", "__set__"
# properties that give a tensor with a history
_VIEWS = ("T", "mT", "H", "mH", "real", "imag", "data")
_LEFT = (
    "item", "tolist", "numpy", "__array__", "__float__", "__int__", "__bool__", "__complex__", "__index__", "__contains__",
)  # fmt: skip
# functions that give no tensor, or one that needs no note
_NONE = frozenset({
    "__deepcopy__", "__dlpack__", "__dlpack_device__", "__format__", "__hash__", "__len__", "__reduce_ex__", "__repr__",
    "__setstate__", "__str__", "_has_compatible_shallow_copy_type", "_is_view", "_record_function_enter_new",
     "data_ptr", "dim", "element_size", "get_device", "is_complex", "is_conj", "is_contiguous",
    "is_floating_point", "is_grad_enabled", "is_inference", "is_neg", "is_pinned", "is_same_size", "is_set_to", "is_shared",
    "is_signed", "is_tensor", "ndimension", "nelement", "numel", "register_hook", "register_post_accumulate_grad_hook",
    "result_type", "retain_grad", "set_grad_enabled", "size", "storage", "storage_offset", "stride", "sym_numel",
    "sym_size",  "unflatten_", "untyped_storage",
})  # fmt: skip
_INPLACE = (
    "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ipow__", "__ifloordiv__", "__imod__", "__imatmul__", "__setitem__",
)  # fmt: skip
_DESCRIBED = {("grad", _SET): SET_GRAD, ("data", _SET): SET_DATA, ("requires_grad", _SET): SWITCH, ("is_leaf", _GET): HELD,
              ("grad_fn", _GET): LOOK}  # fmt: skip

# ops that never warn without options: they are called at once
_QUIET = frozenset({
    *(f"__{r}{name}__" for name in ("add", "sub", "mul") for r in ("", "r")),
    "__truediv__", "__matmul__", "__neg__", "add", "sub", "mul", "div", "neg", "matmul", "mm", "bmm", "addmm", "linear",
    "relu", "tanh", "sigmoid", "gelu", "exp", "log", "sqrt", "sum", "mean", "view", "reshape", "transpose", "permute",
    "unsqueeze",
})  # fmt: skip

_PASSES = ((T.backward, BACKWARD), (torch.autograd.backward, BACKWARD), (torch.autograd.grad, GRAD))
_NAMED = {
    **dict.fromkeys(_LEFT, LEFT),
    "requires_grad_": SWITCH,
    "_set_grad_enabled": MODE,
    **dict.fromkeys(("view_as", "expand_as", "type_as", "reshape_as"), SHAPED),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "randint_like"), LIKE),
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"), LIKE),
    "_amp_foreach_non_finite_check_and_unscale_": UNSCALE,
}


FUNCTIONS = 10_000  # whose kinds are kept


class Kinds(dict[object, int]):
    """The kind of each function that was called."""

    def __init__(self, fault: Callable[[Exception], None]) -> None:
        self._fault = fault

    def __missing__(self, func: object) -> int:
        try:
            kind = kind_of(func)
        except Exception as error:
            self._fault(error)
            return SKIP
        if len(self) < FUNCTIONS:
            self[func] = kind
        return kind


def kind_of(func: object) -> int:
    """The kind of a function."""
    name = getattr(func, "__name__", "")
    if name in (_GET, _SET):
        owner = getattr(getattr(func, "__self__", None), "__name__", "")
        return _DESCRIBED.get((owner, name), OP if name == _GET and owner in _VIEWS else SKIP)
    if name in _NONE or name.startswith(("_record_function_exit", "is_")):
        return SKIP
    known = next((kind for f, kind in _PASSES if f is func), None) or _NAMED.get(name)
    if known is not None:
        return known
    if name in _QUIET and not isinstance(func, FunctionType):
        return QUIET
    return INPLACE if name in _INPLACE or (name.endswith("_") and not name.endswith("__")) else OP
