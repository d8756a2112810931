"""A document as a page steps it on a map: each card stands for its nodes."""

from __future__ import annotations

from ...graph.collapsed import Collapsed
from ...graph.model import Document, Node
from .cards import walk
from .plan import Plan


def cards_shown(plan: Plan) -> Collapsed:
    """The cards of a map as a document of nodes."""
    members = {card: nodes_in(plan, card) for card in plan.cards}
    order = {n.id: -1 if n.order is None else n.order for n in plan.document.nodes}
    names = {c.id: (c.kind == "module" and c.name) or plan.titled(c) for c in walk(plan.root)}
    nodes = tuple(Node(id, name, None, 0, members=len(members[id])) for id, name in names.items())
    first = {card: max(inside, key=order.__getitem__) for card, inside in members.items() if inside}
    ops = {plan.document.ops[i].id: card.id for card in walk(plan.root) for i in card.ops()}
    return Collapsed(Document((), (), nodes), plan.document, ops | _card_of_nodes(plan), {}, {}, first=first)


def nodes_in(plan: Plan, card: str) -> list[str]:
    """The backward nodes of a card: those of its ops, and AccumulateGrad of the leaves that it takes first."""
    return plan.members.get(card, [])


def _card_of_nodes(plan: Plan) -> dict[str, str]:
    """By node, the innermost card."""
    return {node: card.id for card in walk(plan.root) for node in nodes_in(plan, card.id)}
