"""The saved tensors of a node, with their versions, until they are freed; how an op saves a value, and how a rule gets it.

# Note [How a tensor is saved]
An input is kept directly if its memory was never changed: its version was 0. Every other input is wrapped in a SavedTensor
with its version. Use of the value raises if the input was changed in place since.

# Note [Own results]
An op's own result is saved without its history. Unpacking gives the history back. Otherwise the result would hold its node
and the node would hold its result: a reference cycle in every graph.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from typing import Any

from ..base.grad_mode import Anomaly, no_grad
from ..base.kinds import Node
from ..tensor.extra import InferenceCounter
from ..tensor.number import Number
from ..tensor.tensor import Tensor, of_array

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)

FREED_HOOKS_MESSAGE = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when "
    "you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second "
    "time or if you need to access saved variables after calling backward."
)
DETACHED_MESSAGE = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use "
    "out-of-place `.detach()` instead"
)


class _Freed:
    """The value that replaces a freed tensor in a node."""

    def __repr__(self) -> str:
        return "freed"


FREED = _Freed()
FORBIDDEN = object()


def op_name(node: Node) -> str:
    """The op of a backward node: "Exp" of ExpBackward0, "Sum1" of SumBackward1."""
    return re.sub(r"Backward0?(\d*)(_copy)?$", r"\1", node.name())


class SavedTensor:
    """An input saved for backward, with its version.

    Attributes:
        tensor: the tensor, or None or FREED; if hooks keep it (`packed`), only its place in the graph.
        version: its version when it was saved.
    """

    __slots__ = ("packed", "tensor", "tracked", "unpack_hook", "version")
    output_nr: int | None = None  # the output index, if it is a result of the node itself

    def __init__(self, tensor: Any = FORBIDDEN) -> None:
        if tensor is FORBIDDEN:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self.tensor: Any = tensor
        self.tracked, self.version = isinstance(tensor, Tensor) and tensor._node is not None, getattr(tensor, "_version", 0)
        self.packed: Any = None
        self.unpack_hook: Callable[[Any], Any] | None = None

    def unpack(self, node: Node) -> Any:
        """The tensor as it was saved. A tensor that hooks keep is not checked for changes in place."""
        self.check(node)
        return self.tensor if self.unpack_hook is None else self._history_of(self._from_hook(), node)

    def check(self, node: Node) -> None:
        """Raise if the tensor was modified or detached in place since it was saved."""
        if self.unpack_hook is not None:
            return
        if self.tracked and self.tensor._node is None:
            raise RuntimeError(DETACHED_MESSAGE)
        if self.tensor._version != self.version:
            raise RuntimeError(modified_message(self.tensor, self.version, None))

    def register_hooks(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        """Let `pack_hook` store the tensor, and `unpack_hook` return it.

        Raises RuntimeError: it already has hooks, or there is no tensor. TypeError: not callable.
        """
        for hook in (pack_hook, unpack_hook):
            if not callable(hook):
                raise TypeError(
                    f"register_hooks(): incompatible function arguments. A hook must be callable, got {type(hook).__name__}"
                )
        if self.unpack_hook is not None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
                "allowed at a time."
            )
        if self.tensor is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if self.tensor is FREED:
            raise RuntimeError(FREED_HOOKS_MESSAGE)
        self.pack(pack_hook, unpack_hook, self.tensor._without_history())

    def pack(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any], given: Tensor) -> None:
        """Give the tensor to `pack_hook`, as `given`, which the hook must not change. Keep the result instead."""
        before = given._version
        with no_grad():
            self.packed = pack_hook(given)
        if given._version != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
                "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
                "to perform in-place operations on the input to a pack hook."
            )
        self.unpack_hook = unpack_hook
        self._let_go()

    def _let_go(self) -> None:
        """Keep only the place in the graph: the hook keeps the values."""
        if not (self.tensor.is_leaf and self.tensor._requires_grad):
            self.tensor = Shell(self.tensor)

    def _from_hook(self) -> Tensor:
        assert self.unpack_hook is not None
        found = self.unpack_hook(self.packed)
        if not isinstance(found, Tensor):
            raise TypeError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(found).__name__}"
            )
        return found

    def _history_of(self, found: Tensor, node: Node) -> Tensor:
        """The tensor from the hook, with the history of the saved tensor."""
        if isinstance(self.tensor, Shell):
            return self.tensor.over(found)
        twin = found._without_history()  # of a leaf: gradients go to the leaf's AccumulateGrad
        twin._requires_grad = self.tensor._requires_grad
        twin._more.accumulator = self.tensor._more.accumulator
        return twin


class SavedResult(SavedTensor):
    """A result of the node itself, saved without the node. See Note [Own results].

    Attributes:
        data: the array.
        counter: the version counter of its memory.
    """

    __slots__ = ("counter", "data", "output_nr")

    def __init__(self, result: Tensor) -> None:
        counter: Any = result._counter
        if counter is None:
            counter = result._counter = [0]
        self.data: Any = result._data
        self.counter, self.version = counter, counter[0] if counter else 0
        self.output_nr = None if result._node is None else result._output_nr
        self.packed, self.unpack_hook = None, None

    @property
    def tensor(self) -> Tensor:
        """The values as a tensor outside the graph."""
        twin = of_array(self.data)
        twin._counter = self.counter
        return twin

    def now(self, changed: Tensor) -> None:
        """The op wrote its result into `changed`: save that, at its present version."""
        self.data, self.counter, self.version = changed._data, changed._shared_counter(), changed._version

    def unpack(self, node: Node) -> Any:
        """The result with the node as its grad_fn."""
        self.check(node)
        return self._history_of(self.tensor if self.unpack_hook is None else self._from_hook(), node)

    def check(self, node: Node) -> None:
        """Raise if the result was modified in place since it was saved."""
        if self.unpack_hook is None and self.counter and self.counter[0] != self.version:
            raise RuntimeError(modified_message(self.tensor, self.version, node))

    def _let_go(self) -> None:
        self.data = None

    def _history_of(self, found: Tensor, node: Node) -> Tensor:
        if self.output_nr is None:
            return found
        twin = found._with_history(node, self.output_nr)
        twin._made_by = node._as_call
        return twin


class Shell:
    """The place in the graph of a saved tensor whose values hooks keep. It does not hold the memory."""

    __slots__ = ("edge", "same")

    def __init__(self, tensor: Tensor) -> None:
        self.edge, self.same = (tensor._node, tensor._output_nr), weakref.ref(tensor)  # same(): the tensor, while it lives

    def over(self, found: Tensor) -> Tensor:
        """`found` with the history of the saved tensor."""
        node, output_nr = self.edge
        if node is not None:
            return found._with_history(node, output_nr)
        return found._without_history() if found.requires_grad else found


def modified_message(tensor: Any, expected: int, node: Node | None) -> str:
    """PyTorch's error message for a saved tensor that was modified in place."""
    maker = tensor.grad_fn or node
    number = tensor.output_nr if isinstance(tensor, Tensor) else 0
    which = f", which is output {number} of {op_name(maker)}," if maker else ""
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was "
        "changed in there or anywhere later. Good luck!"
        if Anomaly.enabled
        else "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{tensor.dtype.legacy}Tensor {list(tensor.shape)}]{which} is at version {tensor._version}; expected version "
        f"{expected} instead. Hint: {hint}"
    )


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
