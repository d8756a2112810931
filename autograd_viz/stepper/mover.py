"""Moves a cursor: one node at a time, live, and back. A move must not be interrupted by another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import words
from ..answers.sentences import Past, sent
from ..errors import AutogradVizError
from ..graph.model import Document
from ..graph.text import label_of
from ..graph.trace import Step
from ..runtime.collector import collector_waits
from ..runtime.interrupts import alone, whole
from .cursor import Cursor
from .facts import Facts, facts_of
from .live_pass import LivePass
from .stops import Stopped, Stops
from .told import told


class Mover(Cursor):
    """The moves behind the verbs of a `Stepper`, and their listeners.

    Args:
        document: the graph before the pass.
        live: the pass.

    Attributes:
        stops: what a run stops at.
    """

    def __init__(self, document: Document, live: LivePass) -> None:
        super().__init__(document, live)
        self.stops = Stops()
        self._past = Past(document)
        self._facts: list[Facts] = []  # of the first steps
        self._runs = False
        self._move_listeners: list[Callable[[], None]] = []
        self._cut_listeners: list[Callable[[int], None]] = []

    def on_move(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every move."""
        self._move_listeners.append(listener)

    def on_cut(self, listener: Callable[[int], None]) -> None:
        """Call ``listener(k)`` when the recorded steps from k on are dropped."""
        self._cut_listeners.append(listener)

    def _announce(self) -> None:
        for listener in self._move_listeners:
            listener()

    def _moving(self, move: Callable[[], Any]) -> Any:
        """Make a move, then call the listeners. A move that raises takes back the steps that it has made."""
        with alone(), collector_waits():
            self.failed = self.stopped = None
            begin = self._step
            try:
                self._runs = True
                return move()
            except AutogradVizError:  # a recording is over: there is no grad
                raise
            except BaseException:
                self._to(min(max(begin, 0), self._step))
                raise
            finally:
                self._runs = False
                self._has_replayed = begin < 0 == self._step
                self._announce()

    def _to(self, step: int) -> None:
        with whole():
            while self._step > step:
                self._step -= 1
                if self._step >= 0:
                    self._live.undo(self._step)
        while self._step < step and self._can_go_on():
            self._forward()

    def _on(self, stops: bool = False, until: Callable[[], bool] | None = None, first: bool = False) -> None:
        """Forward to the end, to a stop, or until a condition holds (`first`: after at least one step)."""
        begin = self._step  # a run that starts at a breakpoint goes on
        self._step = max(self._step, 0)
        while self._can_go_on():
            if until is not None and not (first and self._step == begin) and until():
                return
            if stops and self._step > begin and self.next_node in self.stops.nodes:
                self.stopped = Stopped("breakpoint", str(self.next_node))
                return
            ran = self._forward() is not None
            self.stopped = self.stops.hit(self._steps, self._step - 1, self.facts) if stops and ran else None
            if self.stopped is not None:
                return

    def _until(self, ends: frozenset[str], tensor: str) -> None:
        """Forward by at least one step, until a node of `ends` has run."""
        begin = self._step
        self._on(until=lambda: self.current is not None and self.current.node in ends, first=True)
        name = label_of(self.document, tensor)
        if self._step > begin and self.current is not None and self.current.node in ends:
            self.stopped = Stopped("until", self.current.node, name)
        elif not self._can_go_on():
            self.stopped = Stopped("unreached", "", name)

    def facts(self, index: int) -> Facts:
        """Norms and signs of the gradients of a recorded step, from 0."""
        for step in self._steps[len(self._facts) : index + 1]:
            arrivals = self._past.arrived_at(step.node).values()
            self._facts.append(facts_of(step, self._past.nodes[step.node], sent(a for some in arrivals for a in some)))
        return self._facts[index]

    def _can_go_on(self) -> bool:
        return self.next_node is not None

    def _forward(self) -> Step | None:
        if self._step < 0:
            self._step += 1
            return None
        with whole():
            if self._step < len(self._steps) and not self._live.redo(self._step):
                self._cut(self._step)
            if self._step == len(self._steps):
                self._run_next()
            if self._step == len(self._steps):
                return None
            self._step += 1
            return self._steps[self._step - 1]

    def _run_next(self) -> None:
        """Call the next node, and record the step."""
        node = self._live.next_node()
        try:
            step = self._live.advance()
        except BaseException:
            self.failed = node
            raise
        if step is not None:
            try:
                self._write_down(step)
            except BaseException:  # Ctrl-C in the user's condition, or no memory for a sentence: the step is not taken
                self._live.undo(len(self._steps))
                self._live.rewind(len(self._steps))
                raise

    def _write_down(self, ran: Step) -> None:
        told = self._told(ran)
        step = told if self.stops.condition is None else self.stops.asked(told)
        self._history.add(step)
        self._past.add(step)
        self._trace = None

    def _told(self, ran: Step) -> Step:
        """The step with a sentence and flags. Like its numbers, they are made when they are read."""
        arrivals = self._past.arrived_at(ran.node)
        ranks = self._live.own_ranks if self.is_over else 0
        return told(ran, self._sentences, arrivals, [words.OWN_RANK.format(ranks=ranks)] if ranks else [])

    def _cut(self, begin: int) -> None:
        """Drop the recorded steps from this one on."""
        self._live.rewind(begin)
        self._history, self._trace = self._history.until(begin), None
        self._past.cut(begin)
        del self._facts[begin:]
        for listener in self._cut_listeners:
            listener(begin)
