"""What a page needs of a map, so that it opens and closes cards without a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...answers.sentences.text import size_text
from ...graph.groups import kinds_of
from ...graph.trace import State
from ..render.theme import Theme
from .arrows import branch, into, lane_x
from .cards import Card
from .labels import Line
from .numbers import Outliers, Place, norm_text, together
from .paint import MARGIN, TOP, Painter, beside, framed
from .place import GAP
from .plan import Plan

MOST_KINDS = 12  # of the ops in a card that are told


def page_map(
    plan: Plan, theme: Theme, opened: frozenset[str], known: Mapping[Place, float], is_over: bool
) -> tuple[str, dict[str, Any]]:
    """The picture with nothing open, and the map: cards, frames, what is drawn in each, which are open. See the types in
    static/map/layout.js.
    """
    painter = Painter(plan, theme, known, State().called, both=True, is_over=is_over)
    nothing = frozenset[str]()
    insides = {id: painter.inside(plan.cards[id], nothing, None) for id in plan.places.frames}
    svg = framed(plan, painter.ink, None, insides.pop(plan.root.id), (0.0, 0.0))
    return svg, {
        "root": plan.root.id,
        "cards": {card.id: _card(plan, card, known, painter) for card in plan.cards.values()},
        "frames": {id: _frame(plan, plan.cards[id]) for id in plan.places.frames},
        "insides": insides,
        "opened": [id for id in plan.cards if id in opened],
        "gap": GAP,
        "margin": MARGIN,
        "top": TOP,
        "beside": beside(plan),
    }


def _frame(plan: Plan, card: Card) -> dict[str, Any]:
    places, frame = plan.places, plan.places.frames[card.id]
    flows = [
        {"id": f.id, "source": f.source, "target": f.target, "into": into(places, card, f), "under": branch(frame, f),
         "lane": None if frame.is_straight(f) else lane_x(places, card, f)}
        for f in frame.flows
    ]  # fmt: skip
    parts = {"parts": [p.id for p in frame.parts], "rows": frame.rows, "lefts": places.lefts(card)}
    return {**parts, "flows": flows, "header": places.header(card), "right": places.right(card)}


def _card(plan: Plan, card: Card, known: Mapping[Place, float], painter: Painter) -> dict[str, Any]:
    labels = plan.labels
    lines = labels.all_lines(card)
    grads = together(known, [(line.id, "grad", 0) for line in lines if line.trains])
    kept = labels.kept(card)
    return {
        "kind": card.kind,
        "title": plan.titled(card),
        "path": card.name if card.kind == "module" else "",
        "name": labels.kind_of(card),
        "about": labels.about(card),
        "badges": [*labels.badges(card), *([labels.unseen(card)] if not plan.is_guessed and labels.unseen(card) else [])],
        "above": plan.above.get(card.id, ""),
        "w": plan.places.widths.get(card.id, 0.0),
        "h": plan.places.closed[card.id],
        "nodes": len(plan.members.get(card.id, ())),
        "lines": [_line(line, known, painter.odd) for line in lines],
        "kinds": list(kinds_of(plan.document.ops[card.first : card.last]).items())[:MOST_KINDS],
        "norm": norm_text(grads),
        "kept": size_text(kept) if kept else "",
        "alarm": ", ".join(painter.oddities.alarms(card, known, painter.odd)),
    }


def _line(line: Line, known: Mapping[Place, float], outliers: Outliers | None) -> dict[str, Any]:
    said, odd = line.said(known, outliers)
    return {"leaf": line.id, "name": line.name, "shape": line.shape, "norm": norm_text(line.data), "said": said, "odd": odd}
