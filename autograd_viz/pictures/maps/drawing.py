"""A document as it is drawn on a map: which cards are open, and the picture in any state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...graph.collapsed import Collapsed
from ...graph.model import Document
from ...graph.trace import State
from ..render.theme import Theme
from .numbers import Place, as_it_is, of_state
from .page import page_map
from .paint import painted, size_of
from .plan import Plan
from .shown import cards_shown


@dataclass(frozen=True)
class MapDrawing:
    """A map.

    Attributes:
        plan: the document as cards.
        opened: ids of the cards that are open.
        passed: norms of a whole pass that has run already; empty: those of the state that is drawn.
        steps: there are steps to come, so that a gradient that is not there may still come.
        whole: gives the document with all elements, where this one has only what a map shows.
    """

    plan: Plan
    opened: frozenset[str]
    passed: Mapping[Place, float] = field(default_factory=dict)
    whole: Callable[[], Document] | None = None
    steps: bool = False

    @property
    def document(self) -> Document:
        """The whole document."""
        return self.plan.document

    @property
    def height(self) -> float:
        """px."""
        return size_of(self.plan, self.plan.places.heights(self.opened))[1]

    @cached_property
    def shown(self) -> Collapsed:
        """The document with cards in place of nodes."""
        return cards_shown(self.plan)

    def expanded(self, what: str) -> MapDrawing:
        """The same with a card open, given by path or class; `*` stands for anything.

        Raises:
            ValueError: nothing is meant.
        """
        return MapDrawing(self.plan, self.opened | self.plan.opened(1, (what,)), self.passed, self.whole, self.steps)

    def collapsed(self, what: str) -> MapDrawing:
        """The same with a card closed.

        Raises:
            ValueError: nothing is meant.
        """
        closed = {c.id for c in self.plan.meant(what)}
        kept = (id for id in self.opened if not closed.intersection(self.plan.around(id)))
        return MapDrawing(self.plan, frozenset(kept), self.passed, self.whole, self.steps)

    def at_start(self) -> dict[Place, float]:
        """Norms by place before the first step."""
        return as_it_is(self.document) | dict(self.passed)

    def svg(self, state: State, theme: Theme, caption: str = "") -> str:
        """The picture in a state of the document."""
        known = self.at_start() | of_state(self.document, state)
        is_over = not self.steps or (state.current is not None and not state.current.engine.queue)
        return painted(self.plan, theme, self.opened, known, state.called, caption, is_over)

    def page(self, theme: Theme, is_over: bool) -> tuple[str, dict[str, Any]]:
        """The picture and the map as a page wants them; `is_over`: no steps are to come."""
        return page_map(self.plan, theme, self.opened, self.at_start(), is_over)
