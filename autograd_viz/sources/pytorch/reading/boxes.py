"""Which tensors of a PyTorch graph are one box of the document, and what is known of each.

A tensor with a grad_fn is an output of a node, whichever Python objects stand for it. A leaf is itself. Any other tensor is
known only to the recorder, and becomes another box with every in-place change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ....graph import model
from ...shared.storages import others_in
from .handles import Event, Handle, current, is_parameter, version_of
from .nodes import Metadata, edge_of, grad_fn_of, is_leaf, stand_in
from .values import is_plain, not_told, outline_of, overwritten, unknown, value_of


@dataclass(slots=True)
class Box:
    """A tensor of the document."""

    edge: tuple[Any, int] | None  # (grad_fn, which output); None for a leaf
    tensor: Any = None  # the tensor, if it is alive
    handle: Handle | None = None  # what the recorder has seen
    saved: Any = None  # the saved tensor that shows its value, if a node has one
    order: tuple[int, int, int] = (-1, 0, 0)

    @property
    def maker(self) -> Event | None:
        """The op that made it, if it was recorded."""
        return self.handle.maker if self.handle is not None else None

    @property
    def known(self) -> Any:
        """A tensor with its elements, or None."""
        if self.handle is not None and self.handle.values is not None:
            return self.handle.values
        return self.tensor if self.tensor is not None else self.saved

    def shows(self, t: torch.Tensor) -> bool:
        """Does `value` show the memory of this tensor?"""
        source = self.tensor if self.edge is None and self.tensor is not None else self.known
        if source is None or (self.handle is not None and self.handle.is_overwritten) or not (is_plain(source) and is_plain(t)):
            return False
        return bool(source is t or (source.data_ptr() == t.data_ptr() and _layout(source) == _layout(t)))

    def value(self, outputs_of: Callable[[Any], tuple[Metadata, ...]]) -> model.Value:
        """Its elements as they were when it was made, if they are known."""
        if self.handle is not None and self.handle.is_overwritten:
            return overwritten(self.handle.shape, self.handle.dtype)
        if (elements := self.elements) is not None:
            return value_of(elements)
        if self.handle is not None:
            return unknown(self.handle.shape, self.handle.dtype) if self.handle.is_told else not_told()
        node, output = self.edge  # type: ignore[misc]
        looks = outputs_of(node)[output : output + 1]  # before PyTorch 2.5 there may be none
        return unknown(looks[0].shape, looks[0].dtype) if looks and looks[0].is_known else not_told()

    @property
    def elements(self) -> Any:
        """A tensor with its elements as they were when it was made; None if they are not known."""
        if self.handle is not None and self.handle.is_overwritten:
            return None
        is_leaf = self.edge is None and self.tensor is not None
        return self.tensor if is_leaf and not (self.handle is not None and self.handle.has_copy_of(self.tensor)) else self.known

    def outline(self, outputs_of: Callable[[Any], tuple[Metadata, ...]]) -> model.Value:
        """Its shape and dtype, without its elements; a leaf has its elements."""
        source = self.tensor if self.tensor is not None else self.known
        return self.value(outputs_of) if self.edge is None or source is None else outline_of(source)

    @property
    def requires_grad(self) -> bool:
        """Does it require grad?"""
        if self.edge is not None:
            return True
        return bool(self.tensor.requires_grad) if self.tensor is not None else bool(self.handle and self.handle.requires_grad)


class Boxes:
    """The boxes of one graph, by the key that equal tensors share."""

    def __init__(self) -> None:
        self.by_key: dict[Any, Box] = {}  # by (node, output), by a leaf, or by a handle
        self._saved: dict[Any, Box] = {}  # by a saved tensor without a history
        self._handles: dict[Any, Handle] = {}  # the latest handle of each live tensor without a grad_fn

    def __iter__(self) -> Iterator[Box]:
        return iter(self.by_key.values())

    def at(self, node: object, output_nr: int) -> Box:
        """The box of an output."""
        return self.by_key.setdefault((node, output_nr), Box((node, output_nr)))

    def of(self, tensor: object) -> Box:
        """The box of a tensor. It is made at the first request."""
        box = self.find(tensor)
        if box is None:
            known = current(tensor)
            if grad_fn_of(stand_in(tensor)) is not None:
                box = self.at(*edge_of(tensor))
            elif known is not None and not known.is_leaf:
                return self.of_handle(known, None)
            else:
                box = self.by_key.setdefault(tensor, Box(None, handle=known))
        if box.tensor is None and (box.handle is None or box.edge is None or box.handle.ref() is tensor):
            box.tensor = tensor
        return box

    def is_result(self, box: Box, handle: Handle) -> None:
        """Note that the tensor of a box, which has no history, is the result of an op."""
        del self.by_key[box.tensor]
        self.by_key[handle], self._handles[box.tensor], box.handle = box, handle, handle

    def is_saved(self, tensor: Any, box: Box) -> None:
        """Note that a saved tensor, which has no history, is the one of a box."""
        box.saved = tensor
        self._saved[tensor] = box

    def find(self, tensor: object) -> Box | None:
        """The box of a tensor, or None."""
        if grad_fn_of(stand_in(tensor)) is not None:
            return self.by_key.get(edge_of(tensor))
        handle = self._handles.get(tensor)
        return self.by_key.get(tensor) or self._saved.get(tensor) or (None if handle is None else self.by_key.get(handle))

    def of_handle(self, handle: Handle, node: object) -> Box:
        """The box of a recorded tensor; `node` is its grad_fn, if that is alive."""
        live = handle.ref()
        if node is not None and handle.edge is not None:
            box = self.at(node, handle.edge[1])
            if live is not None and grad_fn_of(live) is node:
                box.tensor = live
        elif handle.is_leaf and live is not None and is_leaf(live):
            box = self.of(live)
        else:
            if is_parameter(live) and handle.maker is None:  # every op that reads a parameter has its own handle
                known = self._handles.get(live, handle)
                handle = known if known.version == handle.version else handle
            box = self.by_key.setdefault(handle, Box(None))
            if live is not None and is_leaf(live):
                self._handles[live] = handle
                box.tensor = live if version_of(live) == handle.version else None
        box.handle = box.handle or handle
        return box


def sharers(boxes: Iterable[Box], id_of: Callable[[Box], str]) -> dict[str, tuple[str, ...]]:
    """For each box, by id, the ids of the boxes that share its memory."""
    groups: dict[tuple[Any, int], list[str]] = {}
    for box in boxes:
        t = box.tensor if box.tensor is not None else box.saved
        if t is not None and is_plain(t) and t.numel():
            groups.setdefault((t.device, t.untyped_storage().data_ptr()), []).append(id_of(box))
    return others_in(groups.values())


def _layout(t: torch.Tensor) -> tuple[Any, ...]:
    return t.shape, t.stride(), t.dtype, t.is_conj(), t.is_neg()
