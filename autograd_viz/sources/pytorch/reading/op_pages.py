"""Every op that ran, in pages of numbers. They cost the garbage collector nothing.

# Note [Pages]
An object per op would be many objects, and the collector would scan them again and again. So an op is a number. Its node has
that number and the mark of its page (`node.metadata`). A page is a list of what is known of its ops. It is kept while a node
has its mark, and then for `PASSES` more passes or `SPAN` more numbers. It has no node, tensor or value; leaves are numbers.
"""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch

from ....graph.surroundings import Source
from ....runtime.alive import Alive
from ...shared.source_code import source_at

KEY = "autograd_viz.op"  # in node.metadata: the number of the op
MARK = "autograd_viz.page"  # in node.metadata
BITS = 8  # a page has 2**BITS numbers
WIDTH = 5  # numbers in a row of a page
SPACE = 40  # each recorder has its own 2**SPACE numbers
PAGES = 2_000  # kept pages, even if nodes need more
PASSES = 4  # for so many passes, what led to detached results is kept
SPAN = 50_000  # for so many ops and events, what led to detached results is kept
LEAVES = 20_000  # leaves; above that, dead ones are removed
OWN = 2  # references to a mark that no node has: the page's, and the counter's

Line = tuple[CodeType, int]


def source_of(line: Line | None) -> Source | None:
    """The line and columns of an instruction."""
    return None if line is None else source_at(*line)


def name_of_function(func: object) -> str:
    """`data` of `Tensor.data.__get__`, else the function's own name."""
    name = getattr(func, "__name__", type(func).__name__)
    return str(getattr(getattr(func, "__self__", None), "__name__", name) if name in ("__get__", "__set__") else name)


