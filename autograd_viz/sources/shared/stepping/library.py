"""What a stepped pass needs to know of one kind of tensor, the core's or PyTorch's; which of them the user has changed; and the
gradients that the user typed or computed, in the form that the engine needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ....graph.model import Document, Number, Value
from ....graph.trace import Rewritten
from ....twin.core.tensor.as_array import Array
from ....twin.core.tensor.tensor import Tensor


class Snapshot(Protocol):
    """Something that a step may change, as it was at one moment."""

    def restore(self) -> None:
        """Restore it."""

    def holds(self) -> bool:
        """Is it unchanged?"""


class Graph(Protocol):
    """What a pass needs from its graph."""

    document: Document
    node_ids: dict[Any, str]

    @property
    def tensors(self) -> dict[str, Any]:
        """The live tensor of each id."""

    def tensor_id(self, tensor: Any) -> str | None:
        """The id of a tensor, or None if it is not part of the graph."""


class Library(NamedTuple):
    """How to ask a tensor of one library."""

    is_tensor: Callable[[Any], bool]  # is a thing one of its tensors?
    value_of: Callable[[Any], Value]  # a tensor or gradient as the document shows it
    grad_of: Callable[[Any], Any]  # its grad
    version_of: Callable[[Any], int]  # its version counter
    # the elements of a small tensor; None if reading them would wait for a device
    numbers_of: Callable[[Any], tuple[Number, ...] | None]
    copy_of: Callable[[Any], Any]  # a gradient as a tensor of the user's, who may change it
    is_grad_enabled: Callable[[], bool]
    set_grad_enabled: Callable[[bool], object]  # is_grad_enabled, set_grad_enabled: the grad mode

    def grad_value(self, tensor: Any) -> Value | None:
        """The tensor's grad as the document shows it."""
        grad = self.grad_of(tensor)
        return None if grad is None else self.value_of(grad)

    def values(self, gradients: Iterable[Any]) -> tuple[Value | None, ...]:
        """Gradients as the document shows them; None where there is none."""
        return tuple([None if g is None else self.value_of(g) for g in gradients])


class Drift:
    """Knows each tensor's grad as the picture shows it: as the last step before the cursor left it."""

    def __init__(self, tensors: Mapping[str, Any], snapshot: Callable[[Any], Any]) -> None:
        self._tensors = tensors
        self._shown = {t: [snapshot(t)] for t in tensors.values()}

    def done(self, snapshots: Iterable[Any]) -> None:
        """A step has run and left these grads."""
        for snapshot in snapshots:
            if snapshot.tensor in self._shown:
                self._shown[snapshot.tensor].append(snapshot)

    def undone(self, snapshots: Iterable[Any]) -> None:
        """That step is taken back: the picture shows the grads from before."""
        for snapshot in snapshots:
            if snapshot.tensor in self._shown:
                self._shown[snapshot.tensor].pop()

    def found(self, among: Iterable[str] | None = None) -> dict[str, Any]:
        """The tensors (of these ids) whose grad has changed since, by id."""
        ids = self._tensors if among is None else self._tensors.keys() & among
        return {id: self._tensors[id] for id in ids if not self._shown[self._tensors[id]][-1].shows()}


class Rewrites:
    """Knows each tensor's data as the picture shows it."""

    def __init__(self, document: Document, tensors: Mapping[str, Any], library: Library) -> None:
        self._tensors, self._library = tensors, library
        self._versions = {id: library.version_of(t) for id, t in tensors.items()}
        self._found: dict[str, Rewritten] = {}
        drawn = {t.id: t for t in document.tensors}
        self._values = {id: drawn[id].value for id, version in self._versions.items() if version == drawn[id].version}

    def found(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors (of these ids) that differ from the picture, by id."""
        ids = self._tensors if among is None else self._tensors.keys() & among
        return {id: self._now(id) for id in ids if self._has_changed(id)}

    def _has_changed(self, id: str) -> bool:
        tensor, value = self._tensors[id], self._values.get(id)
        if self._library.version_of(tensor) != self._versions[id]:
            return True
        if value is None or not value.numbers:
            return False
        numbers = self._library.numbers_of(tensor)  # nan is unequal to itself; its text is equal
        return numbers is not None and numbers != value.numbers and self._library.value_of(tensor).text != value.text

    def _now(self, id: str) -> Rewritten:
        tensor, known = self._tensors[id], self._found.get(id)
        version = self._library.version_of(tensor)
        if known is None or known.value.numbers or known.version != version:  # a large one is summarized once
            self._found[id] = Rewritten(version, self._library.value_of(tensor))
        return self._found[id]


def as_gradient(value: Any, shape: tuple[int, ...], dtype: Any, as_tensor: bool) -> Any:
    """A number (which fills the shape), a nested list, an array or a tensor as a gradient of this shape and type.
    ValueError: its shape differs, or it is not numeric.
    """
    try:
        given = numbers_of(value, is_complex=np.dtype(dtype).kind == "c")
    except (TypeError, ValueError, OverflowError):
        raise refusal(value, shape, dtype) from None
    check_shape(given.shape, shape)
    with np.errstate(over="ignore"):  # a number that is too large becomes inf, as in PyTorch
        array = np.full(shape, given, dtype)
    return Tensor(array) if as_tensor else array


def numbers_of(value: Any, is_complex: bool) -> Array:
    """What the user typed, as an array. TypeError, ValueError, OverflowError: it is not numeric, or complex for a real one."""
    array = np.array(getattr(value, "detach", lambda: value)())
    if array.dtype.kind == "O" and all(isinstance(number, int) for number in array.flat):
        array = array.astype(np.float64)  # whole numbers of more than 64 bits
    if array.dtype.kind not in ("biufc" if is_complex else "biuf"):
        raise TypeError
    return array


def check_shape(given: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Refuse a gradient that is neither one number nor of the wanted shape."""
    if given and tuple(given) != wanted:
        raise ValueError(f"the gradient has shape {list(given)}; this output of the op has shape {list(wanted)}")


def refusal(value: Any, shape: tuple[int, ...], dtype: Any) -> ValueError:
    """The error for a value that is no gradient of this shape and type."""
    try:
        got = f"{value!r:.60}"
    except ValueError:  # Python does not print an integer of more than 4,300 digits
        got = type(value).__name__
    return ValueError(f"expected a number or a nested list of numbers of shape {list(shape)} and {dtype}, got {got}")
