"""What flows between the parts of a frame: from its entrance, from part to part, to its exit.

A way may be cut: by `detach()`, `.data`, `no_grad`. The values go on, no gradient comes back.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from ... import words
from ...graph.model import NOT_TOLD, Document, Shape
from .cards import Card, only_rearranges
from .index import Index
from .ink import shortened
from .numbers import Place, together

ENTRANCE, EXIT = -1, -2  # of a frame, where the place of a part is meant
LONGEST = 30  # letters of the code that cuts
SHAPED = re.compile(r"New[A-Z]|.*Like$")  # ops that take a shape: no value goes through `randn_like(mu)`
DISTINCT = ("bool", "int", "uint")  # numbers that have no gradient anyway


@dataclass(frozen=True, slots=True)
class Flow:
    """Tensors that lead from one part of a frame to a later one."""

    id: str  # "f12.0": of the frame's card, and which
    source: int
    target: int  # source, target: places of parts in the frame; ENTRANCE, EXIT
    name: str  # of the tensor, where it enters the program
    shape: Shape | None  # of the tensor, None if there are several
    rearranged: int  # how many ops on the way only rearrange
    places: tuple[Place, ...]  # where the gradient is that comes back on this way
    # other ways of a tensor add to that gradient: several ops on this way use it, and others too. Their share never exists.
    is_sum: bool = False
    tensors: tuple[str, ...] = ()  # their ids
    origins: tuple[str, ...] = ()  # what entered the program, where they come from its entrance
    cut: int | None = None  # the op that cut it off from what needs grad, if all of it is cut off

    def gradient(self, known: Mapping[Place, float]) -> float | None:
        """The norm of what came back on this way; None if it is not known."""
        return together(known, self.places)


@dataclass
class _Way:
    """What goes from one part to another: by tensor, ops on its way that only rearrange, and the ops that take it; what it was
    before them, and which of these are parameters.
    """

    tensors: dict[str, tuple[int, list[int]]] = field(default_factory=dict)
    leaves: list[str] = field(default_factory=list)
    origins: dict[str, None] = field(default_factory=dict)

    def add(self, tensor: str, folded: int, user: int | None = None) -> None:
        self.tensors.setdefault(tensor, (folded, []))[1].extend([] if user is None else [user])


class Flows:
    """The flows of each frame of a document."""

    def __init__(self, index: Index) -> None:
        self.index, self.ops = index, index.document.ops
        self._cuts = cuts_of(index.document)
        self._known: dict[str, list[Flow]] = {}

    def parts(self, frame: Card) -> list[Card]:
        """What is drawn in an open card: all but what is folded into arrows."""
        return [item for item in frame.items if not only_rearranges(self.index, item)]

    def of(self, frame: Card) -> list[Flow]:
        """The flows between the parts of a frame, in the order of the program."""
        if frame.id not in self._known:
            self._known[frame.id] = self._made(frame)
        return self._known[frame.id]

    def _made(self, frame: Card) -> list[Flow]:
        parts = self.parts(frame)
        place = {i: k for k, part in enumerate(parts) for i in part.ops()}
        end = len(parts) - 1 if parts and parts[-1].kind == "root" else EXIT
        ways: dict[tuple[int, int], _Way] = defaultdict(_Way)
        for i, part in place.items():
            for t in self.index.taken[i]:
                source, folded, first = self._source(t.id, place, frame)
                if source is not None and source != part:
                    ways[source, part].add(t.id, folded, i)
                    ways[source, part].origins[first] = None
                    ways[source, part].leaves += [first] if folded and self.index.is_part(self.index.tensors[first]) else []
        for tensor, folded, source in self._leaving(frame, place):
            ways[source, end].add(tensor, folded)
        sources = {source for source, _ in ways} if self._cuts else ()
        own = {k: {i for i in frame.ops() if place.get(i, k) == k} for k in sources}
        in_order = sorted(ways, key=lambda ends: (ends[0], ends[1] == EXIT, ends[1]))
        return [self._flow(f"f{frame.id[1:]}.{k}", ends, ways[ends], own.get(ends[0], ())) for k, ends in enumerate(in_order)]

    def _source(self, tensor: str, place: dict[int, int], frame: Card) -> tuple[int | None, int, str]:
        """The part that made a tensor, looked for behind ops that only rearrange; None for a parameter or a constant, unless
        such ops are all that takes it. How many these are, and the tensor before them.
        """
        folded = 0
        while True:
            maker = self.index.maker.get(tensor)
            if maker is None or maker < frame.first or maker >= frame.last:
                return (ENTRANCE if maker is not None or self._is_input(tensor, folded) else None), folded, tensor
            if maker in place:
                return place[maker], folded, tensor
            before = self.index.taken[maker]
            if not before or not self.index.rearranges(maker):
                return None, folded, tensor
            tensor, folded = before[0].id, folded + 1

    def _is_input(self, tensor: str, folded: int) -> bool:
        """A leaf that the model was given: no parameter or buffer, unless only ops that rearrange take it. Without a name,
        it was there before the program.
        """
        t = self.index.tensors[tensor]
        if folded and t.requires_grad and self.index.is_part(t):
            return True
        if t.name is not None:
            return t.name.isidentifier() and not self.index.is_part(t)
        is_data = bool(t.value.shape) and t.is_leaf and not (t.requires_grad or t.reconstructed)
        return is_data and t.source is None and self.index.names_parts

    def _leaving(self, frame: Card, place: dict[int, int]) -> list[tuple[str, int, int]]:
        """Tensors that ops behind the frame use, or that nothing uses any more, and the part that made them."""
        found = []
        for tensor in (t for i in frame.ops() for t in self.ops[i].outputs if t is not None):
            users = self.index.users.get(tensor)
            if (users and users[-1] >= frame.last) or tensor in self.index.document.roots:
                source, folded, _ = self._source(tensor, place, frame)
                if source is not None and source != ENTRANCE:
                    found.append((tensor, folded, source))
        return found

    def _cut_of(self, tensor: str, users: list[int]) -> int | None:
        """The op that has cut a tensor off, or cuts it off where the way ends: `x + z.detach()`."""
        detaching = [i for i in users if self.ops[i].name == "Detach" and self.index.tensors[tensor].requires_grad]
        return users[0] if detaching and detaching == users else self._cuts.get(tensor)

    def _cut(self, way: _Way, ends: tuple[int, int], inside: Container[int]) -> int | None:
        """The op that cuts a way off, if all of it is cut there: by `detach()`, or where `no_grad` ends."""
        cuts = {self._cut_of(t, users) for t, (_, users) in way.tensors.items()}
        at = cuts.pop() if len(cuts) == 1 else None
        if at is None or ends[0] == ENTRANCE:
            return None
        if not any(t in self._cuts for t in way.tensors):
            return at  # where it ends
        users = [self.ops[i] for t in way.tensors for i in self.index.users.get(t, ())]
        if self.ops[at].reason == "no_grad":
            makers = [self.ops[self.index.maker[t]] for t in way.origins if t in self.index.maker]
            is_end = all(op.reason == "no_grad" for op in makers) and any(op.reason != "no_grad" for op in users)
            return at if is_end and ends[1] != EXIT else None
        if at not in inside:
            return None
        trains = any(self.index.tensors[t].requires_grad for op in users for t in op.outputs if t is not None)
        return at if self.ops[at].name == "Detach" or trains else None

    def _flow(self, id: str, ends: tuple[int, int], way: _Way, inside: Container[int]) -> Flow:
        source, target = ends
        tensors = self.index.tensors
        shapes = {tensors[t].value.shape for t in way.tensors if tensors[t].value.dtype != NOT_TOLD}
        enters = not any(t in self.index.maker for t in way.tensors)
        names = sorted({name for t in way.tensors if enters and (name := tensors[t].name)})
        names += ["…"] if names and not all(tensors[t].name for t in way.tensors) else []
        names += sorted({(tensors[t].name or "").rpartition(".")[2] for t in way.leaves})
        taken = {t: users for t, (_, users) in way.tensors.items() if tensors[t].requires_grad}
        own = [self.index.from_users(t, users) if users else self.index.all_of(t) for t, users in taken.items()]
        found = own if (is_own := all(own)) else [self.index.all_of(t) for t in taken]
        places = tuple(place for several in found for place in several)
        folded = sum(n for n, _ in way.tensors.values())
        shape = shapes.pop() if len(shapes) == 1 else None
        cut = self._cut(way, ends, inside)
        origins = tuple(way.origins) if source == ENTRANCE else ()
        return Flow(id, source, target, ", ".join(names), shape, folded, places, not is_own, tuple(way.tensors), origins, cut)


def cuts_of(document: Document) -> dict[str, int]:
    """By tensor that needs no grad, the op on the way to it that cut it off from one that does."""
    tensors, found = {t.id: t for t in document.tensors}, dict[str, int]()
    for i, op in enumerate(document.ops):
        given = [o.tensor for o in op.inputs if o.tensor is not None]
        at = i if any(tensors[t].requires_grad for t in given) else next((found[t] for t in given if t in found), None)
        for t in op.outputs if SHAPED.match(op.name) is None else ():
            if at is None or t is None or tensors[t].requires_grad:
                continue
            if not tensors[t].value.dtype.startswith(DISTINCT):
                found[t] = at
    return found


def cut_said(document: Document, at: int) -> str:
    """`fake.detach(), line 12: no gradient goes back`."""
    op = document.ops[at]
    code = "" if op.source is None else op.source.expression
    if op.reason == "no_grad":
        code = "no_grad()"
    elif op.name != "Detach":
        code = f"{op.name.lower()}()"
    elif not code.endswith((".detach()", ".data", ".detach_()")):
        code = "detach()"
    elif len(code) > LONGEST:
        code = f"….{code.rpartition('.')[2]}"
    line = "" if op.source is None else f", {words.AT_LINE.format(line=op.source.line)}"
    return words.MAP_CUT.format(code=shortened(code, LONGEST), line=line)
