"""A map that can be drawn: its cards, what they say, where they stand, and which are open."""

from __future__ import annotations

import fnmatch
import math
from collections import defaultdict
from collections.abc import Collection, Container

from ... import words
from ...graph.model import Document
from ...graph.paths import are_guessed
from ...graph.text import norm_of
from .cards import Card, cards_of, is_function, is_in_time, walk
from .flow import Flows
from .index import Index
from .labels import ROWS, Labels
from .numbers import Place
from .place import Places

HIGHEST = 1510.0  # px of a map on a page


class Plan:
    """A document as a map, whatever is open and whatever has run. `told`: parameters have a line each, of a picture that says
    something of each. `own`: as in `Index`.
    """

    def __init__(self, document: Document, told: bool = False, own: Container[str] = ()) -> None:
        self.document = document
        self.index = Index(document, own)
        self.root = cards_of(self.index)  # the whole program as a card
        self.cards = {card.id: card for card in walk(self.root)}
        self.above = {item.id: card.id for card in self.cards.values() for item in card.items}  # by card, where it stands
        flows = Flows(self.index)
        self.labels = Labels(self.index, self.root, {m.path: m for m in document.modules}, flows)  # what cards say
        self.places = self._placed(flows) if told else Places(self.root, flows, self.labels)  # where they stand
        self.members = members_of(self.index, self.root, self.above)  # by card, its backward nodes
        self.is_guessed = are_guessed(document)  # no module was recorded; they are read from the names of parameters
        self.levels = max((c.depth for c in self.cards.values()), default=1)

    def _placed(self, flows: Flows) -> Places:
        """Where cards stand, with as many parameters written out as fit on a page at the first depth."""
        for self.labels.rows in ROWS:
            places = Places(self.root, flows, self.labels)
            if places.heights(frozenset({self.root.id}))[self.root.id] <= HIGHEST:
                break
        return places

    @property
    def asked(self) -> frozenset[Place]:
        """The places whose norms are drawn."""
        flows = (flow for frame in self.places.frames.values() for flow in frame.flows)
        leaves = ((t.id, "grad", 0) for t in self.document.tensors if t.is_leaf)
        return frozenset(place for flow in flows for place in flow.places).union(leaves)

    def has_sums(self, opened: frozenset[str] | None) -> bool:
        """Does an arrow stand for several uses of a tensor that has others too? None: whatever is open."""
        frames = self.places.frames
        return any(flow.is_sum for id in (frames if opened is None else opened) for flow in frames[id].flows)

    def parameters(self) -> list[tuple[str, str]]:
        """The innermost card of each named parameter, and its name."""
        found = {line.id: card.id for card in self.cards.values() for line in self.labels.all_lines(card)}
        return [(card, name) for t, card in found.items() if (name := self.index.tensors[t].name)]

    @property
    def has_cards(self) -> bool:
        """Is there a module, scope or function that a map can show?"""
        return self.has_modules or any(card.kind == "function" for card in self.cards.values())

    @property
    def has_modules(self) -> bool:
        """Is there a module or scope that a map can show?"""
        return any(card.kind == "module" and card.path for card in self.cards.values())

    def opened(self, depth: int | None = None, open: Collection[str] = ()) -> frozenset[str]:
        """The cards that are open: `depth` levels, siblings alike, or as many as fit on a page; and what `open` means.
        ValueError: that is nothing.
        """
        around = (id for pattern in open for card in self.meant(pattern) for id in self.around(card.id))
        more = frozenset(id for id in around if self.cards[id].items)
        return (self._deepest() if depth is None else self._levels(depth, True)) | more

    def _levels(self, depth: int, stacks: bool | None = False) -> frozenset[str]:
        """Siblings alike; `stacks`: equal calls are opened too; None: those of one module, turn after turn, are not."""
        found, todo = set(), [self.root]
        while todo:
            card = todo.pop()
            found.add(card.id)
            opening = (c for c in card.items if c.items and c.depth < depth)
            todo += [c for c in opening if stacks or c.kind != "stack" or (stacks is None and not is_in_time(c))]
        return frozenset(found)

    def _deepest(self) -> frozenset[str]:
        """The most levels that fit on a page; equal calls stay folded where there are too many."""
        opened = self._levels(1)
        for depth in range(2, self.levels + 1):
            found = (self._levels(depth, None), opened | self._levels(depth))
            opened = next((more for more in found if self.places.heights(more)[self.root.id] <= HIGHEST), opened)
        return opened

    def meant(self, pattern: str) -> list[Card]:
        """The cards of a path, class, or function; `*` stands for anything. ValueError: there is none."""
        meant = [c for c in self.cards.values() if self._is_meant(c, pattern)]
        if not meant:
            first = (c.title if is_function(c) else c.name for c in self.root.items)
            names = ", ".join(filter(None, dict.fromkeys(first)))
            raise ValueError(f"open={pattern!r} matches no module or function; the first level has {names or 'none'}")
        return meant

    def card(self, what: str) -> Card:
        """The card of an id, path, or title. ValueError: there is none."""
        named = (c for c in self.cards.values() if what and what in (c.name if c.kind == "module" else "", c.title))
        found = self.cards.get(what) or next(named, None)
        if found is None:
            names = ", ".join(dict.fromkeys(c.title for c in self.root.items if c.path or c.items))
            raise ValueError(f"there is no card {what!r}; the first level has {names or 'none'}")
        return found

    def _is_meant(self, card: Card, pattern: str) -> bool:
        if is_function(card):
            return any(fnmatch.fnmatchcase(name, pattern) for name in (card.title, card.title.removesuffix("()")))
        module = self.labels.modules.get(card.name)
        around = self.cards[self.above[card.id]].path if card.id in self.above else ()
        lists = (".".join(card.path[:k]) for k in range(len(around) + 1, len(card.path)))  # "layers" of `layers.0`
        names = (card.name, "" if module is None else module.name, *lists)
        is_module = bool(card.path) and card.kind in ("module", "stack")
        return is_module and any(fnmatch.fnmatchcase(name, pattern) for name in names)

    def around(self, id: str) -> list[str]:
        """A card and all that it stands in, from the inside out."""
        found = [id]
        while found[-1] in self.above:
            found.append(self.above[found[-1]])
        return found

    def depth(self, opened: frozenset[str]) -> int:
        """How many levels are drawn throughout."""
        closed = (c.depth for c in self.cards.values() if c.items and c.id not in opened)
        return min(closed, default=self.levels)

    @property
    def result(self) -> str:
        """`loss = 2.97`."""
        roots = [self.index.tensors[t] for t in self.document.roots]
        named = ((t.name if t.name is not None and t.name.isidentifier() else words.MAP_RESULT, t.value) for t in roots)
        return ", ".join(f"{name} = {v.text if not v.shape else v.shape}" for name, v in named)

    @property
    def is_finite(self) -> bool:
        """Has the result no nan and no inf?"""
        norms = [norm_of(self.index.tensors[t].value) for t in self.document.roots]
        return all(n is None or math.isfinite(n) for n in norms)

    def summary(self, opened: frozenset[str] | None = None) -> str:
        """Parameters, nodes, depth of what is open."""
        said = [words.MAP_SUMMARY.format(parameters=self.labels.count(self.root), nodes=len(self.document.nodes))]
        said += [words.MAP_UNCOUNTED] if self.labels.is_uncounted(self.root) else []
        said += [] if opened is None else [words.MAP_DEPTH.format(depth=self.depth(opened), levels=max(self.levels, 1))]
        reasons = {op.reason for op in self.document.ops}
        said += [text for reason, text in (("opened", words.MAP_OPENED), ("exported", words.MAP_EXPORTED)) if reason in reasons]
        breaks = sum(bool(op.graph_break) for op in self.document.ops)
        said += [(words.MAP_ONE_BREAK if breaks == 1 else words.MAP_BREAKS).format(count=breaks)] if breaks else []
        return " · ".join(said + ([words.MAP_GUESSED] if self.is_guessed and self.has_modules else []))

    def titled(self, card: Card) -> str:
        """What stands on a card."""
        return self.result if card.kind == "root" or card is self.root else self.labels.titled(card)


def members_of(index: Index, root: Card, above: dict[str, str]) -> dict[str, list[str]]:
    """The nodes of each card, with those of the cards in it, in the order of the document. A node is where its op is;
    AccumulateGrad where its leaf is taken first; another where the node that leads to it is.
    """
    innermost = {i: card.id for card in walk(root) for i in card.ops()}
    place = {op.id: innermost.get(i, root.id) for i, op in enumerate(index.document.ops)}
    card_of: dict[str, str] = {}
    for node in index.document.nodes:
        if node.op is not None:
            card_of[node.id] = place[node.op]
        elif node.variable is not None and (users := index.users.get(node.variable)):
            card_of[node.id] = innermost.get(users[0], root.id)
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
