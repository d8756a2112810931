"""A document as nested cards: calls of modules and functions, and scopes, with what runs outside of them as pills between.

# Note [What a card is]
A card is a stretch of consecutive ops with one module path, as it was called: a module that is called twice is two cards. So is
a function of the user's, if it does more than one thing; of one line or two it is a pill. Equal calls, one after the other, are
folded into a stack; so are equal rows of calls (Linear, Tanh, Linear, Tanh …), which lie flat in it. A function or module that
only wraps others steps aside: what it holds stands in its place. Ops that only rearrange are no card: they are folded into the
arrow that they lie on, which says how many they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from ...graph.guess import LISTS
from ...graph.paths import Path, Way, are_guessed, ways
from ...graph.repeats import Repeat, repeats
from .again import restarts
from .apart import apart, expressions, terms
from .index import REARRANGING, Index

UNFILLED = {"Empty", "EmptyLike"}  # memory for a result
MOST_NAMES, ALL_NAMES = 3, 8  # of ops in a title; on a pill
MOST_LINES = 2  # of a function that is a pill


@dataclass
class Card:
    """A part of the program."""

    # "module" (also a scope), "function" (a call of one of the user's), "stack" (equal calls, or rows of calls, folded),
    # "ops" (what runs outside of modules), "root" (the result)
    kind: str
    path: Path  # of the module: "layers.3.self_attn"; of a stack, of its first call; of ops and functions, of the module around
    title: str  # the last part of the path; of a function "encode()"; of a stack "layers.0 … layers.2"; of ops their names
    first: int
    last: int  # first, last: its ops are ``document.ops[first:last]``
    items: list[Card] = field(default_factory=list)  # the cards in it, whether they are drawn or not
    depth: int = 0  # how many cards it is in
    id: str = ""  # "c0", "c1", … from the outside in and down
    way: Way = ()  # the modules and functions around it, and itself
    period: int = 1  # of a stack, how many of its items are one row

    @property
    def name(self) -> str:
        """The path as text."""
        return ".".join(self.path)

    @property
    def count(self) -> int:
        """How many equal calls it stands for."""
        return len(self.items) // self.period if self.kind == "stack" else 1

    def ops(self) -> range:
        """The places of its ops in the document."""
        return range(self.first, self.last)


def cards_of(index: Index) -> Card:
    """The whole program as one card with all others in it."""
    document = index.document
    root = Card("module", (), "", 0, len(document.ops))
    open, known = [root], ways(document)
    again = restarts(index, known, are_guessed(document))
    for i, way in enumerate(known):
        while way[: len(open[-1].way)] != open[-1].way or (i in again and open[-1].path[: len(again[i])] == again[i]):
            open.pop()
        while len(open[-1].way) < len(way):
            _enter(index, open, way[: len(open[-1].way) + 1], i)
        _add_op(index, open[-1], i)
        for card in open[1:]:
            card.last = i + 1
    _Tidier(index).tidy(root)
    root.items.append(Card("root", (), "", len(document.ops), len(document.ops)))
    for n, card in enumerate(walk(root)):
        card.id = f"c{n}"
        for item in card.items:
            item.depth = card.depth + 1
    return root


def _enter(index: Index, open: list[Card], way: Way, at: int) -> None:
    above, part = open[-1].path, way[-1]
    if isinstance(part, str):
        card = Card("module", (*above, part), part, at, at, way=way)
    else:
        card = Card("function", above, f"{index.document.calls[part].name}()", at, at, way=way)
    open[-1].items.append(card)
    open.append(card)


def _add_op(index: Index, card: Card, i: int) -> None:
    """An op outside of deeper modules: with those of its line, or helper function, before it; or a pill of its own."""
    before = card.items[-1] if card.items else None
    if before is not None and before.kind == "ops" and before.last == i:
        is_named = not card.way and not index.document.ops[i - 1].source and index.variable(i - 1)  # by the user: ends a pill
        if not is_named and _place(index, i, card.path) == _place(index, i - 1, card.path):
            before.last = i + 1
            return
    card.items.append(Card("ops", card.path, "", i, i + 1))


def _line(index: Index, i: int) -> tuple[str, int] | None:
    source = index.document.ops[i].source
    return None if source is None else (source.file, source.line)


def _place(index: Index, i: int, path: Path) -> Hashable:
    """What ops of one pill have in common: a line; or a function that a module calls, if calls were not recorded."""
    return (helper(index, i) if path and not index.document.calls else "") or _line(index, i)


def helper(index: Index, i: int) -> str:
    """The function that an op stands in, unless that is the `forward` of a module, or the program around the model."""
    op, calls = index.document.ops[i], index.document.calls
    if calls:
        return "" if op.call is None else calls[op.call].name
    name = "" if op.source is None else op.source.function
    return "" if name in ("forward", index.program) or name.startswith("<") else name


def is_function(card: Card) -> bool:
    """Is it a call of a function, or several equal ones?"""
    return (card.items[0] if card.kind == "stack" else card).kind == "function"


def walk(card: Card) -> Iterator[Card]:
    """A card and all in it, each before what is in it."""
    todo = [card]
    while todo:
        one = todo.pop()
        yield one
        todo += reversed(one.items)


def ops_title(index: Index, card: Card, around: Card) -> str:
    """The names of some ops; before them the function that they are."""
    calls, own = index.document.calls, card.way[-1] if card.way else ""
    if calls:
        function = calls[own].name if isinstance(own, int) else ""
    else:
        function = helper(index, card.first) if around.kind != "function" else ""
    name = "" if index.document.ops[card.first].source else index.variable(card.last - 1)
    function = f"{function}() · " if function else f"{name} · " if name and around.way == () else ""
    return function + ops_named(index, card)


def ops_named(index: Index, card: Card, most: int = MOST_NAMES) -> str:
    """The names of ops that compute, each once, in order; or of those that only rearrange."""
    names = [index.op_text(i) for i in card.ops() if not index.rearranges(i)]
    shown = list(dict.fromkeys(names or [index.document.ops[i].name for i in card.ops()]))
    return ", ".join(shown[:most] + ["…"] * (len(shown) > most))


def only_rearranges(index: Index, card: Card) -> bool:
    """Is it folded into an arrow?"""
    return card.kind == "ops" and all(map(index.rearranges, card.ops()))


class _Tidier:
    """Names pills, puts what lists hold in their place, folds equal calls; from the inside out."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.classes = {m.path: m.name for m in index.document.modules}
        self.marked = {m.path for m in index.document.modules if m.hooks or m.marks}
        self._numbers: dict[Hashable, int] = {}
        self._made = [
            (i, self._number((o.name, *(index.tensors[t].value.shape for t in o.outputs if t is not None))))
            for i, o in enumerate(index.document.ops)
            if o.name not in UNFILLED and o.name not in REARRANGING
        ]

    def tidy(self, root: Card) -> None:
        for card in reversed([card for card in walk(root) if card is root or not self._is_list(card)]):
            items = [piece for item in self._unlisted(card) for piece in self._pieces(item)]
            is_short = all(item.kind == "ops" for item in items) and len(self._drawn(items)) <= MOST_LINES
            if card.kind == "function" and is_short:
                card.kind, card.title, items = "ops", "", []
            if card is not root and card.kind == "module" and all(i.kind == "ops" for i in items):
                items = []  # a module without modules in it: its ops are seen in its figure
            items = self._unwrapped(card, items)
            for item in items:
                if item.kind == "ops" and not item.title:
                    item.title = ops_title(self.index, item, card)
                _name(item, card.path)
            card.items = self._folded(items)
            only = card.items[0] if card is not root and len(card.items) == 1 else None
            if only is not None and only.kind == "stack" and only.path[:-1] == card.path:  # `layers` is the stack of its layers
                card.kind, card.items, card.path, card.period = "stack", only.items, only.path, only.period

    def _pieces(self, card: Card) -> list[Card]:
        """A pill of one line as one for each thing that it does."""
        if card.kind != "ops" or card.last - card.first < 2 or (card.path and not self.index.document.calls):
            return [card]
        parts = apart(self.index, card.first, card.last)
        if not card.path:
            parts = [p for a, b in parts for c, d in terms(self.index, a, b) for p in expressions(self.index, c, d)]
        return [replace(card, first=a, last=b) for a, b in parts]

    def _unwrapped(self, around: Card, items: list[Card]) -> list[Card]:
        """In place of a wrapper what it holds."""
        calls = [item for item in items if item.kind != "ops"]
        is_alone = len(calls) == 1 and (not around.way or len(self._drawn(items)) == 1)
        found = list[Card]()
        for item in items:
            others = (part.path for other in calls if other is not item for part in (other, *other.items))
            found += item.items if self._is_wrapper(item, is_alone, others) else [item]
        return found

    def _is_wrapper(self, card: Card, is_alone: bool, others: Iterable[Path]) -> bool:
        """Does it hold everything; or is it a function with modules that have parts, which nothing calls outside of it?"""
        if card.kind == "function":
            if is_alone or not any(item.items for item in card.items):
                return is_alone
            return {item.path for item in card.items if item.kind != "ops"}.isdisjoint(others)
        return is_alone and card.kind == "module" and bool(card.items) and card.name not in self.marked

    def _is_list(self, card: Card) -> bool:
        """A list of modules is never called, so that a recording does not know it; a guess knows its class."""
        return card.kind == "module" and self.classes.get(card.name, "ModuleList" if self.classes else "") in LISTS

    def _drawn(self, items: list[Card]) -> list[Card]:
        return [item for item in items if not only_rearranges(self.index, item)]

    def _unlisted(self, card: Card) -> list[Card]:
        """What is in a card; of lists in it, and of functions with one thing in them, what they hold."""
        found, todo = list[Card](), card.items[::-1]
        while todo:
            item = todo.pop()
            if self._is_list(item) or (item.kind == "function" and len(self._drawn(item.items)) < 2):
                todo += item.items[::-1]
            else:
                found.append(item)
        return found

    def _folded(self, items: list[Card]) -> list[Card]:
        """Equal calls, and equal rows of calls, as stacks."""
        drawn = self._drawn(items)
        found, at = list[Card](), 0
        for r in repeats([self._signature(item) for item in drawn]):
            found += [*drawn[at : r.start], _stack(drawn, r)]
            at = r.end
        return found + drawn[at:] if at else items

    def _signature(self, card: Card) -> int:
        """The same number for equal calls: modules of one list, or lines, with the same ops and shapes."""
        first, last = bisect_left(self._made, (card.first,)), bisect_left(self._made, (card.last,))
        made = tuple(made for _, made in self._made[first:last])
        place = _line(self.index, card.first) if card.kind == "ops" else re.sub(r"\d+", "#", card.name)
        title = card.title if card.kind == "function" else ""
        return self._number((card.kind, place, title, made))

    def _number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _name(card: Card, above: Path) -> None:
    """Calls it as it is seen from the module around it: `layers.0`."""
    folded = [card]
    for one in folded:
        if one.kind == "stack":
            folded += one.items
    for one in reversed(folded):
        if one.kind == "module":
            one.title = ".".join(one.path[len(above) :])
        elif one.kind == "stack":
            one.title = _from_to(one.items, one.period)


