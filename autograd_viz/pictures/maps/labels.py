"""What a card says: class, parameters with their norms, bytes kept, badges."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

from ... import words
from ...answers.sentences.text import size_text
from ...graph.model import Tensor
from ...graph.paths import Path
from ...graph.surroundings import Module
from ...graph.text import norm_of
from ..render.writer import why_unseen
from .cards import ALL_NAMES, Card, call_numbers, ops_named, walk
from .chips import Inside, row_of
from .code import code_of
from .flow import Flows
from .index import Index
from .numbers import Outliers, Place, norm_text

REENTRANT = "CheckpointFunction"  # of torch.utils.checkpoint
NOTHING = Module("")
ROWS = (4, 2, 0)  # how many parameters of a closed card a picture with a line for each writes out: as many as fit on a page
MOST_ODD = 2  # parameters that a card names, as something is odd about their gradients


@dataclass(frozen=True, slots=True)
class Line:
    """A parameter of a card; of what is left out, how many: "… 3 more"."""

    id: str  # of its leaf; empty for "… 3 more"
    name: str  # in its module
    shape: str = ""  # as text
    data: float | None = None  # norm of its values
    trains: bool = False  # it requires grad

    def said(self, known: Mapping[Place, float], odd: Outliers | None) -> tuple[str, bool]:
        """What is said of its gradient, and whether that is odd; `odd` is None before a pass is over: one may still come."""
        norm = known.get((self.id, "grad", 0))
        if not self.trains or (norm is None and odd is None):
            return "", False
        if norm is None or odd is None:
            return (words.MAP_NO_GRAD if norm is None else _grad_text(norm)), odd is not None and self.id in odd.missing
        if self.id in odd.grads:
            return words.MAP_GRAD_ODD.format(norm=norm_text(norm)), True
        return _grad_text(norm), not math.isfinite(norm) or self.id in odd.blocked


def _grad_text(norm: float) -> str:
    return words.MAP_GRAD_ZERO if norm == 0 else words.MAP_GRAD.format(norm=norm_text(norm))


def is_usual(norm: float) -> bool:
    """Finite, and not zero."""
    return norm != 0 and math.isfinite(norm)


def _parts(name: str | None) -> tuple[str, ...]:
    return tuple(part for part in (name or "").split(".") if part != "_orig_mod")  # which torch.compile puts between


class Labels:
    """What the cards of a document say. `modules`: class, hooks and marks by path."""

    def __init__(self, index: Index, root: Card, modules: Mapping[str, Module], flows: Flows) -> None:
        self.index, self.modules = index, modules
        # how many parameters of a closed card have a line each, one of `ROWS`; None: a card says them together
        self.rows: int | None = None
        self.told: Mapping[str, str] | None = None  # by card, what another picture says in place of parameters and bytes
        self.inside = Inside(flows, self.kind_of)  # what closed cards say of their inside
        self._leaves = {card.id: index.leaves(card.ops()) for card in walk(root)}
        self._code: dict[str, str] = {}
        self._lines: dict[tuple[str, str], Line] = {}  # by parameter and card
        self._shared = self._shared_leaves(root)
        self._models = self._variables()
        self._calls = call_numbers(index, root)
        modes = ["eval" in m.marks for m in modules.values() if m.name]
        self._mode = None if len(set(modes)) < 2 else 2 * sum(modes) <= len(modes)  # which is told: does it evaluate?
        block = {t.id: min(t.id, *t.shares) for t in index.document.tensors if t.shares}  # views keep the whole of their memory
        self._saved = {n.id: [(block.get(s.tensor, s.tensor) if s.tensor else (n.id, s.name), s.bytes)
                              for s in n.saved if s.state == "kept"] for n in index.document.nodes}  # fmt: skip

    def _shared_leaves(self, root: Card) -> frozenset[str]:
        """Parameters that modules of different paths use."""
        users: dict[str, set[str]] = defaultdict(set)
        for card in (card for card in walk(root) if card.kind == "module" and not card.items):
            for t in self._leaves[card.id]:
                users[t.id].add(card.name)
        return frozenset(t for t, names in users.items() if len(names) > 1)

    def kind_of(self, card: Card) -> str:
        """Class, and how many."""
        if card.kind == "stack":
            kinds = [kind for item in row_of(card) if (kind := self.kind_of(item))]
            if len(set(kinds)) == 1:  # Swin's blocks: windows stand still in one and move in the next
                return f"{kinds[0]} × {card.count * len(kinds):,}"
            return f"{', '.join(kinds)} × {card.count:,}".strip()
        module = self.modules.get(card.name)
        return "" if module is None or card.kind != "module" else module.name

    def count(self, card: Card) -> int:
        """How many numbers its parameters have."""
        return sum(math.prod(t.value.shape) for t in self._leaves[card.id] if t.requires_grad)

    def is_uncounted(self, card: Card) -> bool:
        """Has it parameters that its graph does not reach, because a reentrant checkpoint makes their part in the pass?"""
        return any(self.index.document.ops[i].name == REENTRANT for i in card.ops())

    def nodes(self, card: Card) -> list[str]:
        """The backward nodes of its ops."""
        return [op.node for op in self.index.document.ops[card.first : card.last] if op.node is not None]

    def kept(self, card: Card) -> int:
        """Bytes that its nodes keep, each block of memory once, as far as its tensors are known."""
        return sum(dict(saved for node in self.nodes(card) for saved in self._saved.get(node, ())).values())

    def unseen(self, card: Card) -> str:
        """Why nobody has seen its ops run, where the rest was recorded; "" of what was seen."""
        ops = self.index.document.ops[card.first : card.last]
        return why_unseen(ops[0]) if ops and all(op.reconstructed for op in ops) else ""

    def about(self, card: Card) -> str:
        """Parameters and bytes kept; of ops, line and nodes."""
        if self.told is not None:
            return self.told.get(card.id, "")
        if card.kind == "ops":
            broken = next((text for i in card.ops() if (text := self.index.document.ops[i].graph_break)), "")
            said = [(bool(broken), words.MAP_BREAK.format(reason=broken)), (True, self._place(card))]
        else:
            count, kept = self.count(card), self.kept(card)
            said = [(count > 0, words.MAP_PARAMETERS.format(count=count)), (self.is_uncounted(card), words.MAP_UNCOUNTED)]
            said.append((kept > 0, words.MAP_KEPT.format(size=size_text(kept))))
        return " · ".join(text for holds, text in said if holds)

    def code(self, card: Card) -> str:
        """The code of a pill, if it is known."""
        if card.id not in self._code:
            self._code[card.id] = code_of(self.index, card)
        return self._code[card.id]

    def titled(self, card: Card) -> str:
        """What stands on it: of a pill its code, or the names of its ops, as many as have room."""
        if card.kind != "ops" or self.code(card):
            return self.code(card) or card.title
        return card.title.removesuffix(ops_named(self.index, card)) + ops_named(self.index, card, ALL_NAMES)

    def _place(self, card: Card) -> str:
        source, count = self.index.document.ops[card.first].source, len(self.nodes(card))
        nodes = words.PICTURE_NODE if count == 1 else words.PICTURE_NODES.format(count=count)
        nodes = nodes if self.index.document.nodes else ""
        what = card.title.rpartition("() · ")[2] if self.code(card) else nodes
        return nodes if source is None else f"{words.AT_LINE.format(line=source.line)} · {what}"

    def lines(self, card: Card) -> list[Line]:
        """The parameters that are written out in a closed card."""
        if self.rows is None or card.depth == 0 or card.kind not in ("module", "function"):
            return []
        lines = self.all_lines(card)
        if len(lines) <= self.rows + 1:
            return lines
        return [*lines[: self.rows], Line("", words.MAP_MORE.format(count=len(lines) - self.rows))]

    def is_told(self, card: Card) -> bool:
        """Is what is wrong with the gradients of its parameters seen without an alarm?"""
        return self.rows is None or (all(line.id for line in self.lines(card)) and bool(self.lines(card)))

    def own(self, card: Card) -> list[Line]:
        """The parameters to be told in its line: its own, of a card without calls all, of ops those they take."""
        if card.kind not in ("module", "function", "ops") or card.depth == 0 or self.rows is not None:
            return []
        if card.items and card.kind != "ops":
            return [self._line(t, card) for t in self._leaves[card.id] if t.requires_grad and self._owner(t) == card.path]
        return [line for line in self.all_lines(card) if line.trains or card.kind != "ops"]

    def _owner(self, t: Tensor) -> Path:
        """The path of the module that a parameter belongs to."""
        parts = _parts(t.name)[:-1]
        return next((parts[k:] for k in range(len(parts) + 1) if k == 0 or parts[:k] in self._models
                     if ".".join(parts[k:]) in self.modules), ())  # fmt: skip

    def grads(self, card: Card, known: Mapping[Place, float], odd: Outliers | None) -> tuple[str, bool]:
        """What is said of the gradients of all its parameters together, and whether that is odd; `odd` as in `Line.said`."""
        trained = [t for t in self._leaves[card.id] if t.requires_grad]
        there = [norm for t in trained if (norm := known.get((t.id, "grad", 0))) is not None]
        if not trained or (len(there) < len(trained) and odd is None):
            return "", False
        lines = [self._line(t, card) for t in trained]
        said = [(line.name, *line.said(known, odd), known.get((line.id, "grad", 0))) for line in lines]
        is_odd = any(odd_one for _, _, odd_one, _ in said)
        if not there:
            return words.MAP_NO_GRAD, is_odd
        whole = math.nan if any(map(math.isnan, there)) else math.hypot(*there)
        found = [(name, text) for name, text, odd_one, norm in said if odd_one or not norm]
        if not found or whole == 0 or not math.isfinite(whole):
            return _grad_text(whole), is_odd or not math.isfinite(whole)
        names = ", ".join(name for name, _ in found[:MOST_ODD]) + (" …" if len(found) > MOST_ODD else "")
        return f"{names}: {found[0][1]}", is_odd

    def all_lines(self, card: Card) -> list[Line]:
        """All its parameters; of a module that trains nothing, its frozen ones and its buffers."""
        leaves = self._leaves[card.id]
        return [self._line(t, card) for t in ([t for t in leaves if t.requires_grad] or leaves)]

    def _line(self, t: Tensor, card: Card) -> Line:
        key = t.id, card.id
        if key not in self._lines:
            shared = takewhile(lambda parts: len({*parts}) == 1, zip(*(c.path for c in card.items), strict=False))
            around = card.path[: len(list(shared))] if card.kind == "stack" else card.path
            name, size = self._named(t.name, ".".join(around)), f" {t.value.shape}" if t.value.shape else ""
            self._lines[key] = Line(t.id, name, size, norm_of(t.value), t.requires_grad)
        return self._lines[key]

    def _named(self, name: str | None, path: str) -> str:
        """A parameter as its module calls it, "weight" of "model.head.weight"; of another module as the model calls it."""
        parts = _parts(name)
        model = next((k for k in range(1, len(parts)) if parts[:k] in self._models), 0)
        return ".".join(parts[model:]).removeprefix(f"{path}.")

    def _variables(self) -> frozenset[tuple[str, ...]]:
        """What names of parameters begin with: the variables that hold the models, `model` of "model.head.weight"."""
        found = set()
        for parts in (_parts(t.name) for t in self.index.document.tensors if t.is_leaf):
            known = (parts[:k] for k in range(len(parts) - 1) if ".".join(parts[k:-1]) in self.modules)
            found.add(next(known, ()))
        return frozenset(found - {()})

    def badges(self, card: Card) -> list[str]:
        """What is to be known of a card that no picture of its parts says."""
        if card.kind == "stack":
            each = Counter(badge for item in card.items for badge in self._marks(item))
            return [b if n >= card.count else f"{b} × {n}" for b, n in each.items() if b != words.MAP_SHARED]
        call = self._calls.get(card.id)
        return [*([words.MAP_CALL.format(number=call[0], count=call[1])] if call else []), *self._marks(card)]

    def _marks(self, card: Card) -> list[str]:
        """What is special about its module."""
        if card.kind != "module":
            return []
        module = self.modules.get(card.name, NOTHING)
        is_shared = not card.items and any(t.id in self._shared for t in self._leaves[card.id])
        above, evaluates = self.modules.get(".".join(card.path[:-1])), "eval" in module.marks
        is_told = bool(module.name) and self._mode is evaluates and not (above and ("eval" in above.marks) is self._mode)
        marks = [
            (words.MAP_SHARED, is_shared), (words.MAP_HOOK, bool(module.hooks)), (words.MAP_FROZEN, "frozen" in module.marks),
            (words.MAP_CHECKPOINTED, "checkpointed" in module.marks), (words.MAP_COMPILED, "compiled" in module.marks),
            (words.MAP_EVAL if evaluates else words.MAP_TRAINS, is_told),
        ]  # fmt: skip
        return [mark for mark, holds in marks if holds]

    def alarms(self, card: Card, known: Mapping[Place, float], odd: Outliers | None) -> list[str]:
        """Of a card whose parameters are not written out: what is wrong with their gradients; `odd` as in `Line.said`."""
        leaves = [t.id for t in self._leaves[card.id]]
        norms = [n for t in leaves if (n := known.get((t, "grad", 0))) is not None]
        found = [words.MAP_HAS_NAN] if any(math.isnan(n) for n in norms) else []
        found += [words.MAP_HAS_INF] if any(math.isinf(n) for n in norms) else []
        if odd is None:
            return found
        found += [words.MAP_HAS_ZERO] if norms and odd.blocked.issuperset(leaves) else []
        found += [words.MAP_NO_GRAD] if leaves and odd.missing.issuperset(leaves) else []
        far = [t for t in self._leaves[card.id] if t.id in odd.grads or t.id in odd.values]
        return found + [words.MAP_HAS_ODD.format(name=self._named(t.name, card.name)) for t in far[:1]]
