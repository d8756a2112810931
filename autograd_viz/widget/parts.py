"""The groups of a figure and the cards of a map: what a press steps over, into, or out of, and what each of them did."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .. import words
from ..graph.collapse import node_id, titled
from ..graph.model import Document
from ..pictures.maps.drawing import MapDrawing
from ..pictures.maps.numbers import norm_text
from ..pictures.render.drawing import Drawing
from ..stepper.stops import Facts


@dataclass(frozen=True)
class Parts:
    """The parts of a drawing. A page knows a closed group by the id of its node, an open one by its own."""

    titles: Mapping[str, str]  # by part
    members: Mapping[str, Sequence[str]]  # by part, its backward nodes, with those of the parts in it

    @cached_property
    def of(self) -> dict[str, list[str]]:
        """By node, the parts that it is in."""
        found: dict[str, list[str]] = {}
        for part, nodes in self.members.items():
            for node in nodes:
                found.setdefault(node, []).append(part)
        return found

    def named(self, what: str) -> str:
        """The part of a title or id.

        Raises:
            ValueError: there is none.
        """
        found = next((part for part, title in self.titles.items() if what in (part, title, title.partition(" · ")[0])), None)
        if found is None:
            raise ValueError(f"no group is called {what!r}; groups in the picture: {', '.join(self.titles.values()) or 'none'}")
        return found


def parts_of(drawing: Drawing | MapDrawing) -> Parts:
    """The cards of a map; of a figure, the groups that are drawn, open or closed."""
    if isinstance(drawing, MapDrawing):
        plan = drawing.plan
        return Parts({id: plan.titled(card) for id, card in plan.cards.items()}, plan.members)
    titles, members, place = dict[str, str](), dict[str, list[str]](), _places(drawing.document)
    stack = [*drawing.tree.groups] if drawing.opened is not None else []
    while stack:
        group = stack.pop()
        is_open = drawing.is_open(group)
        id = group.id if is_open else node_id(group)
        titles[id], members[id] = titled(group), [n for n, at in place.items() if group.first <= at < group.last]
        stack += group.groups if is_open else ()
    return Parts(titles, members)


def _places(document: Document) -> dict[str, int]:
    """By node, the index of its op: of AccumulateGrad the first op that takes its leaf, of others that of the node before."""
    index = {op.id: i for i, op in enumerate(document.ops)}
    takers: dict[str, int] = {}
    for i, op in enumerate(document.ops):
        for operand in op.inputs:
            takers.setdefault(operand.tensor or "", i)
    found, before = dict[str, int](), -1
    for node in document.nodes:
        before = before if node.op is None else index[node.op]
        found[node.id] = before if node.variable is None else takers.get(node.variable, -1)
    return found


@dataclass
class _Sum:
    """What a part has done: how often a node was called, norms of what came and of what left, grads of leaves that it made."""

    calls: int = 0
    came: float | None = None
    left: float | None = None
    grads: int = 0


class Did:
    """What each part of a document's drawing has done so far in a pass."""

    def __init__(self, document: Document, parts: Parts) -> None:
        self.parts = parts
        self._sums: dict[str, _Sum] = {}
        self._senders: dict[tuple[str, int], list[str]] = {}
        for node in document.nodes:
            for f in node.next_functions:
                if f.node is not None:
                    self._senders.setdefault((f.node, f.index), []).append(node.id)

    def ran(self, facts: Facts) -> list[str]:
        """A step has run; gives the parts that it was in."""
        own = self.parts.of.get(facts.node, [])
        for part in own:
            total = self._sums.setdefault(part, _Sum())
            total.calls += 1
            total.grads += bool(facts.grads) and not facts.ends
            for k, fact in enumerate(facts.came):
                if fact is not None and not any(self._is_in(sender, part) for sender in self._senders.get((facts.node, k), ())):
                    total.came = math.hypot(total.came or 0, fact.norm)
            for end, fact in zip(facts.ends, facts.left, strict=False):
                if fact is not None and not self._is_in(end, part):
                    total.left = math.hypot(total.left or 0, fact.norm)
        return own

    def left(self, facts: Facts, following: str) -> dict[str, str]:
        """After a step: what each part did that is left now, as another node follows."""
        return {part: self.said(part) for part in self.ran(facts) if not self._is_in(following, part)}

    def said(self, part: str) -> str:
        """What a part did, in one sentence. The norm is that of all gradients from outside, or to it, as one vector."""
        total = self._sums.get(part, _Sum())
        came, left = (norm_text(n) or "–" for n in (total.came, total.left))
        return words.DID.format(title=self.parts.titles[part], calls=total.calls, came=came, left=left, grads=total.grads)

    def _is_in(self, node: str, part: str) -> bool:
        return part in self.parts.of.get(node, ())
