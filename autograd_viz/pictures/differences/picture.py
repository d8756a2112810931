"""Two maps side by side: errors on their arrows and at the edges of cards, the culprit lit, the answer above."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ... import words
from ..layout.measure import ADVANCE
from ..maps.arrows import Arrows
from ..maps.cards import Card
from ..maps.flow import Flow
from ..maps.ink import Ink
from ..maps.labels import Line
from ..maps.paint import MARGIN, Painter, several, side_of, size_of
from ..maps.plan import Plan
from ..render import THEMES
from ..render.caption import MARGIN as CAPTION_MARGIN
from ..render.caption import caption_elements, caption_height, caption_lines
from ..render.escape import element
from ..render.theme import Theme
from .gap import Gap
from .report import Report, number

BAR = 4.0  # px: the mark at a card's left edge
HEAD, BETWEEN, LEGEND_HEIGHT = 40.0, 40.0, 26.0  # px
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

    def numbers(self, card: Card, y: float, line: Line, right: float) -> Iterator[str]:
        """The error of a parameter's value, and of its gradient."""
        for at, gaps in ((right - 120, self._values), (right, self._gradients)):
            if gap := gaps.get(line.id):
                yield self.ink.text(at, y + 9, number(worst([gap])), role=role_of([gap]), end=True)

    def beside_title(self, card: Card, x: float, right: float, is_open: bool) -> Iterator[str]:
        """Class and badges; no alarms."""
        told, self.known = self.known, {}
        yield from super().beside_title(card, x, right, is_open)
        self.known = told


class Half(NamedTuple):
    """One side: its map, and which cards are open."""

    plan: Plan
    opened: frozenset[str]


def halves(report: Report) -> tuple[Half, Half]:
    """Both maps, opened as far as they fit, and around what differs first."""
    plans = [Plan(document, told=True) for document in report.documents]
    lit = [_painter(report, plan, side, THEMES["light"]).lit for side, plan in enumerate(plans)]
    culprits = [{i for i in ids if p.cards[i].items and p.cards[i].kind != "ops"} for p, ids in zip(plans, lit, strict=True)]
    return Half(plans[0], plans[0].opened() | culprits[0]), Half(plans[1], plans[1].opened() | culprits[1])


def picture(report: Report, sides: tuple[Half, Half], titles: tuple[str, str], said: list[str], theme: Theme) -> str:
    """The picture as SVG."""
    ink = Ink(theme)
    sizes = [size_of(half.plan, half.plan.places.heights(half.opened)) for half in sides]
    widths = [w - 90 for w, _ in sizes]  # no legend beside each
    width = sum(widths) + BETWEEN + MARGIN
    lines = [line for sentence in said for line in caption_lines(sentence, width)]
    top = HEAD + caption_height(lines) + LEGEND_HEIGHT
    height = top + 34 + max(h for _, h in sizes)
    drawn, x = [], 0.0
    for side, (half, title) in enumerate(zip(sides, titles, strict=True)):
        part = side_of(_painter(report, half.plan, side, theme), half.opened, title, 15, 0)
        drawn.append(element("g", part, class_=f"side side-{side}", transform=f"translate({x:g} {top + 16:g})"))
        x += widths[side] + BETWEEN
    below = [*caption_elements(lines, MARGIN - CAPTION_MARGIN, HEAD - 6, theme), *_legend(ink, top - 14), *drawn]
    return several(ink, words.DIFF_TITLE.format(a=titles[0], b=titles[1]), " ".join(said), below, (width, height))


def partners(report: Report, sides: tuple[Half, Half]) -> dict[str, str]:
    """By card of the first map, the card of the second with most of the same ops."""
    homes = [_homes(half.plan) for half in sides]
    votes = defaultdict[str, Counter[str]](Counter)
    for i, j in report.pairs.ops.items():
        for mine, other in zip(homes[0].get(i, ()), homes[1].get(j, ()), strict=False):
            votes[mine][other] += 1
    return {card: found.most_common(1)[0][0] for card, found in votes.items()}


def _homes(plan: Plan) -> dict[int, list[str]]:
    """By op, the cards around it, from the outermost."""
    found, todo = defaultdict[int, list[str]](list), [plan.root]
    while todo:
        card = todo.pop()
        for i in card.ops():
            found[i].append(card.id)
        todo += card.items
    return found


def _painter(report: Report, plan: Plan, side: int, theme: Theme) -> ErrorPainter:
    shown = (*report.ends, *report.values), report.gradients
    values, gradients = ({(i.b if side else i.a): i.gap for i in items} for items in shown)
    first = report.first_value or report.first_gradient
    lit = frozenset() if first is None else frozenset([first.b if side else first.a])
    return ErrorPainter(plan, theme, values, gradients, lit)


def _legend(ink: Ink, y: float) -> list[str]:
    x, parts = MARGIN, [ink.text(MARGIN, y, words.DIFF_LEGEND, role="none")]
    x += (len(words.DIFF_LEGEND) + 3) * 11 * ADVANCE
    for role, said in zip(ROLES, (words.DIFF_EQUAL, words.DIFF_WITHIN, words.DIFF_BEYOND), strict=True):
        parts.append(element("rect", x=x, y=y - 9, width=14, height=10, **ink.fill(role)))
        parts.append(ink.text(x + 20, y, said, role=role))
        x += 44 + len(said) * 11 * ADVANCE
    return parts
