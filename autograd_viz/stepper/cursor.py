"""A position in a backward pass. It moves one node at a time, live, and back; no move interrupts another."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from .. import words
from ..answers.sentences import Past, Sentences, sent
from ..errors import AutogradVizError
from ..graph.history import History
from ..graph.model import Document, Value
from ..graph.text import label_of
from ..graph.trace import Engine, Rewritten, Step, Trace
from ..runtime.collector import collector_waits
from ..runtime.interrupts import alone, whole
from .sentences import in_words
from .stops import Facts, Stopped, Stops, facts_of


class LivePass(Protocol):
    """What a stepper needs from a backward pass of the core or of PyTorch. A body that says more is that of a recording."""

    is_recorded: bool  # the pass itself is recorded (create_graph)
    frees: bool  # a step frees saved tensors; else it only says what ``backward()`` would free

    @property
    def own_ranks(self) -> int:
        """Over how many ranks the gradients should be averaged, and are not; 0 if none."""

    @property
    def calls_user_code(self) -> bool:
        """Has it hooks, or a Function's backward?"""

    def next_node(self) -> str | None:
        """Id of the node that `advance` would run, or None at the end."""

    def advance(self) -> Step | None:
        """Run one node for real; if it raises, everything is as before. The step writes its numbers when they are read."""

    def undo(self, index: int) -> None:
        """Undo what a step did to the user's tensors."""

    def redo(self, index: int) -> bool:
        """Do it again. Returns False and does nothing if its inputs have changed since."""
        return True

    def rewind(self, index: int) -> None:
        """Put the engine back to before step `index`; the steps from there on are dropped."""

    def edit(self, value: Any, index: int, step: int) -> None:
        """Replace the gradient that will enter output `index` of a step's node; drop the steps from there on. Or refuse it."""

    def aside(self, step: int) -> AbstractContextManager[None]:
        """Inside, the pass stands before a step; it may be edited and run on. Afterwards everything is as before."""

    def grads(self) -> dict[str, Value | None]:
        """The grads of the leaves of the pass now, by id."""
        return {}

    def undo_edit(self) -> bool:
        """Undo the edit; False if there was none."""
        return False

    def edits(self) -> dict[int, Value]:
        """The user's edits that no node has run with yet: output of the next node -> gradient."""
        return {}

    def drift(self, among: Iterable[str] | None = None) -> dict[str, Value | None]:
        """The grads that were changed outside the stepper."""
        return {}

    def rewritten(self, among: Iterable[str] | None = None) -> dict[str, Rewritten]:
        """The tensors whose data was changed in place after they were drawn."""
        return {}

    def spoiled(self) -> dict[str, str]:
        """Saved tensors ("n0.saved.self") of nodes still to run that were modified ("stale") or "freed" by others."""
        return {}

    def untouched(self) -> AbstractContextManager[None]:
        """Steps that run and are taken back inside change nothing else, whatever user code they call."""
        return nullcontext()

    def engine(self) -> Engine:
        """Ready queue, waiting nodes and memory now."""

    def id_of(self, thing: Any) -> str | None:
        """The id of a live tensor or node of the graph, else None."""
        return None


class _Closed:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("this stepper is closed and keeps nothing of its pass: call step() again")


