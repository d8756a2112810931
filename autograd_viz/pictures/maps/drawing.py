"""A document as it is drawn on a map: which cards are open, the picture in any state and for a page, the figure of a card."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ...answers.sentences.text import size_text
from ...graph.collapsed import Collapsed
from ...graph.groups import Group, kinds_of
from ...graph.model import Document, Node
from ...graph.trace import State
from ..render.drawing import Drawing, drawing_of
from ..render.theme import Theme
from .arrows import branch, into, lane_x
from .cards import Card
from .labels import Line
from .numbers import Outliers, Place, as_it_is, norm_text, of_state, together
from .paint import MARGIN, TOP, Painter, beside, framed, size_of
from .place import GAP
from .plan import Plan

MOST = 12  # ops of a card that its figure draws one by one
MOST_KINDS = 12  # of the ops in a card that a page tells


@dataclass(frozen=True)
class MapDrawing:
    """A map."""

    plan: Plan  # the document as cards
    opened: frozenset[str]  # ids of the cards that are open
    # norms of a whole pass that has run already; empty: those of the state that is drawn
    passed: Mapping[Place, float] = field(default_factory=dict)
    # gives the document with all elements, where this one has only what a map shows
    whole: Callable[[], Document] | None = None
    steps: bool = False  # there are steps to come, so that a gradient that is not there may still come

    @property
    def document(self) -> Document:
        """The whole document."""
        return self.plan.document

    @property
    def height(self) -> float:
        """px."""
        return size_of(self.plan, self.plan.places.heights(self.opened))[1]

    @cached_property
    def shown(self) -> Collapsed:
        """The document as a page steps it: each card stands for its nodes."""
        plan, cards = self.plan, self.plan.cards.values()
        members = {card.id: plan.members.get(card.id, []) for card in cards}
        order = {n.id: -1 if n.order is None else n.order for n in plan.document.nodes}
        names = {c.id: (c.kind == "module" and c.name) or plan.titled(c) for c in cards}
        nodes = tuple(Node(id, name, None, 0, members=len(members[id])) for id, name in names.items())
        first = {card: max(inside, key=order.__getitem__) for card, inside in members.items() if inside}
        home = {plan.document.ops[i].id: card.id for card in cards for i in card.ops()}  # by op and node, the innermost card
        home |= {node: card for card, inside in members.items() for node in inside}
        return Collapsed(Document((), (), nodes), plan.document, home, {}, {}, first=first)

    def expanded(self, what: str) -> MapDrawing:
        """The same with a card open, given by path or class; `*` stands for anything. ValueError: nothing is meant."""
        return replace(self, opened=self.opened | self.plan.opened(1, (what,)))

    def collapsed(self, what: str) -> MapDrawing:
        """The same with a card closed. ValueError: nothing is meant."""
        closed = {c.id for c in self.plan.meant(what)}
        return replace(self, opened=frozenset(id for id in self.opened if not closed.intersection(self.plan.around(id))))

    def at_start(self) -> dict[Place, float]:
        """Norms by place before the first step."""
        return as_it_is(self.document) | dict(self.passed)

    def svg(self, state: State, theme: Theme, caption: str = "") -> str:
        """The picture in a state of the document."""
        known = self.at_start() | of_state(self.document, state)
        is_over = not self.steps or (state.current is not None and not state.current.engine.queue)
        return Painter(self.plan, theme, known, state.called, is_over=is_over).whole(self.opened, caption)

    def page(self, theme: Theme, is_over: bool) -> tuple[str, dict[str, Any]]:
        """The picture with nothing open, and the map: cards, frames, what is drawn in each, which are open. So a page opens and
        closes cards without a kernel. `is_over`: no steps are to come. See the types in static/map/layout.js.
        """
        plan, known = self.plan, self.at_start()
        painter = Painter(plan, theme, known, State().called, both=True, is_over=is_over)
        insides = {id: painter.inside(plan.cards[id], frozenset(), None) for id in plan.places.frames}
        svg = framed(plan, painter.ink, None, insides.pop(plan.root.id), (0.0, 0.0))
        return svg, {
            "root": plan.root.id,
            "cards": {card.id: _card(plan, card, known, painter) for card in plan.cards.values()},
            "frames": {id: _frame(plan, plan.cards[id]) for id in plan.places.frames},
            "insides": insides,
            "opened": [id for id in plan.cards if id in self.opened],
            **{"gap": GAP, "margin": MARGIN, "top": TOP, "beside": beside(plan)},
        }


def figure_of(map: MapDrawing, what: str = "") -> Drawing:
    """The figure of a card, given by id or path, with the rest in groups; of the whole if none is given.
    ValueError: there is no such card.
    """
    document = map.document if map.whole is None else map.whole()
    whole = drawing_of(document)
    if not what or whole.opened is None:
        return whole
    card = map.plan.card(what)
    return Drawing(document, frozenset(g.id for g in whole.groups() if _is_open(g, card)))


def first_box(map: MapDrawing, figure: Drawing, what: str) -> str:
    """The box at which a card begins in its figure; "" of the whole."""
    return figure.shown.shown.get(id := map.document.ops[map.plan.card(what).first].id, id) if what else ""


def _is_open(group: Group, card: Card) -> bool:
    """Around the card, or in it if that is small."""
    around = group.first <= card.first and card.last <= group.last
    inside = card.first <= group.first and group.last <= card.last
    return around or (inside and card.last - card.first <= MOST)


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
