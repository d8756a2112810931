"""What flows between the parts of a frame: from its entrance, from part to part, to its exit."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from ..graph.model import Document, Shape
from .cards import REARRANGING, Card, only_rearranges
from .numbers import Norms, together

ENTRANCE, EXIT = -1, -2  # of a frame, where the place of a part is meant


@dataclass(frozen=True, slots=True)
class Flow:
    """Tensors that lead from one part of a frame to a later one.

    Attributes:
        source, target: places of parts in the frame; ENTRANCE, EXIT.
        shape: of the tensor, None if there are several.
        rearranged: how many ops on the way only rearrange.
        gradient: the norm of what came back on this way; None if it is not known.
    """

    source: int
    target: int
    shape: Shape | None
    rearranged: int
    gradient: float | None


class Flows:
    """The flows of each frame of a document.

    Args:
        document: the graph.
        norms: of a pass through it.
    """

    def __init__(self, document: Document, norms: Norms) -> None:
        self.document, self.norms = document, norms
        self._tensors = {t.id: t for t in document.tensors}
        self._maker = {t: i for i, op in enumerate(document.ops) for t in op.outputs if t is not None}
        self._users: dict[str, list[int]] = defaultdict(list)
        for i, op in enumerate(document.ops):
            for operand in op.inputs:
                if operand.tensor is not None:
                    self._users[operand.tensor].append(i)

    def parts(self, frame: Card) -> list[Card]:
        """What is drawn in an open card: all but what is folded into arrows."""
        return [item for item in frame.items if not only_rearranges(self.document, item)]

    def of(self, frame: Card) -> list[Flow]:
        """The flows between the parts of a frame, in the order of the program."""
        parts = self.parts(frame)
        place = {i: k for k, part in enumerate(parts) for i in part.ops()}
        ways: dict[tuple[int, int], dict[str, tuple[int, list[int]]]] = defaultdict(dict)
        for i in frame.ops():
            if i not in place:
                continue
            for operand in self.document.ops[i].inputs:
                if operand.tensor is None:
                    continue
                source, folded = self._source(operand.tensor, place, frame)
                if source is not None and source != place[i]:
                    ways[source, place[i]].setdefault(operand.tensor, (folded, []))[1].append(i)
        for tensor, folded, source in self._leaving(frame, place):
            ways[source, EXIT].setdefault(tensor, (folded, []))
        return [self._flow(way, tensors, frame) for way, tensors in sorted(ways.items(), key=_in_order)]

    def _source(self, tensor: str, place: dict[int, int], frame: Card) -> tuple[int | None, int]:
        """The part that made a tensor, looked for behind ops that only rearrange; None for a leaf that is no input."""
        folded = 0
        while True:
            maker = self._maker.get(tensor)
            if maker is None or maker < frame.first or maker >= frame.last:
                t = self._tensors[tensor]
                is_input = maker is not None or (t.name is not None and t.name.isidentifier() and not t.requires_grad)
                return (ENTRANCE if is_input else None), folded
            if maker in place:
                return place[maker], folded
            before = [o.tensor for o in self.document.ops[maker].inputs if o.tensor is not None]
            if not before or self.document.ops[maker].name not in REARRANGING:
                return None, folded
            tensor, folded = before[0], folded + 1

    def _leaving(self, frame: Card, place: dict[int, int]) -> list[tuple[str, int, int]]:
        """Tensors that ops behind the frame use, or that nothing uses any more, and the part that made them."""
        found = []
        for i in frame.ops():
            for tensor in self.document.ops[i].outputs:
                if tensor is None:
                    continue
                users = self._users.get(tensor, [])
                if any(u >= frame.last for u in users) or (not users and tensor in self.document.roots):
                    source, folded = self._source(tensor, place, frame)
                    if source is not None and source != ENTRANCE:
                        found.append((tensor, folded, source))
        return found

    def _flow(self, way: tuple[int, int], tensors: dict[str, tuple[int, list[int]]], frame: Card) -> Flow:
        shapes = {self._tensors[t].value.shape for t in tensors}
        if way[1] == EXIT:
            gradient = together(self.norms.arrived(t) for t in tensors)
        else:
            gradient = together(
                self.norms.along(t, frozenset(n for u in users if (n := self.document.ops[u].node) is not None))
                for t, (_, users) in tensors.items()
                if self._tensors[t].requires_grad
            )
        folded = sum(n for n, _ in tensors.values())
        return Flow(*way, shapes.pop() if len(shapes) == 1 else None, folded, gradient)


def _in_order(item: tuple[tuple[int, int], object]) -> tuple[int, float]:
    (source, target), _ = item
    return source, float("inf") if target == EXIT else target
