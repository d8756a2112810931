"""A map on which each card says its time: a bar over its title, of the forward and the backward half."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ... import words
from ...answers.sentences.text import work_text
from ..layout.measure import text_width
from ..maps.cards import Card
from ..maps.ink import SMALL, Ink
from ..maps.paint import PILL_ROUND, Painter
from ..maps.plan import Plan
from ..render.escape import element
from ..render.theme import Theme
from .report import Part, Record, Report, share_text, time_text

BAR, LEAST = 4.0, 0.5  # px: height of a bar, and the shortest that is drawn
HALVES = {"forward": "link", "backward": "grad"}  # colours


def planned(report: Report) -> tuple[Plan, dict[str, Record]]:
    """The map of a timing's document, whose cards say their times; and these times by card."""
    plan = Plan(report.document)
    of_node: dict[str, Part] = {part.node.id: part for part in report.parts if part.node is not None}
    bare = [part for part in report.parts if part.node is None]
    sums = {}
    for card in plan.cards.values():
        parts = [of_node[node] for node in plan.members.get(card.id, ()) if node in of_node]
        if card.kind == "module":  # of a stack and of functions, ops without a node are not told apart
            parts += [part for part in bare if part.path[: len(card.path)] == card.path]
        if parts:
            sums[card.id] = report.sums(parts)
    plan.labels.told = {id: _said(row) for id, row in sums.items()}
    return plan, sums


def _said(row: Record) -> str:
    work = [work_text(row["flops"])] if row["flops"] else []
    return " · ".join([time_text(row["seconds"]), share_text(row["share"]), *work])


def picture(report: Report, theme: Theme) -> str:
    """The picture."""
    plan, sums = planned(report)
    return _Painter(plan, theme, sums).whole(plan.opened(), words.BETWEEN.join(report.sentences()), _legend)


def _legend(ink: Ink, x: float, y: float) -> Iterator[str]:
    """What the colours of a bar are."""
    for k, (half, role) in enumerate(HALVES.items()):
        at, said = y + 18 * k, words.TIME_FORWARD if half == "forward" else words.TIME_BACK
        yield element("rect", x=x, y=at - 4, width=24, height=BAR, **ink.fill(role))
        yield ink.text(x + 32, at + SMALL * 0.35, said, room=text_width(said, SMALL) + 8)


class _Painter(Painter):
    """Draws a bar over each card."""

    def __init__(self, plan: Plan, theme: Theme, sums: Mapping[str, Record]) -> None:
        super().__init__(plan, theme, {}, {})
        self._sums = sums

    def outline(self, card: Card, height: float, is_open: bool) -> Iterator[str]:
        """The box, and a bar whose length is the card's share of the pass."""
        yield from super().outline(card, height, is_open)
        row = self._sums.get(card.id)
        if row is None or not row["seconds"]:
            return
        x = PILL_ROUND if card.kind == "ops" else 0.0
        room = self.plan.places.widths[card.id] - 2 * x
        length = room * min(1.0, row["share"]) / max(row["seconds"], row["forward"] + row["backward"])  # px of a second
        for half, role in HALVES.items():
            wide = length * row[half]
            if wide >= LEAST:
                yield element("rect", x=x, width=wide, height=BAR, **self.ink.fill(role))
            x += wide
