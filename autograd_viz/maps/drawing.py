"""A document as it is drawn on a map: which cards are open, and the picture in any state."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ..graph.model import Document
from ..graph.trace import State
from ..render.theme import Theme
from .numbers import Place, as_it_is, of_state
from .paint import painted, size_of
from .plan import Plan


@dataclass(frozen=True)
class MapDrawing:
    """A map.

    Attributes:
        plan: the document as cards.
        opened: ids of the cards that are open.
        passed: norms of a whole pass that has run already; empty: those of the state that is drawn.
    """

    plan: Plan
    opened: frozenset[str]
    passed: Mapping[Place, float] = field(default_factory=dict)

    @property
    def document(self) -> Document:
        """The whole document."""
        return self.plan.document

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in px."""
        return size_of(self.plan, self.plan.places.heights(self.opened))

    def opening(self, patterns: Collection[str]) -> MapDrawing:
        """The same with more cards open.

        Raises:
            ValueError: nothing is meant.
        """
        return MapDrawing(self.plan, self.opened | self.plan.opened(1, patterns), self.passed)

    def known(self, state: State) -> Mapping[Place, float]:
        """Norms by place in a state."""
        return as_it_is(self.document) | dict(self.passed) | of_state(self.document, state)

    def svg(self, state: State, theme: Theme) -> str:
        """The picture in a state of the document."""
        return painted(self.plan, theme, self.opened, self.known(state), state.called)
