"""A recorded step for the map's page: the norms before and after it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..graph.codec import to_plain
from ..graph.trace import Step
from ..pictures.maps.arrows import said_of
from ..pictures.maps.cards import Card
from ..pictures.maps.drawing import MapDrawing
from ..pictures.maps.flow import Flow
from ..pictures.maps.labels import Line
from ..pictures.maps.numbers import Place, of_step
from .code_view import passed

Written = tuple[str, str]  # words, and their colour role


class MapFrames:
    """Turns the steps of one document into frames, in order."""

    def __init__(self, drawing: MapDrawing) -> None:
        self.plan, self.shown = drawing.plan, drawing.shown
        self.known: dict[Place, float] = drawing.at_start()
        self._is_over = False
        self._flows: dict[Place, list[tuple[Card, Flow]]] = defaultdict(list)
        self._told: dict[str, list[tuple[str, Callable[[], Written]]]] = defaultdict(list)  # by leaf
        for card in self.plan.cards.values():
            if card.id in self.plan.places.frames:
                for flow in self.plan.places.frames[card.id].flows:
                    for place in flow.places:
                        self._flows[place].append((card, flow))
            self._know_leaves(card)

    def _know_leaves(self, card: Card) -> None:
        """Note where a card shows the gradients of leaves."""
        labels, lines = self.plan.labels, self.plan.labels.lines(card)
        for line in lines:
            self._told[line.id].append((f"line:{card.id}.{line.id}", partial(self._of_line, line)))
        for line in labels.all_lines(card):
            if card.depth == 0:
                self._told[line.id].append((f"leaf:{line.id}", partial(self._of_line, line)))
            if not labels.is_told(card):
                self._told[line.id].append((f"alarm:{card.id}", partial(self._of_card, card)))

    def _of_line(self, line: Line) -> Written:
        said, odd = line.said(self.known, self._is_over)
        return said, "grad" if odd else "link"

    def _of_card(self, card: Card) -> Written:
        return ", ".join(self.plan.labels.alarms(card, self.known)), "grad"

    def frame(self, step: Step, sentence: str) -> dict[str, Any]:
        """The next frame.

        Returns:
            node: the innermost card of the node.
            sentence: the sentence of the step.
            changes: (address, lines before, lines after).
            norms: (flow, before, after).
            fresh: addresses to highlight.
            step: the step as JSON, without its numbers.
            code: see `passed`.
        """
        told = of_step(step)
        flows = {flow.id: (card, flow) for place in told for card, flow in self._flows.get(place, ())}
        leaves = [place[0] for place in told if place[1] == "grad"]
        is_last = not step.engine.queue
        leaves = list(self._told) if is_last else leaves  # a leaf without a gradient will get none now
        before = self._norms(flows), self._written(flows, leaves)
        self._is_over = is_last
        for place, norm in told.items():
            if norm is not None:
                self.known[place] = norm
        norms, written = self._norms(flows), self._written(flows, leaves)
        changes = [(at, _lines(before[1][at]), _lines(now)) for at, now in written.items() if now != before[1][at]]
        return {
            "node": self.shown.shown.get(step.node, self.plan.root.id),
            "sentence": sentence,
            "changes": changes,
            "norms": [(id, before[0][id], now) for id, now in norms.items() if now != before[0][id]],
            "fresh": [at for at, _, _ in changes],
            "moves": [],
            "step": to_plain(replace(self.shown.step(step), sentence="", named=())),
            "why": {},
            "code": passed(step),
        }

    def pass_over(self, step: Step) -> None:
        """Pass over a step that already has a frame."""
        self.frame(step, "")

    def _norms(self, flows: dict[str, tuple[Card, Flow]]) -> dict[str, float | str | None]:
        return {id: _plain(flow.gradient(self.known)) for id, (_, flow) in flows.items()}

    def _written(self, flows: dict[str, tuple[Card, Flow]], leaves: list[str]) -> dict[str, Written]:
        said = {f"g:{id}": said_of(self.plan, card, flow, self.known) for id, (card, flow) in flows.items()}
        return said | {at: tell() for leaf in leaves for at, tell in self._told.get(leaf, ())}


def _lines(written: Written) -> list[list[list[str]]]:
    return [[list(written)]] if written[0] else []


def _plain(norm: float | None) -> float | str | None:
    """A norm as JSON, which has no nan."""
    return norm if norm is None or math.isfinite(norm) else str(norm)
