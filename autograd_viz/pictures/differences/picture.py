"""Two maps side by side: errors on their arrows and cards, the culprit lit, the answer above."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ... import words
from ..layout.measure import ADVANCE
from ..maps.ink import Ink
from ..maps.paint import MARGIN, size_of
from ..maps.plan import Plan
from ..render import THEMES
from ..render.caption import MARGIN as CAPTION_MARGIN
from ..render.caption import caption_elements, caption_height, caption_lines
from ..render.escape import element, text
from ..render.svg import FALLBACK
from ..render.theme import Theme
from .painter import ROLES, ErrorPainter
from .report import Item, Report

HEAD, BETWEEN, LEGEND_HEIGHT = 40.0, 40.0, 26.0  # px


class Half(NamedTuple):
    """One side: its map, and which cards are open."""

    plan: Plan
    opened: frozenset[str]


def halves(report: Report) -> tuple[Half, Half]:
    """Both maps, opened as far as they fit, and around what differs first."""
    found = []
    for side, document in enumerate(report.documents):
        plan = Plan(document, told=True)
        painter = _painter(report, plan, side, THEMES["light"])
        culprits = {id for id in painter.lit if plan.cards[id].items and plan.cards[id].kind != "ops"}
        found.append(Half(plan, plan.opened() | culprits))
    return found[0], found[1]


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
        painter = _painter(report, half.plan, side, theme)
        inside = painter.inside(half.plan.root, half.opened, half.plan.places.heights(half.opened))
        heading = ink.text(MARGIN, 0, f"{title}: {half.plan.result}", size=15, bold=True)
        part = heading + element("g", inside, transform=f"translate({MARGIN:g} 22)")
        drawn.append(element("g", part, class_=f"side side-{side}", transform=f"translate({x:g} {top + 16:g})"))
        x += widths[side] + BETWEEN
    content = [
        element("title", text(" ".join(said))),
        element("rect", width=width, height=height, **ink.fill("canvas", more="ground")),
        ink.text(MARGIN, 28, words.DIFF_TITLE.format(a=titles[0], b=titles[1]), size=17, bold=True),
        *caption_elements(lines, MARGIN - CAPTION_MARGIN, HEAD - 6, theme),
        *_legend(ink, top - 14),
        *drawn,
    ]
    return element(
        "svg", "\n".join(content), xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", width=width,
        height=height, font_family=FALLBACK, role="img",
    )  # fmt: skip


def partners(report: Report, sides: tuple[Half, Half]) -> dict[str, str]:
    """By card of the first map, the card of the second with most of the same ops."""
    homes = [_homes(half.plan) for half in sides]
    votes: dict[str, Counter[str]] = {}
    for i, j in report.pairs.ops.items():
        for mine, other in zip(homes[0].get(i, ()), homes[1].get(j, ()), strict=False):
            votes.setdefault(mine, Counter())[other] += 1
    return {card: found.most_common(1)[0][0] for card, found in votes.items()}


def _homes(plan: Plan) -> dict[int, list[str]]:
    """By op, the cards around it, from the outermost."""
    found: dict[int, list[str]] = {}
    todo = [plan.root]
    while todo:
        card = todo.pop()
        for i in card.ops():
            found.setdefault(i, []).append(card.id)
        todo += card.items
    return found


def _painter(report: Report, plan: Plan, side: int, theme: Theme) -> ErrorPainter:
    firsts = [i for i in (report.first_value, report.first_gradient) if i is not None]
    lit = frozenset(_id(i, side) for i in firsts[:1])
    values = {_id(i, side): i.gap for i in report.values}
    gradients = {_id(i, side): i.gap for i in report.gradients}
    return ErrorPainter(plan, theme, values, gradients, lit)


def _id(item: Item, side: int) -> str:
    return item.b if side else item.a


def _legend(ink: Ink, y: float) -> list[str]:
    """What the colours mean."""
    x, parts = MARGIN, [ink.text(MARGIN, y, words.DIFF_LEGEND, role="none")]
    x += (len(words.DIFF_LEGEND) + 3) * 11 * ADVANCE
    for role, said in zip(ROLES, (words.DIFF_EQUAL, words.DIFF_WITHIN, words.DIFF_BEYOND), strict=True):
        parts.append(element("rect", x=x, y=y - 9, width=14, height=10, **ink.fill(role)))
        parts.append(ink.text(x + 20, y, said, role=role))
        x += 44 + len(said) * 11 * ADVANCE
    return parts
