"""Where a stepper stands in a backward pass, what is to be seen there, and what is said of it."""

from __future__ import annotations

from .. import words
from ..graph.forward import hidden_at
from ..graph.model import Document
from ..graph.text import label_of
from ..graph.trace import State, Step, Trace, state_at
from ..render.escape import printable
from ..sentences import Sentences, explain_error, together, whose_error
from .live_pass import LivePass
from .stops import Stopped


class Cursor:
    """A position in a pass that is written down step by step; `Stepper` moves it.

    Args:
        document: the graph before the pass.
        live: the pass.

    Attributes:
        stopped: why the last run stopped before the end, or what the last `until` has come to, or None.
        failed: id of the node at which the last move raised, or None.
    """

    def __init__(self, document: Document, live: LivePass) -> None:
        self.document = document
        self.stopped: Stopped | None = None
        self.failed: str | None = None
        self._live = live
        self._steps: list[Step] = []
        self._start = live.engine()
        self._trace: Trace | None = None
        self._step = 0
        self._has_replayed = False  # the cursor has just come here out of the forward pass
        self._sentences = Sentences(document, live.is_recorded, live.frees)

    def __repr__(self) -> str:
        end = f" of {len(self._steps)}" if self.trace.complete else ""
        return f"<Stepper at step {self._step}{end}: {self.sentence}>"

    @property
    def trace(self) -> Trace:
        """The steps that have run, wherever the cursor is."""
        if self._trace is None:
            self._trace = Trace(tuple(self._steps), self._live.next_node() is None, self._start)
        return self._trace

    @property
    def step(self) -> int:
        """How many steps are done at the cursor; 0 is the start, before it the forward pass is replayed."""
        return self._step

    @property
    def first(self) -> int:
        """The first position: minus the number of forward ops."""
        return -len(self.document.ops)

    @property
    def is_complete(self) -> bool:
        """True if the cursor is at the end of the pass."""
        return self.trace.complete and self._step == len(self._steps)

    @property
    def state(self) -> State:
        """What a picture shows at the cursor."""
        if self._step < 0:
            return State(hidden=hidden_at(self.document, self._step))
        return state_at(self.trace, self._step)

    @property
    def current(self) -> Step | None:
        """The step that brought the cursor here, or None up to the start."""
        return self._steps[self._step - 1] if self._step > 0 else None

    @property
    def next_node(self) -> str | None:
        """Id of the node that `next` will call, or None at the end."""
        position = max(0, self._step)
        return self._steps[position].node if position < len(self._steps) else self._live.next_node()

    @property
    def sentence(self) -> str:
        """What happened last, in words; at the start of the backward pass the last op too, if the forward was replayed."""
        said = self.sentence_at(self._step)
        return together([self.forward_sentence(0), said]) if self._has_replayed else said

    def forward_sentence(self, position: int) -> str:
        """What the forward pass did last: from `first` (before its first op) to 0 (its last op has run)."""
        return printable(self._sentences.forward(position))

    def sentence_at(self, step: int) -> str:
        """What happened in a recorded step; 0 is the start."""
        return printable(self._said(step))

    def _sentence_of(self, step: Step) -> str:
        """What a step that has just run did."""
        said = step.sentence or self._sentences.step(step, self.trace)
        ranks = self._live.own_ranks if self._live.next_node() is None else 0
        return together([said, words.OWN_RANK.format(ranks=ranks)]) if ranks else said

    def _said(self, step: int) -> str:
        if step < 0:
            return self.forward_sentence(step)
        if step == 0:
            return self._sentences.start(self._steps[0].node if self._steps else self._live.next_node())
        end = f" {words.COMPLETE}" if self.trace.complete and step == len(self._steps) else ""
        return self._steps[step - 1].sentence + end

    @property
    def explanation(self) -> str:
        """Why the last run stopped, in words, or ""."""
        s = self.stopped
        if s is None:
            return ""
        name = label_of(self.document, s.node) if s.node else ""
        text = words.ui()[f"stopped_{s.kind}" if s.kind != "condition_error" else s.kind]
        return printable(text.format(node=name, error=s.text, tensor=s.text))

    def explain(self, error: BaseException) -> str:
        """What the last move raised, in one plain sentence: what an error of autograd's means, or whose code raised another."""
        name = next((n.name for n in self.document.nodes if n.id == self.failed), "")
        return explain_error(str(error), name) or (printable(whose_error(error, name)) if name else "")
