"""Which card each backward node belongs to."""

from __future__ import annotations

from collections import defaultdict

from .cards import Card, walk
from .index import Index


def members_of(index: Index, root: Card, above: dict[str, str]) -> dict[str, list[str]]:
    """The nodes of each card, with those of the cards in it, in the order of the document.

    A node is where its op is; AccumulateGrad where its leaf is taken first; another where the node that leads to it is.
    """
    innermost = {i: card.id for card in walk(root) for i in card.ops()}
    place = {op.id: innermost.get(i, root.id) for i, op in enumerate(index.document.ops)}
    card_of: dict[str, str] = {}
    for node in index.document.nodes:
        if node.op is not None:
            card_of[node.id] = place[node.op]
        elif node.variable is not None and index.users.get(node.variable):
            card_of[node.id] = innermost.get(index.users[node.variable][0], root.id)
    for node in index.document.nodes:
        if node.id not in card_of:
            before = (card_of[id] for k in range(node.outputs) for id, _ in index.edges[node.id, k] if id in card_of)
            card_of[node.id] = next(before, root.id)
    found: dict[str, list[str]] = defaultdict(list)
    for id, card in card_of.items():
        at: str | None = card
        while at is not None:
            found[at].append(id)
            at = above.get(at)
    return found
