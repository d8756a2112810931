"""A document as nested cards: module calls and scopes, with what runs outside of them as pills between.

# Note [What a card is]
A card is a stretch of consecutive ops with one module path, as it was called: a module that is called twice is two cards. Calls
with equal insides, one after the other, are folded into a stack. Ops that only rearrange are no card: they are folded into the
arrow that they lie on, which says how many they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..graph.model import Document, Shape, Tensor
from ..graph.paths import Path, module_paths

REARRANGING = {
    "Alias", "AsStrided", "Clone", "Contiguous", "Detach", "Expand", "Permute", "Reshape", "Select", "Slice", "Split",
    "SplitWithSizes", "Squeeze", "T", "Transpose", "Unbind", "UnsafeSplit", "UnsafeView", "Unsqueeze", "View",
}  # fmt: skip


UNFILLED = {"Empty", "EmptyLike"}  # memory for a result
LEAST = 3  # equal calls that are folded


@dataclass
class Card:
    """A part of the program.

    Attributes:
        kind: "module" (also a scope), "stack" (equal calls, folded), "ops" (what runs outside of modules).
        path: of the module: "layers.3.self_attn"; of a stack, of its first call; of ops, of the module around them.
        title: the last part of the path; of a stack "layers.0 … layers.2"; of ops their names.
        first, last: its ops are ``document.ops[first:last]``.
        items: the cards in it, whether they are drawn or not.
        depth: how many cards it is in.
    """

    kind: str
    path: Path
    title: str
    first: int
    last: int
    items: list[Card] = field(default_factory=list)
    depth: int = 0

    @property
    def name(self) -> str:
        """The path as text."""
        return ".".join(self.path)

    @property
    def count(self) -> int:
        """How many calls it stands for."""
        return len(self.items) if self.kind == "stack" else 1

    def ops(self) -> range:
        """The places of its ops in the document."""
        return range(self.first, self.last)


def cards_of(document: Document) -> Card:
    """The whole program as one card with all others in it."""
    root = Card("module", (), "", 0, len(document.ops))
    open = [root]
    for i, path in enumerate(module_paths(document)):
        while path[: len(open[-1].path)] != open[-1].path:
            open.pop()
        while len(open[-1].path) < len(path):
            _enter(open, path[: len(open[-1].path) + 1], i)
        _add_op(document, open[-1], path, i)
        for card in open[1:]:
            card.last = i + 1
    _tidy(document, root)
    return root


def _enter(open: list[Card], path: Path, at: int) -> None:
    card = Card("module", path, path[-1], at, at)
    open[-1].items.append(card)
    open.append(card)


def _add_op(document: Document, card: Card, path: Path, i: int) -> None:
    """An op outside of deeper modules: with those of its line before it, or a pill of its own."""
    op, before = document.ops[i], card.items[-1] if card.items else None
    if before is not None and before.kind == "ops" and before.last == i and _line(document, i) == _line(document, i - 1):
        before.last = i + 1
    else:
        card.items.append(Card("ops", path, op.name, i, i + 1))


def _line(document: Document, i: int) -> object:
    source = document.ops[i].source
    return None if source is None else (source.file, source.line)


def _tidy(document: Document, root: Card) -> None:
    """Name pills, join `layers` and what alone is in it, fold equal calls; from the inside out."""
    for card in reversed(list(walk(root))):
        items = [_joined(item) for item in card.items]
        if card.kind == "module" and all(i.kind == "ops" for i in items) and card is not root:
            items = []  # a module without modules in it: its ops are seen in its figure
        for item in items:
            if item.kind == "ops":
                item.title = ops_title(document, item)
        card.items = list(_folded(document, items))
        if card is not root and len(card.items) == 1 and card.items[0].kind == "stack":
            _become(card, card.items[0])  # a list of modules is never called: `layers` is `layers.0 … layers.3`
    for card in walk(root):
        for item in card.items:
            item.depth = card.depth + 1


def _joined(card: Card) -> Card:
    """`layers` with nothing in it but `layers.0` … is that: a list of modules is never called."""
    inner = card.items[0] if len(card.items) == 1 else None
    if card.kind == "module" and inner is not None and inner.kind == "module" and inner.path[: len(card.path)] == card.path:
        inner.title = ".".join(inner.path[len(card.path) - 1 :])
        return inner
    return card


def _become(card: Card, stack: Card) -> None:
    for item in stack.items:
        item.title = f"{card.title}.{item.title}"
    card.kind, card.items = "stack", stack.items
    card.title = f"{stack.items[0].title} … {stack.items[-1].title}"
    card.path = stack.path


def walk(card: Card) -> Iterator[Card]:
    """A card and all in it, each before what is in it."""
    todo = [card]
    while todo:
        one = todo.pop()
        yield one
        todo += reversed(one.items)


def ops_title(document: Document, card: Card) -> str:
    """The names of ops that compute, in order; of those that only rearrange, if there are no others."""
    names = [document.ops[i].name for i in card.ops()]
    names = [n for n in names if n not in REARRANGING] or names
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:3] + ["…"] * (len(shown) > 3))


def only_rearranges(document: Document, card: Card) -> bool:
    """Is it folded into an arrow?"""
    return card.kind == "ops" and all(document.ops[i].name in REARRANGING for i in card.ops())


# -- equal calls ----------------------------------------------------------------------------------------------------------


def _folded(document: Document, items: list[Card]) -> Iterator[Card]:
    """Equal module calls in a row as one stack."""
    at = 0
    while at < len(items):
        end = at + 1
        while end < len(items) and _equal(document, items[at], items[end]):
            end += 1
        if end - at < LEAST:
            yield from items[at:end]
        else:
            yield _stack(items[at:end])
        at = end


def _equal(document: Document, a: Card, b: Card) -> bool:
    """Modules of one list with the same ops: `layers.0` and `layers.1`."""
    if a.kind != "module" or b.kind != "module" or re.sub(r"\d+", "#", a.name) != re.sub(r"\d+", "#", b.name):
        return False
    return _computed(document, a) == _computed(document, b)


def _computed(document: Document, card: Card) -> list[tuple[str, tuple[Shape | None, ...]]]:
    """Its ops and the shapes of what they made, but for those that make nothing of their own."""
    shapes = {t.id: t.value.shape for t in document.tensors}
    ops = (document.ops[i] for i in card.ops())
    return [(o.name, tuple(shapes.get(t or "") for t in o.outputs)) for o in ops if o.name not in REARRANGING | UNFILLED]


def _stack(cards: list[Card]) -> Card:
    first, last = cards[0], cards[-1]
    return Card("stack", first.path, f"{first.title} … {last.title}", first.first, last.last, cards)


def of_leaves(document: Document, card: Card) -> Iterable[Tensor]:
    """The leaves that require grad and that ops of the card take first: its parameters."""
    tensors = {t.id: t for t in document.tensors}
    seen: dict[str, Tensor] = {}
    for i in card.ops():
        for operand in document.ops[i].inputs:
            t = tensors.get(operand.tensor or "")
            if t is not None and t.is_leaf and t.name is not None and "." in t.name:
                seen.setdefault(t.id, t)
    return seen.values()