def _stack(drawn: list[Card], repeat: Repeat) -> Card:
    """Equal calls, or equal rows of calls, as one card."""
    items = drawn[repeat.start : repeat.end]
    inside = len(items) > repeat.turns and items[0].kind == "module"
    path = items[0].path[:-1] if inside else items[0].path
    title = _from_to(items, repeat.period)
    return Card("stack", path, title, items[0].first, items[-1].last, items, period=repeat.period)


def _from_to(items: list[Card], period: int) -> str:
    """`layers.0 … layers.2`; the same title but once."""
    first, last = _module_titles(items[:period]), _module_titles(items[-period:])
    if [item.title for item in items[:period]] != [item.title for item in items[-period:]]:
        return f"{first[0]} … {[title for title in last if title not in first][-1]}"
    names = list(dict.fromkeys(", ".join(first).split(", ")))
    return ", ".join([name for name in names if name != "…"][:MOST_NAMES] + ["…"] * (len(names) > MOST_NAMES))


def _module_titles(row: list[Card]) -> list[str]:
    """Of the modules in a row of calls; of a row without any, of its ops."""
    return [item.title for item in row if item.kind != "ops"] or [item.title for item in row]


def call_numbers(index: Index, root: Card) -> dict[str, tuple[int, int]]:
    """By card, which call of how many it is of its module, within one call of the module around. A guess is told only if all
    calls did the same.
    """
    found = defaultdict[tuple[str, Path], list[Card]](list)
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
