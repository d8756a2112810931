"""Calls of one module: which of how many a card is, and whether a stack is one module turn after turn."""

from __future__ import annotations

from collections import defaultdict

from ...graph.paths import Path, are_guessed
from .cards import Card
from .index import Index


def call_numbers(index: Index, root: Card) -> dict[str, tuple[int, int]]:
    """By card, which call of how many it is of its module, within one call of the module around. A guess is told only if all
    calls did the same.
    """
    found: dict[tuple[str, Path], list[Card]] = defaultdict(list)
    todo = [(root, root.id)]
    while todo:
        card, around = todo.pop()
        if card.kind == "module" and card.path:
            found[around, card.path].append(card)
            around = card.id
        todo += [(item, around) for item in card.items]
    several = [sorted(cards, key=lambda c: c.first) for cards in found.values() if len(cards) > 1]
    if are_guessed(index.document):
        ops = index.document.ops
        several = [cards for cards in several if len({tuple([ops[i].name for i in c.ops()]) for c in cards}) == 1]
    return {card.id: (k + 1, len(cards)) for cards in several for k, card in enumerate(cards)}


def is_in_time(stack: Card) -> bool:
    """Is it one module, or one row of them, turn after turn?"""
    if stack.kind != "stack":
        return False
    rows = [[item.path for item in stack.items[k :: stack.period] if item.kind == "module"] for k in range(stack.period)]
    return any(rows) and all(len(set(row)) <= 1 for row in rows)