class ModelCall:
    """Stands for a function, where an op is a call of a model."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


model_call = functools.cache(ModelCall)


@dataclass(eq=False, repr=False, slots=True, weakref_slot=True)
class OpRecord:
    """One op that ran, as an answer."""

    func: object
    line: Line | None  # the user's code object and instruction
    given: list[Any]  # the ops whose results it was given, and leaves that require grad; without those of long ago
    number: int  # rises with time
    cut: str = ""  # why its result has no history though an input has one: "op", "no_grad"; "" if it has one

    @property
    def name(self) -> str:
        """As the user wrote it, in `torch.<name>`."""
        return name_of_function(self.func)

    @property
    def source(self) -> Source | None:
        """Where it was called."""
        return source_of(self.line)


class SeenOp(OpRecord):
    """An op of a page; its inputs are looked up."""

    __slots__ = ("_ops",)

    def __init__(self, ops: Ops, func: object, line: Line, number: int, cut: str) -> None:
        self._ops, self.func, self.line, self.number, self.cut = ops, func, line, number, cut

    @property
    def given(self) -> list[Any]:  # type: ignore[override]
        """Its inputs, looked up."""
        return self._ops.given(self.number)

    @property
    def age(self) -> int:
        """How many passes had run; -1 if it is long gone."""
        page = self._ops._pages.get(self.number >> BITS)
        return -1 if page is None else page.age


class Leaf(weakref.ref[Any]):
    """A weak reference to a leaf that is an input of ops."""

    __slots__ = ("numbers", "since", "space", "used")
    numbers: tuple[int, ...]  # its own number, below 0. If it was made of the result of an op, also the op's number.
    since: int  # the number of its first use
    space: int  # of the recorder
    used: tuple[Any, ...]  # the last op that had it as an input: (function, code object, instruction, number)


class Mark:
    """All nodes of a page share it. Its reference count says how many are alive. The collector ignores it."""

    __slots__ = ()


@dataclass(eq=False, repr=False, slots=True)
class Page:
    """Some consecutive ops."""

    end: int  # the first number of the next page
    age: int  # how many passes had run
    mark: Mark = field(default_factory=Mark)
    rows: list[Any] = field(
        default_factory=list
    )  # of each op: number, function, code object, instruction, its begin in `given`
    given: list[int] = field(default_factory=list)  # the inputs of all
    cuts: dict[int, str] = field(default_factory=dict)  # of ops whose results have no history

    @property
    def is_alive(self) -> bool:
        """Is a node of its ops alive?"""
        return sys.getrefcount(self.mark) > OWN


class Ops:
    """The ops that are known."""

    def __init__(self) -> None:
        # the ops of results without a history: (number, function, code object, instruction, cut)
        self.made: Alive[tuple[Any, ...]] = Alive()
        self.age = 0  # how many passes have run
        self.space = next(_spaces)  # tells its numbers from those of other recorders
        self.now = self.began = self.space << SPACE  # it rises with every op and event; the first number after the last pass
        _all[self.space] = self
        self._pages: dict[int, Page] = {}
        self._turns: deque[int] = deque()
        self._leaves: dict[int, Leaf] = {}  # by number
        self._most_leaves, self._last_leaf = LEAVES, 0
        self._known: weakref.WeakValueDictionary[int, SeenOp] = weakref.WeakValueDictionary()
        self.page = self.turned()  # for the next op

    def wrote(self, func: object, code: CodeType, instruction: int, given: list[int]) -> int:
        """Note an op, whose inputs are ops and leaves with these numbers. Returns its number."""
        now = self.now = self.now + 1
        page = self.page if now < self.page.end else self.turned()
        page.rows += (now, func, code, instruction, len(page.given))
        self.gave(given, (func, code, instruction, now))
        return now

    def gave(self, numbers: list[int], used: tuple[Any, ...]) -> None:
        """Add inputs to the op of the last row."""
        self.page.given += numbers
        for n in numbers:
            if n < 0 and (leaf := self._leaves.get(n)) is not None:
                leaf.used = used

    def next_pass(self) -> None:
        """A pass begins; the next op starts a new page."""
        self.age += 1
        self.now = self.began = (self.now | ((1 << BITS) - 1)) + 1
        self.turned()

    def turned(self) -> Page:
        """Make a new page. Some of the oldest pages are dropped if nobody needs them."""
        for _ in range(min(4, len(self._turns))):
            key = self._turns.popleft()
            page = self._pages[key]
            is_new = page.age > self.age - PASSES and page.end > self.now - SPAN
            if (is_new or page.is_alive) and len(self._pages) < PAGES:
                self._turns.append(key)
            else:
                del self._pages[key]
        key = self.now >> BITS
        self.page = self._pages[key] = Page((key + 1) << BITS, self.age)
        self._turns.append(key)
        return self.page

    def leaf(self, tensor: torch.Tensor, made: tuple[Any, ...] | None) -> Leaf:
        """Add a new leaf; `made` is what is known of its op."""
        if len(self._leaves) >= self._most_leaves:
            self._leaves = {n: leaf for n, leaf in self._leaves.items() if leaf() is not None}
            self._most_leaves = max(LEAVES, 2 * len(self._leaves))
        self._last_leaf -= 1
        return self._named(tensor, (self._last_leaf,) if made is None else (self._last_leaf, made[0]), (), self.now)

    def _named(self, tensor: torch.Tensor, numbers: tuple[int, ...], used: tuple[Any, ...], since: int) -> Leaf:
        found = self._leaves[numbers[0]] = Leaf(tensor)
        found.numbers, found.space, found.used, found.since = numbers, self.space, used, since
        return found

    def part(self, tensors: Any) -> list[tuple[Any, tuple[int, ...], tuple[Any, ...], int]]:
        """Drop the references to leaves until `join`."""
        found = [(t, leaf.numbers, leaf.used, leaf.since) for leaf in self._leaves.values() for t in tensors if leaf() is t]
        for _, numbers, *_ in found:
            del self._leaves[numbers[0]]
        return found

    def join(self, parted: list[tuple[Any, tuple[int, ...], tuple[Any, ...], int]]) -> None:
        """Restore them."""
        for t, numbers, used, since in parted:
            self._named(t, numbers, used, since)

    def are_alive(self, since: int, until: int) -> bool:
        """Are nodes of ops with these numbers alive?"""
        pages = (self._pages.get(key) for key in range(since >> BITS, (until >> BITS) + 1))
        return any(page.is_alive for page in pages if page is not None)

    def op(self, number: int) -> SeenOp | None:
        """An op by its number; the same object while somebody has it. None if it is long gone."""
        known = self._known.get(number)
        if known is None and (place := self._place(number)) is not None:
            page, k = place
            _, func, code, instruction, _ = page.rows[k : k + WIDTH]
            known = self._known[number] = SeenOp(self, func, (code, instruction), number, page.cuts.get(number, ""))
        return known

    def has(self, number: int) -> bool:
        """Is an op still known?"""
        return number >> BITS in self._pages

    def given(self, number: int) -> list[Any]:
        """The inputs of an op, as far as they are known: ops and leaves."""
        place = self._place(number)
        if place is None:
            return []
        page, k = place
        start, *ends = page.rows[k + WIDTH - 1 :: WIDTH][:2]
        found = [self._leaves.get(n) if n < 0 else self.op(n) for n in page.given[start : ends[0] if ends else None]]
        return [g for g in (f() if type(f) is Leaf else f for f in found) if g is not None]

    def users(self, numbers: set[int]) -> list[SeenOp]:
        """The ops that were given a result of one of these."""
        found = []
        for page in [*self._pages.values()]:
            starts = [*page.rows[WIDTH - 1 :: WIDTH], len(page.given)] if not numbers.isdisjoint(page.given) else []
            used = [k for k in range(len(starts) - 1) if not numbers.isdisjoint(page.given[starts[k] : starts[k + 1]])]
            found += [self.op(page.rows[k * WIDTH]) for k in used]
        return [op for op in found if op is not None]

    def is_cut(self, number: int) -> bool:
        """Has its result no history?"""
        page = self._pages.get(number >> BITS)
        return page is None or number in page.cuts

    def _place(self, number: int) -> tuple[Page, int] | None:
        page = self._pages.get(number >> BITS)
        rows = [] if page is None else page.rows
        k = WIDTH * bisect_left(rows[::WIDTH], number)
        return None if page is None or k == len(rows) or rows[k] != number else (page, k)

    def tensor(self, number: int) -> Any:
        """The leaf with a number; None if it is gone."""
        leaf = self._leaves.get(number)
        return None if leaf is None else leaf()

    def leaves(self) -> list[tuple[Any, Leaf]]:
        """Live leaves that ops have used."""
        return [(t, leaf) for leaf in [*self._leaves.values()] if leaf.used and (t := leaf()) is not None]


_spaces = itertools.count()
_all: weakref.WeakValueDictionary[int, Ops] = weakref.WeakValueDictionary()


def op_of_node(node: Any) -> SeenOp | None:
    """The op that made a node, if it was recorded."""
    return None if (number := node.metadata.get(KEY)) is None else op_numbered(number)


def op_numbered(number: int) -> SeenOp | None:
    """An op of any recorder."""
    return None if (ops := _all.get(number >> SPACE)) is None else ops.op(number)


def op_that_made(tensor: Any) -> SeenOp | None:
    """The op of a result without a history, of any recorder."""
    known = next((known for ops in [*_all.values()] if (known := ops.made.get(tensor)) is not None), None)
    return None if known is None else op_numbered(known[0])


def results() -> Iterator[tuple[Any, int]]:
    """Live results without a history, with the numbers of their ops."""
    return ((t, known[0]) for ops in [*_all.values()] for t, known in ops.made.items())
