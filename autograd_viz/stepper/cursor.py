"""The position in a backward pass, its state, and its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import words
from ..answers.sentences import Sentences, explain_error, together, whose_error
from ..graph.forward import hidden_at
from ..graph.history import History
from ..graph.model import Document
from ..graph.text import label_of
from ..graph.trace import State, Step, Trace
from ..pictures.render.escape import printable
from ..runtime.uncopied import Uncopied
from .live_pass import LivePass
from .stops import Stopped


class _Closed:
    """Replaces what a closed stepper has freed."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("this stepper is closed and keeps nothing of its pass: call step() again")


class Cursor(Uncopied):
    """A position in a recorded pass; `Stepper` moves it.

    Args:
        document: the graph before the pass.
        live: the pass.

    Attributes:
        stopped: why the last run stopped before the end, or the result of the last `until`, or None.
        failed: id of the node that raised in the last move, or None.
    """

    def __init__(self, document: Document, live: LivePass) -> None:
        self.document = document
        self.stopped: Stopped | None = None
        self.failed: str | None = None
        self._live = live
        self._history = History()
        self._start = live.engine()
        self._trace: Trace | None = None
        self._step = 0
        self._has_replayed = False  # the cursor has just left the forward pass
        self._sentences = Sentences(document, live.is_recorded, live.frees)

    def _let_go(self) -> None:
        """Free everything of the pass."""
        self._live = self._history = _Closed()  # type: ignore[assignment]
        self._trace = None

    def __repr__(self) -> str:
        if isinstance(self._live, _Closed):
            return "<Stepper, closed>"
        end = f" of {len(self._steps)}" if self.is_over else ""
        return f"<Stepper at step {self._step}{end}: {self.sentence}>"

    @property
    def trace(self) -> Trace:
        """The steps that have run, independent of the cursor."""
        if self._trace is None:
            self._trace = Trace(tuple(self._steps), self.is_over, self._start)
        return self._trace

    @property
    def recorded(self) -> Sequence[Step]:
        """The steps that have run, as `trace` has them, without a copy. It changes when the stepper moves."""
        return self._steps

    @property
    def is_over(self) -> bool:
        """Has every step of the pass run, wherever the cursor is?"""
        return self._live.next_node() is None

    @property
    def _steps(self) -> list[Step]:
        return self._history.steps

    @property
    def step(self) -> int:
        """The number of steps done at the cursor; 0 is the start, negative positions replay the forward pass."""
        return self._step

    @property
    def first(self) -> int:
        """The first position: minus the number of forward ops."""
        return -len(self.document.ops)

    @property
    def is_complete(self) -> bool:
        """Is the cursor at the end of the pass?"""
        return self.is_over and self._step == len(self._steps)

    @property
    def state(self) -> State:
        """The state that a picture shows at the cursor."""
        if self._step < 0:
            return State(hidden=hidden_at(self.document, self._step))
        return self._history.at(self._step)

    @property
    def current(self) -> Step | None:
        """The step that brought the cursor here, or None up to the start."""
        return self._steps[self._step - 1] if self._step > 0 else None

    @property
    def next_node(self) -> str | None:
        """The id of the node that `next` will call, or None at the end."""
        position = max(0, self._step)
        return self._steps[position].node if position < len(self._steps) else self._live.next_node()

    @property
    def sentence(self) -> str:
        """The last event in words. After a replay of the forward pass, the start includes the last op."""
        said = self.sentence_at(self._step)
        return together([self.forward_sentence(0), said]) if self._has_replayed else said

    def forward_sentence(self, position: int) -> str:
        """The last event of the forward pass, from `first` (before its first op) to 0 (after its last op)."""
        return printable(self._sentences.forward(position))

    def sentence_at(self, step: int) -> str:
        """The sentence of a recorded step; 0 is the start."""
        return printable(self._said(step))

    def _said(self, step: int) -> str:
        if step < 0:
            return self.forward_sentence(step)
        if step == 0:
            return self._sentences.start(self._steps[0].node if self._steps else self._live.next_node())
        end = [words.COMPLETE] if self.is_over and step == len(self._steps) else []
        return together([self._steps[step - 1].sentence, *end])

    @property
    def explanation(self) -> str:
        """Why the last run stopped, in words, or ""."""
        s = self.stopped
        if s is None:
            return ""
        name = label_of(self.document, s.node) if s.node else ""
        text = words.ui()[f"stopped_{s.kind}" if s.kind != "condition_error" else s.kind]
        return printable(text.format(node=name, error=s.text, tensor=s.text, number=s.number))

    def explain(self, error: BaseException) -> str:
        """Explain the error of the last move: what autograd's error means, or which user code raised it."""
        name = next((n.name for n in self.document.nodes if n.id == self.failed), "")
        return explain_error(str(error), name) or (printable(whose_error(error, name)) if name else "")
