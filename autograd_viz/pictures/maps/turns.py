"""The gradient that arrives at each turn of one module, as bars: log10 of it, as thick as arrows are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ... import words
from ..layout.measure import ADVANCE, columns
from ..render.escape import element
from .arrows import thickness
from .cards import Card
from .flow import Flow
from .ink import SMALL, Ink
from .numbers import Place, norm_text, together
from .odd import arrived

STRIP, BAR = 180.0, 9.0  # px: for the gradients of turns at least, of one of them at most
BELOW, TALL = 5.0, 2.0  # px of bars below the line of words; how much taller they are than an arrow is thick (map/picture.js)
WIDEST = "0.000123"  # norm as text


def ends(card: Card) -> tuple[int, int]:
    """The places of what gives the result of the first turn, and of the last."""
    return card.period - 1, len(card.items) - 1


def turns_said(card: Card, flows: Sequence[Flow], known: Mapping[Place, float]) -> str:
    """`grad by turn: 0.01 … 0.2`; nothing before one of them is known."""
    ways = [[place for f in flows if f.source == end for place in f.places] for end in ends(card)]
    first, last = (norm_text(together(known, places)) for places in ways)
    return words.MAP_TURNS.format(first=first or "?", last=last or "?") if first or last else ""


def bars(
    ink: Ink, card: Card, flows: Sequence[Flow], known: Mapping[Place, float], x: float, right: float, y: float, page: bool
) -> Iterator[str]:  # fmt: skip
    """Words and bars between x and right, on a line at y; in a page that steps, room for those to come."""
    norms = arrived(flows, card.items, known)[card.period - 1 :: card.period]
    said = turns_said(card, flows, known)
    if not (said or page) or x > right - STRIP:
        return
    yield ink.cell(f"turns:{card.id}", x, y - SMALL * 0.35, said, "none") if page else ink.text(x, y, said, role="none")
    x += (columns(said or words.MAP_TURNS.format(first=WIDEST, last=WIDEST)) + 1) * ADVANCE * SMALL
    wide = min(BAR, (right - x) / len(norms))
    for k, norm in enumerate(norms if wide >= 1 else ()):
        role, tall = ("link" if norm is None or (norm and math.isfinite(norm)) else "grad"), TALL * thickness(norm or 0.0)
        ways = " ".join([f.id for f in flows if f.source == card.period * (k + 1) - 1 and f.places])
        tall, more = (0.0 if norm is None else tall), ({"data_turn": ways} if page else {})
        if norm is not None or page:
            left, top, broad = x + k * wide, y + BELOW - tall, max(wide - 1, 0.8)
            yield element("rect", x=left, y=top, width=broad, height=tall, **more, **ink.fill(role))