class Cursor:
    """A position in a pass, and the steps that have run."""

    def __init__(self, document: Document, live: LivePass, sentences: Sentences) -> None:
        self.step = 0  # how many steps are done here; negative positions replay the forward pass
        self.live = live
        self.history, self.stops = History(), Stops()  # of the steps that have run; what a run stops at
        self.stopped: Stopped | None = None  # why the last run stopped before the end, or the result of the last `until`
        self.failed: str | None = None  # id of the node that raised in the last move, or None
        # a move is being made; the cursor has just left the forward pass; everything is freed
        self.is_running = self.has_replayed = self.is_closed = False
        self._document, self._sentences = document, sentences
        self._past = Past(document)
        self._start = live.engine()
        self._trace: Trace | None = None
        self._facts: list[Facts] = []  # of the first steps
        self._move_listeners: list[Callable[[], None]] = []
        self._cut_listeners: list[Callable[[int], None]] = []
        # a listener is called after every move, or with k when the recorded steps from k on are dropped
        self.on_move, self.on_cut = self._move_listeners.append, self._cut_listeners.append

    def close(self) -> None:
        """Free everything of the pass."""
        self.is_closed, self.live = True, _Closed()
        self.history = self.live  # type: ignore[assignment]
        self._trace, self._past = None, Past(self._document)
        self._move_listeners.clear()
        self._cut_listeners.clear()

    @property
    def trace(self) -> Trace:
        """The steps that have run."""
        if self._trace is None:
            self._trace = Trace(tuple(self.history.steps), self.live.next_node() is None, self._start)
        return self._trace

    @property
    def next_node(self) -> str | None:
        """The node that a step from here calls."""
        position, steps = max(0, self.step), self.history.steps
        return steps[position].node if position < len(steps) else self.live.next_node()

    @property
    def current(self) -> Step | None:
        """The step that led here, or None up to the start."""
        return self.history.steps[self.step - 1] if self.step > 0 else None

    def facts(self, index: int) -> Facts:
        """Norms and signs of the gradients of a recorded step, from 0."""
        for step in self.history.steps[len(self._facts) : index + 1]:
            arrivals = self._past.arrived_at(step.node).values()
            self._facts.append(facts_of(step, self._past.nodes[step.node], sent(a for some in arrivals for a in some)))
        return self._facts[index]

    def announce(self) -> None:
        """Call those who listen for moves."""
        for listener in self._move_listeners:
            listener()

    def moving(self, move: Callable[[], Any]) -> Any:
        """Make a move, then call the listeners. A move that raises takes back the steps that it has made."""
        with alone(), collector_waits():
            self.failed = self.stopped = None
            begin = self.step
            try:
                self.is_running = True
                return move()
            except AutogradVizError:  # a recording is over: there is no grad
                raise
            except BaseException:
                self.to(min(max(begin, 0), self.step))
                raise
            finally:
                self.is_running = False
                self.has_replayed = begin < 0 == self.step
                self.announce()

    def to(self, step: int) -> None:
        """Go to a position, or to the end of the pass."""
        with whole():
            while self.step > step:
                self.step -= 1
                if self.step >= 0:
                    self.live.undo(self.step)
        while self.step < min(step, 0) or (self.step < step and self.next_node is not None):
            self.forward()

    def on(self, stops: bool = False, until: Callable[[], bool] | None = None, first: bool = False) -> None:
        """Forward to the end, to a stop, or until a condition holds (`first`: after at least one step)."""
        begin = self.step  # a run that starts at a breakpoint goes on
        self.step = max(self.step, 0)
        while self.next_node is not None and self.stopped is None:
            if until is not None and not (first and self.step == begin) and until():
                return
            if stops and self.step > begin and self.next_node in self.stops.nodes:
                self.stopped = Stopped("breakpoint", str(self.next_node))
            elif self.forward() is not None and stops:
                self.stopped = self.stops.hit(self.history.steps, self.step - 1, self.facts)

    def until(self, ends: frozenset[str], tensor: str) -> None:
        """Forward by at least one step, until a node of `ends` has run."""
        begin, name = self.step, label_of(self._document, tensor)
        self.on(until=lambda: self.current is not None and self.current.node in ends, first=True)
        if self.step > begin and self.current is not None and self.current.node in ends:
            self.stopped = Stopped("until", self.current.node, name)
        elif self.next_node is None:
            self.stopped = Stopped("unreached", "", name)

    def forward(self) -> Step | None:
        """One step forward; None at the end, and in the forward pass."""
        if self.step < 0:
            self.step += 1
            return None
        with whole():
            if self.step < len(self.history.steps) and not self.live.redo(self.step):
                self.cut(self.step)
            if self.step == len(self.history.steps):
                self._run_next()
            if self.step == len(self.history.steps):
                return None
            self.step += 1
            return self.current

    def _run_next(self) -> None:
        node, ran = self.live.next_node(), len(self.history.steps)
        try:
            step = self.live.advance()
        except BaseException:
            self.failed = node
            raise
        try:
            if step is not None:
                self._write_down(step)
        except BaseException:  # Ctrl-C in the user's condition, or no memory for a sentence: the step is not taken
            self.live.undo(ran)
            self.live.rewind(ran)
            raise

    def _write_down(self, ran: Step) -> None:
        """Its sentence and flags, like its numbers, are made when they are read."""
        ranks = self.live.own_ranks if self.live.next_node() is None else 0
        end = [words.OWN_RANK.format(ranks=ranks)] if ranks else []
        step = in_words(ran, self._sentences, self._past.arrived_at(ran.node), end)
        step = step if self.stops.condition is None else self.stops.with_condition(step)
        self.history.add(step)
        self._past.add(step)
        self._trace = None

    def ask_again(self) -> None:
        """There is a new condition: ask it about the steps that have run."""
        self.history.steps[:] = map(self.stops.with_condition, self.history.steps)
        self._trace = None

    def cut(self, begin: int) -> None:
        """Drop the recorded steps from this one on."""
        self.live.rewind(begin)
        self.history, self._trace = self.history.until(begin), None
        self._past.cut(begin)
        del self._facts[begin:]
        for listener in self._cut_listeners:
            listener(begin)
