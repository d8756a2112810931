"""A recorded step for the front end: the words before and after it. With them the page can step both ways alone."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from ..answers.causes.why import Why
from ..graph import Engine, State, Step, Value
from ..graph.codec import to_plain
from ..graph.collapsed import Collapsed
from ..graph.text import Labels
from ..pictures.maps.arrows import ends, said_of, turns_said
from ..pictures.maps.cards import Card, is_in_time
from ..pictures.maps.drawing import MapDrawing
from ..pictures.maps.flow import Flow
from ..pictures.maps.numbers import Outliers, Place, of_step
from ..pictures.maps.odd import Odd
from ..pictures.render import Theme, Writer, printable
from ..pictures.render.drawing import Drawing
from ..pictures.render.pen import cell_address
from ..pictures.render.writer import Lines, moving
from ..stepper.stepper import Stepper
from .code_view import code_step
from .parts import Did, parts_of

Label = tuple[str, str]  # words, and their colour role
MOST_CAME = 8  # numbers that run to one node
MOST_READY = 5  # ready nodes that are named where boxes hide them


class FrameMaker:
    """Turns the steps of one document into frames, in order."""

    def __init__(self, shown: Collapsed, theme: Theme) -> None:
        self.shown = shown
        self.writer = Writer(shown.document, theme)
        self.called: Counter[str] = Counter()  # of groups only: their boxes show it
        self.values: dict[str, Value | None] = {}
        self.sent: dict[str, list[str]] = {}  # to each node since its last call: the addresses of the arrows
        self.targets = {f"next:{n.id}.{i}": f.node for n in shown.document.nodes for i, f in enumerate(n.next_functions)}
        self.current: Step | None = None
        self.why = Why(shown.whole)

    def frame(self, step: Step, sentence: str) -> dict[str, Any]:
        """The next frame; `Frame` in static/pass/history.js has its types.

        `node` and the addresses `fresh` are highlighted. `changes`: address, lines before, lines after. `moves`: address of an
        arrow, the number that moves along it. `came`: addresses of the arrows along which the gradients of the node have come.
        `why`: by tensor, the new reason for its grad, if it changed. `code`: see `code_step`.
        """
        shown = self.shown.step(step)
        addresses = list(dict.fromkeys(cell_address(c.at) for c in shown.changes))
        settling = self.current.accumulation if self.current else None  # its row still says old + incoming = new
        written = [*addresses, *([f"{settling.tensor}.grad"] if settling else [])]
        written += [f"{shown.node}.called"] if step.node in self.shown.shown else []
        before = self._lines(written)
        came = self.sent.get(shown.node, [])[:MOST_CAME]
        why = self._pass(step, shown)
        # safe to show: a name may hold characters that change the text direction
        rules = [(r, [replace(t, name=printable(t.name)) for t in r.terms]) for r in shown.named]
        named = tuple([replace(r, text=printable(r.text), terms=tuple(terms)) for r, terms in rules])
        now = self._lines(written)
        return {
            "node": shown.node,
            "sentence": sentence,
            "changes": [(at, before[at], lines) for at, lines in now.items() if before[at] != lines],
            "fresh": addresses,
            "moves": [(c.at, now[c.at][0][0][0]) for c in moving(shown)],  # the text of the label's only run
            "came": came,
            "step": to_plain(replace(shown, sentence="", named=named)),
            "why": {t: reason for t, reason in why.items() if self.shown.draws(t)},
            "code": code_step(step),
        }

    def pass_over(self, step: Step) -> None:
        """Pass over a step that already has a frame."""
        self._pass(step, self.shown.step(step))

    def _pass(self, step: Step, shown: Step) -> dict[str, str]:
        """Move to after the next step, and return the changed reasons."""
        if step.node in self.shown.shown:
            self.called[shown.node] += 1
        self.values |= {c.at: c.after for c in shown.changes}
        self.sent.pop(shown.node, None)
        for change in moving(shown):
            if target := self.targets.get(change.at):
                self.sent.setdefault(target, []).append(change.at)
        self.current = shown
        return self.why.next(step)

    def _lines(self, addresses: list[str]) -> dict[str, list[list[list[str]]]]:
        state = State(self.values, self.current, called=self.called)
        return {at: plain_lines(self.writer.lines(at, state)) for at in dict.fromkeys(addresses)}


def plain_lines(lines: Lines) -> list[list[list[str]]]:
    """Lines as JSON."""
    return [[[run.text, run.role] for run in line] for line in lines]


class MapFrames:
    """Turns the steps of one document into frames, in order."""

    def __init__(self, drawing: MapDrawing) -> None:
        self.plan, self.shown = drawing.plan, drawing.shown
        self.known: dict[Place, float] = drawing.at_start()
        self._oddities = Odd(self.plan)
        self._outliers: Outliers | None = None
        self._flows: dict[Place, list[tuple[Card, Flow]]] = defaultdict(list)
        self._leaf_labels: dict[str, list[tuple[str, Callable[[], Label]]]] = defaultdict(list)  # by leaf
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
            self._leaf_labels[line.id].append((f"line:{card.id}.{line.id}", partial(self._said, line.said)))
        for line in labels.all_lines(card):
            if card.depth == 0:
                self._leaf_labels[line.id].append((f"leaf:{line.id}", partial(self._said, line.said)))
            if labels.rows is None and card.depth:
                self._leaf_labels[line.id].append((f"grad:{card.id}", partial(self._said, labels.grads, card)))
            if card.items or not labels.is_told(card):
                self._leaf_labels[line.id].append((f"alarm:{card.id}", partial(self._alarms, card)))

    def _said(self, tell: Callable[..., tuple[str, bool]], *of: Card) -> Label:
        said, odd = tell(*of, self.known, self._outliers)
        return said, "grad" if odd else "link"

    def _alarms(self, card: Card) -> Label:
        return ", ".join(self._oddities.alarms(card, self.known, self._outliers)), "grad"

    def frame(self, step: Step, sentence: str) -> dict[str, Any]:
        """The next frame, as of a figure; `node` is the innermost card of the node, and the step is without its numbers.
        `norms`: flow, before, after.
        """
        told = of_step(step)
        flows = {flow.id: (card, flow) for place in told for card, flow in self._flows.get(place, ())}
        leaves = [place[0] for place in told if place[1] == "grad"]
        is_last = not step.engine.queue
        leaves = list(self._leaf_labels) if is_last else leaves  # a leaf without a gradient will get none now
        before = self._norms(flows), self._labels(flows, leaves)
        for place, norm in told.items():
            if norm is not None:
                self.known[place] = norm
        self._outliers = self._oddities.outliers(self.known, is_last)
        norms, written = self._norms(flows), self._labels(flows, leaves)
        changes = [(at, _run_of(before[1][at]), _run_of(now)) for at, now in written.items() if now != before[1][at]]
        return {
            "node": self.shown.shown.get(step.node, self.plan.root.id),
            "sentence": sentence,
            "changes": changes,
            "norms": [(id, before[0][id], now) for id, now in norms.items() if now != before[0][id]],
            "fresh": [at for at, _, _ in changes],
            "moves": [],
            "step": to_plain(replace(self.shown.step(step), sentence="", named=())),
            "why": {},
            "code": code_step(step),
        }

    def pass_over(self, step: Step) -> None:
        """Pass over a step that already has a frame."""
        self.frame(step, "")

    def _norms(self, flows: dict[str, tuple[Card, Flow]]) -> dict[str, float | str | None]:
        return {id: _plain(flow.gradient(self.known)) for id, (_, flow) in flows.items()}

    def _labels(self, flows: dict[str, tuple[Card, Flow]], leaves: list[str]) -> dict[str, Label]:
        said = {f"g:{id}": said_of(self._oddities, card, flow, self.known) for id, (card, flow) in flows.items()}
        for card, flow in flows.values():
            if flow.source in ends(card) and is_in_time(card):
                told = turns_said(card, self.plan.places.frames[card.id].flows, self.known)
                said[f"turns:{card.id}"] = told, "none"
        return said | {at: tell() for leaf in leaves for at, tell in self._leaf_labels.get(leaf, ())}


def _run_of(written: Label) -> list[list[list[str]]]:
    return [[list(written)]] if written[0] else []


def _plain(norm: float | None) -> float | str | None:
    return norm if norm is None or math.isfinite(norm) else str(norm)


class StepFrames:
    """Turns the recorded steps of a stepper into frames, in order."""

    def __init__(self, stepper: Stepper, drawing: Drawing | MapDrawing, theme: Theme) -> None:
        self._stepper, self._hidden = stepper, drawing.shown.shown
        self._maker = MapFrames(drawing) if isinstance(drawing, MapDrawing) else FrameMaker(drawing.shown, theme)
        self._did = Did(stepper.document, parts_of(drawing))
        self._labels = Labels(stepper.document)

    def frame(self, index: int) -> dict[str, Any]:
        """The next frame: that of `FrameMaker` or `MapFrames`, and `facts` (see stepper/stops.py), `did` (by part that the step
        has left, what it did), `ran` (the name of the node, if a box hides it) and `ready` (see there).
        """
        stepper = self._stepper
        step, facts = stepper.recorded[index], stepper.facts(index)
        made = self._maker.frame(step, stepper.sentence_at(index + 1))
        did = self._did.left(facts, step.engine.queue[0] if step.engine.queue else "")
        ran = self._name(step.node) if step.node in self._hidden else ""
        return {**made, "facts": facts.plain(), "did": did, "ran": ran, "ready": self.ready(step.engine)}

    def pass_over(self, index: int) -> None:
        """Pass over a step that already has a frame."""
        self._maker.pass_over(self._stepper.recorded[index])
        self._did.ran(self._stepper.facts(index))

    def ready(self, engine: Engine) -> list[tuple[str, str]]:
        """The box and the name of each node that could run now; [] if no box hides one."""
        first = engine.queue[:MOST_READY]
        if self._hidden.keys().isdisjoint(first):
            return []
        return [(self._hidden[n], self._name(n)) if n in self._hidden else (n, "") for n in first]

    def _name(self, node: str) -> str:
        return printable(self._labels.of(node))
