"""How an op saves a value, and how a rule gets it: see Note [How a tensor is saved] in saved.py."""

from __future__ import annotations

from typing import Any

from ..base.kinds import Node
from ..tensor.extra import InferenceCounter
from ..tensor.number import Number
from ..tensor.tensor import Tensor
from .saved import DETACHED_MESSAGE, FREED, FREED_MESSAGE, SavedTensor, modified_message

_SEVERAL, _TENSORS = (list, tuple), (SavedTensor, Tensor)  # for isinstance: `list | tuple` makes an object at every call


def keep(tensor: Tensor | None) -> Any:
    """An input in the form in which a node saves it. See Note [How a tensor is saved]."""
    if tensor is None or (counter := tensor._counter) is None or (counter and not counter[0]):
        return tensor
    if type(tensor._counter) is InferenceCounter:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
            "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    return SavedTensor(tensor)


def keep_option(value: Any) -> Any:
    """An option in the form in which a node saves it. Tensors, alone or in a list, are saved as inputs are."""
    if isinstance(value, Tensor):
        return keep(value)
    if isinstance(value, _SEVERAL):
        for v in value:
            if type(v) is not int and isinstance(v, Tensor):
                return tuple(map(keep_option, value))
    return value


def raw(kept: Any) -> SavedTensor:
    """A saved tensor (or None, FREED) as the object on which hooks are registered."""
    return kept if isinstance(kept, SavedTensor) else SavedTensor(kept)


def unpack(node: Node, kept: Any) -> Any:
    """A saved value for use: a tensor, or a plain value. Refuse one that was freed, or modified in place."""
    if kept is FREED:
        raise RuntimeError(FREED_MESSAGE)
    if isinstance(kept, SavedTensor):
        return kept.unpack(node)
    if isinstance(kept, Tensor):
        if kept._node is None and kept._extra is not None and kept._extra.detached:
            raise RuntimeError(DETACHED_MESSAGE)
        if kept._counter is not None and kept._counter[0]:
            raise RuntimeError(modified_message(kept, 0, None))
        return kept
    if type(kept) is tuple and holds_tensor(kept):
        return tuple(unpack(node, k) for k in kept)
    return kept


def plain(node: Node, kept: Any) -> Any:
    """A saved value for a rule on arrays: an array, a Python number, a plain value."""
    if type(kept) is Tensor and ((counter := kept._counter) is None or not counter[0]) and kept._node is not None:
        return kept._data  # the usual case
    if type(kept) is tuple and not holds_tensor(kept):
        return kept
    return _bare(unpack(node, kept))


def _bare(value: Any) -> Any:
    if isinstance(value, Number):
        return value.value
    if isinstance(value, Tensor):
        return value._data
    return tuple(_bare(v) for v in value) if type(value) is tuple else value


def holds_tensor(kept: Any) -> bool:
    """Does this saved value contain a tensor, alone or in a tuple (the indices of an advanced index)?"""
    if isinstance(kept, tuple):
        for k in kept:  # noqa: SIM110 -- thrice as fast as any()
            if type(k) is not int and holds_tensor(k):
                return True
        return False
    return isinstance(kept, _TENSORS)
