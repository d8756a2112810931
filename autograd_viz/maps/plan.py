"""What a map says: which cards are open, their lines, and what is odd."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..graph.model import Document, Tensor
from ..graph.text import norm_of
from ..graph.trace import Trace
from ..sentences.text import size_text
from .cards import Card, cards_of, of_leaves, walk
from .flow import ENTRANCE, Flow, Flows
from .numbers import Norms, norm_text
from .place import MOST_ROWS, Spot, key, placed

MOST = 24  # parts of a map at its first depth
HIGHEST = 1500.0  # px of it
FAR = 100.0  # how much a gradient may fall or grow in one part without a remark


@dataclass(frozen=True, slots=True)
class Line:
    """A parameter of a closed card.

    Attributes:
        name: in its module; empty for "… 3 more".
        shape: as text.
        data: norm of its values.
        said: of its gradient.
        trains: it requires grad.
        is_odd: no gradient, all zero, nan or inf.
    """

    name: str
    shape: str
    data: float | None
    said: str
    trains: bool
    is_odd: bool


class Plan:
    """A map that can be drawn.

    Args:
        document: the graph.
        trace: a pass through it, for the norms.
        classes: of modules by path.
        depth: how many levels are open; None for as many as fit.
        open: paths or class names of more cards to open; `*` stands for anything.
    """

    def __init__(
        self,
        document: Document,
        trace: Trace,
        classes: Mapping[str, str],
        depth: int | None = None,
        open: Collection[str] = (),
    ) -> None:
        self.document, self.classes = document, classes
        self.norms = Norms(document, trace)
        self.root = cards_of(document)
        self.flows = Flows(document, self.norms)
        self._lines = {key(c): self._all_lines(c) for c in walk(self.root)}
        self._rows = {k: len(lines) for k, lines in self._lines.items()}
        self.depth = self._deepest() if depth is None else depth
        self.spot = self._placed(self._opened(self.depth) | self._matching(open))
        self.largest = self._largest()

    # -- what is open -------------------------------------------------------------------------------------------------

    def _opened(self, depth: int) -> frozenset[int]:
        """The cards that are open when `depth` levels are drawn: siblings alike, stacks closed."""
        found, todo = set(), [self.root]
        while todo:
            card = todo.pop()
            found.add(key(card))
            todo += [c for c in card.items if c.items and c.kind == "module" and c.depth < depth]
        return frozenset(found)

    def _deepest(self) -> int:
        """The most levels that fit on a page: no more parts than `MOST`, no more px than `HIGHEST`."""
        depth = 1
        while (opened := self._opened(depth + 1)) != self._opened(depth):
            parts = sum(len(self.flows.parts(c)) for c in walk(self.root) if key(c) in opened) - len(opened) + 1
            if parts > MOST or self._placed(opened).h > HIGHEST:
                break
            depth += 1
        return depth

    def _placed(self, opened: frozenset[int]) -> Spot:
        return placed(self.root, self.flows, opened, self._rows)

    def _matching(self, patterns: Collection[str]) -> frozenset[int]:
        """The cards that are meant, and those around them.

        Raises:
            ValueError: nothing is meant.
        """
        found: set[int] = set()
        for pattern in patterns:
            meant = [c for c in walk(self.root) if c.path and self._is_meant(c, pattern)]
            if not meant:
                names = ", ".join(dict.fromkeys(c.name for c in self.root.items if c.name))
                raise ValueError(f"open={pattern!r} matches no module; the first level has {names or 'none'}")
            for card in meant:
                found |= {key(c) for c in walk(self.root) if c.items and c.first <= card.first and card.last <= c.last}
        return frozenset(found)

    def _is_meant(self, card: Card, pattern: str) -> bool:
        names = (card.name, self.classes.get(card.name, ""))
        return card.kind != "ops" and any(fnmatch.fnmatchcase(name, pattern) for name in names)

    # -- what is said -------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """`loss = 2.97`."""
        roots = [t for t in self.document.tensors if t.id in self.document.roots]
        return ", ".join(f"{_named(t)} = {t.value.text if not t.value.shape else t.value.shape}" for t in roots)

    @property
    def summary(self) -> str:
        """Parameters, nodes, depth."""
        leaves = [t for t in self.document.tensors if t.is_leaf and t.requires_grad]
        count = sum(math.prod(t.value.shape) for t in leaves)
        levels = max((c.depth for c in walk(self.root)), default=1)
        return f"{count:,} parameters · {len(self.document.nodes):,} backward nodes · depth {self.depth} of {levels}"

    def kind_of(self, card: Card) -> str:
        """Class, and how many."""
        name = self.classes.get(card.name, "")
        return f"{name} × {card.count}".strip() if card.kind == "stack" else name

    def about(self, card: Card) -> str:
        """Parameters and bytes kept."""
        leaves = [t for t in of_leaves(self.document, card) if t.requires_grad]
        count = sum(math.prod(t.value.shape) for t in leaves)
        kept = self._kept(card)
        said = [f"{count:,} parameters"] if count else []
        return " · ".join([*said, *([f"{kept} kept"] if kept else [])])

    def _kept(self, card: Card) -> str:
        nodes = {self.document.ops[i].node for i in card.ops()}
        saved = ((n.id, s) for n in self.document.nodes if n.id in nodes for s in n.saved if s.state == "kept")
        size = sum({s.tensor or (id, s.name): s.bytes for id, s in saved}.values())
        return size_text(size) if size else ""

    def place_of(self, card: Card) -> str:
        """Of ops outside of modules: line and nodes."""
        op, nodes = self.document.ops[card.first], sum(self.document.ops[i].node is not None for i in card.ops())
        line = "" if op.source is None else f"line {op.source.line} · "
        return f"{line}{nodes} node{'s' * (nodes != 1)}"

    def _all_lines(self, card: Card) -> list[Line]:
        if card.kind != "module" or not card.path:
            return []
        return [self._line(t, (t.name or "").rpartition(f"{card.name}.")[2]) for t in of_leaves(self.document, card)]

    def _line(self, tensor: Tensor, name: str) -> Line:
        size = f" {tensor.value.shape}" if tensor.value.shape else ""
        data, grad = norm_of(tensor.value), self.norms.of_leaf(tensor.id)
        if not tensor.requires_grad:
            return Line(name, size, data, "", False, False)
        said = "no grad" if grad is None else "grad all zero" if grad == 0 else f"grad {norm_text(grad)}"
        return Line(name, size, data, said, True, grad is None or grad == 0 or not math.isfinite(grad))

    def lines(self, spot: Spot) -> list[Line]:
        """The parameters that are written out in a card."""
        lines = [] if spot.is_open else self._lines[key(spot.card)]
        if len(lines) <= MOST_ROWS + 1:
            return lines
        return [*lines[:MOST_ROWS], Line("", f"… {len(lines) - MOST_ROWS} more", None, "", False, False)]

    # -- gradients ----------------------------------------------------------------------------------------------------

    def _all_flows(self) -> list[Flow]:
        found, todo = [], [self.spot]
        while todo:
            spot = todo.pop()
            found += spot.flows
            todo += spot.spots
        return found

    def _largest(self) -> float | None:
        """The largest norm on an arrow; None if none is known."""
        known = (f.gradient for f in self._all_flows() if f.gradient is not None)
        return max((g for g in known if math.isfinite(g) and g > 0), default=None)

    def remark(self, spot: Spot, flow: Flow) -> str:
        """What is odd about what leaves a part: it is `FAR` from what arrived at the part."""
        arrived = [f.gradient for f in spot.flows if f.source == flow.target and f.gradient is not None]
        before = math.hypot(*arrived) if arrived and flow.target >= 0 else 0.0
        if not before or not flow.gradient or not math.isfinite(before) or flow.source < ENTRANCE:
            return ""
        name = spot.spots[flow.target].card.title
        if flow.gradient * FAR < before:
            return f"÷ {before / flow.gradient:.3g} in {name}"
        return f"× {flow.gradient / before:.3g} in {name}" if flow.gradient > FAR * before else ""


def _named(tensor: Tensor) -> str:
    """A variable, or "result"."""
    return tensor.name if tensor.name is not None and tensor.name.isidentifier() else "result"
