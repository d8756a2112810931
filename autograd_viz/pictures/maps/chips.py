"""What a closed card says of its inside, in one line and in the order of the program: `norm → attn MLA + mlp MLP +`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from ... import words
from ..layout.measure import columns, text_width
from .cards import Card, only_rearranges
from .flow import ENTRANCE, Flows
from .ink import SMALL

CHIP = 12.0  # px of a chip's name
PAD, APART, ARROW = 8.0, 6.0, 16.0  # px: in a chip, between two, of an arrow between them
MANY = 3  # members of a list that one chip may stand for
LISTED = 34  # letters: so many tell the inside of a chip, where that says more than its class


class Chip(NamedTuple):
    """A part of a card."""

    kind: str  # "call" (of a module or function), "op", "join" (a way that passed others by comes in here), "more"
    title: str  # what it is called
    about: str = ""  # its class, or its parts
    after: bool = False  # it takes what the chip before it made

    @property
    def width(self) -> float:
        """px."""
        title = text_width(self.title, CHIP if self.kind == "call" else SMALL)
        about = text_width(f" {self.about}", SMALL) if self.about else 0.0
        return title + about + (2 * PAD if self.kind == "call" else 0.0)

    @property
    def before(self) -> float:
        """px between it and the chip before it."""
        return ARROW + APART if self.after else APART


def row_of(stack: Card) -> list[Card]:
    """One of the equal rows of calls that a stack stands for."""
    return stack.items[: stack.period]


class Inside:
    """The chips of each card; `kind_of` gives the class of a card."""

    def __init__(self, flows: Flows, kind_of: Callable[[Card], str]) -> None:
        self.flows, self.kind_of = flows, kind_of
        self._known: dict[str, list[Chip]] = {}

    def of(self, card: Card) -> list[Chip]:
        """Its chips; none of a card without calls."""
        if card.id not in self._known:
            self._known[card.id] = self._made(card)
        return self._known[card.id]

    def _made(self, card: Card) -> list[Chip]:
        if card.kind == "stack":
            row = [item for item in row_of(card) if not only_rearranges(self.flows.index, item)]
            calls = [item for item in row if item.kind != "ops"]
            if len(calls) > 1 or (calls and not calls[0].items):
                return [self._chip(item) for item in row] if len(row) > 1 else []
            return [chip for item in row for chip in (self.of(item) if item.kind != "ops" else [self._op(item, 2)])]
        parts, after = self.flows.parts(card) if card.items else [], set[int]()
        joins = [0] * len(parts)
        for flow in self.flows.of(card) if parts else ():
            if flow.target >= 0:
                joins[flow.target] += 1
            if flow.target == flow.source + 1 and flow.source != ENTRANCE:
                after.add(flow.target)
        return [
            self._op(part, joins[k]) if part.kind == "ops" else self._chip(part, k in after and parts[k - 1].kind != "ops")
            for k, part in enumerate(parts)
        ]

    def _op(self, card: Card, ways: int) -> Chip:
        if ways > 1 and (card.title == "Add" or card.title.startswith("Add, ")):
            return Chip("join", f"+ {card.title[5:]}".rstrip())
        return Chip("call" if "()" in card.title else "op", card.title.partition(" · ")[0])

    def _chip(self, card: Card, after: bool = False) -> Chip:
        kind = self.kind_of(card)
        if card.kind == "stack":
            name, _, count = kind.rpartition(" × ")
            return Chip("call", f"{count} × {name or card.title}", after=after)
        return Chip("call", card.title, self._about(card, kind), after)

    def _about(self, card: Card, kind: str) -> str:
        """What is in it, if that has equal parts and is short; or else its class, unless the name says that."""
        if any(item.kind == "stack" for item in card.items):
            listed = ", ".join(self._chip(item).title for item in card.items if item.kind not in ("ops", "root"))
            if columns(listed) <= LISTED:
                return listed
        last = re.split(r"[._]", card.title.rstrip("0123456789"))[-1].lower()
        return "" if last and last in kind.lower() else kind


def together(chips: list[Chip]) -> list[Chip]:
    """Members of one list and class as one chip, with what runs between them: `4 × Expert`."""
    lists = defaultdict[tuple[str, str], list[int]](list)
    for k, chip in enumerate(chips):
        name, _, number = chip.title.rpartition(".")
        if chip.kind == "call" and name and number.isdigit():
            lists[name, chip.about].append(k)
    for (name, about), places in lists.items():
        inside = [chip for k, chip in enumerate(chips[: places[-1]]) if k > places[0] and k not in places]
        if len(places) >= MANY and not any(chip.kind == "call" for chip in inside):
            first, last = places[0], places[-1] + 1
            return [*chips[:first], Chip("call", f"{len(places)} × {about or name}", "", chips[first].after), *chips[last:]]
    return chips


def fitted(chips: list[Chip], room: float) -> list[Chip]:
    """Chips for so many px: with classes, or without, or members of a list as one, or the first calls and how many more."""
    bare = [chip._replace(about="") for chip in chips]
    if sum(chip.width + chip.before for chip in bare) > room and len(folded := together(chips)) < len(chips):
        return fitted(folded, room)
    for shown in (chips, bare):
        if sum(chip.width + chip.before for chip in shown) <= room:
            return shown
    told = [chip for chip in bare if chip.kind != "op"]  # an op says less than a call
    told = told if len(told) < len(bare) and any(chip.kind == "call" for chip in told) else bare
    for k in range(len(told) - (told is bare), 0, -1):
        shown = [*told[:k], Chip("more", words.MAP_MORE.format(count=len(bare) - k))]
        if sum(chip.width + chip.before for chip in shown) <= room:
            return shown
    return [Chip("more", words.MAP_MORE.format(count=len(bare)))]
