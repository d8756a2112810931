"""A map that shows errors: on arrows those of gradients, at a card's left edge those of the values made in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from ..maps.arrows import Arrows
from ..maps.cards import Card
from ..maps.flow import Flow
from ..maps.labels import Line
from ..maps.paint import Painter
from ..maps.plan import Plan
from ..render.escape import element
from ..render.theme import Theme
from .gap import Gap
from .said import number

BAR = 4.0  # px: the mark at a card's left edge
ROLES = ("none", "link", "grad")  # the same numbers, within the tolerance, beyond it


def role_of(gaps: list[Gap]) -> str:
    """The colour of some gaps."""
    return ROLES[max((2 if g.is_beyond else 0 if g.is_same else 1 for g in gaps), default=0)]


def worst(gaps: list[Gap]) -> float:
    """The largest relative error; inf where shapes differ."""
    return max((math.inf if g.shapes else g.relative for g in gaps), default=0.0)


class ErrorPainter(Painter):
    """Draws one side: the gaps of values and of gradients by tensor; cards with tensors in `lit` are lit."""

    def __init__(
        self, plan: Plan, theme: Theme, values: Mapping[str, Gap], gradients: Mapping[str, Gap], lit: frozenset[str]
    ) -> None:
        places = {place: gap for tensor, gap in gradients.items() for place in plan.index.all_of(tensor)}
        super().__init__(plan, theme, {place: gap.relative for place, gap in places.items()}, {})

        def said(card: Card, flow: Flow) -> tuple[str, str]:
            found = [places[place] for place in flow.places if place in places]
            return (number(worst(found)) if found else "", role_of(found))

        self.arrows = Arrows(plan, self.ink, self.known, said)
        self._values, self._gradients = values, gradients
        self.lit = self._cards_with(lit)

    def _cards_with(self, tensors: frozenset[str]) -> frozenset[str]:
        """The cards in which one of these tensors was made, or whose parameter it is."""
        owners = {line.id: card.id for card in self.plan.cards.values() for line in self.plan.labels.all_lines(card)}
        found = {owners[t] for t in tensors if t in owners}
        makers = {self.plan.index.maker[t] for t in tensors if t in self.plan.index.maker}
        for card in self.plan.cards.values():
            if makers.intersection(card.ops()) and not any(makers.intersection(item.ops()) for item in card.items):
                found.add(card.id)
        return frozenset(around for id in found for around in self.plan.around(id))

    def outline(self, card: Card, height: float, is_open: bool) -> Iterator[str]:
        """The box, with the mark of its values; a lit one has a thick outline."""
        yield from super().outline(card, height, is_open)
        if card.kind == "root":
            return
        ops = self.plan.document.ops
        made = [self._values[t] for i in card.ops() for t in ops[i].outputs if t is not None and t in self._values]
        if made:
            yield element("rect", x=-1, width=BAR, height=height, **self.ink.fill(role_of(made), more="mark"))
        if card.id in self.lit and (not is_open or not any(item.id in self.lit for item in card.items)):
            width = self.plan.places.widths[card.id]
            yield element(
                "rect", x=-5, y=-5, width=width + 10, height=height + 10, rx=9, fill="none", stroke_width=3,
                **self.ink.stroke("grad", more="lit"),
            )  # fmt: skip

    def row(self, card: Card, y: float, line: Line) -> Iterator[str]:
        """A parameter: its name and shape, the error of its value, and of its gradient."""
        ink, right = self.ink, self.plan.places.widths[card.id] - 14
        if line.id:
            yield ink.box(12, y, 9, 9, 1, "green" if line.trains else "yellow")
        yield ink.text(28, y + 9, line.name + line.shape, room=right - 250)
        for at, gaps in ((right - 120, self._values), (right, self._gradients)):
            if line.id in gaps:
                gap = gaps[line.id]
                yield ink.text(at, y + 9, number(worst([gap])), role=role_of([gap]), end=True)

    def beside_title(self, card: Card, x: float, right: float) -> Iterator[str]:
        """Class and badges; no alarms."""
        told, self.known = self.known, {}
        yield from super().beside_title(card, x, right)
        self.known = told
