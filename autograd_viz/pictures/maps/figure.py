"""From a card of the map to its figure: what is in the card is drawn whole, the rest in groups."""

from __future__ import annotations

from collections.abc import Iterable

from ...graph.groups import Group
from ..render.drawing import Drawing, drawing_of
from .cards import Card
from .drawing import MapDrawing

MOST = 12  # ops of a card that are drawn one by one


def figure_of(map: MapDrawing, what: str = "") -> Drawing:
    """The figure of a card, given by id or path; of the whole if none is given.

    Raises:
        ValueError: there is no such card.
    """
    document = map.document if map.whole is None else map.whole()
    whole = drawing_of(document)
    if not what or whole.opened is None:
        return whole
    card = map.plan.card(what)
    return Drawing(document, frozenset(g.id for g in _groups(whole.tree) if _is_open(g, card)))


def first_box(map: MapDrawing, figure: Drawing, what: str) -> str:
    """The box at which a card begins in its figure; "" of the whole."""
    return figure.shown.shown.get(id := map.document.ops[map.plan.card(what).first].id, id) if what else ""


def _is_open(group: Group, card: Card) -> bool:
    """Around the card, or in it if that is small."""
    around = group.first <= card.first and card.last <= group.last
    inside = card.first <= group.first and group.last <= card.last
    return around or (inside and card.last - card.first <= MOST)


def _groups(tree: Group) -> Iterable[Group]:
    stack = [tree]
    while stack:
        yield (group := stack.pop())
        stack += group.groups
