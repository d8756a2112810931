"""A cursor over a backward pass: live, forwards and back. No widget and no clock in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from . import words
from .graph.model import Document
from .graph.trace import State, Step, Trace, state_at
from .sentences import Sentences


class LivePass(Protocol):
    """What a stepper needs of a backward pass, whoever runs it."""

    def next_node(self) -> str | None:
        """Id of the node that `advance` would run, or None at the end."""

    def advance(self) -> Step | None:
        """Run one node for real."""

    def undo(self, index: int) -> None:
        """Take back what a step did to the user's tensors."""

    def redo(self, index: int) -> None:
        """Do it again."""


class Stepper:
    """Steps a backward pass one `grad_fn` call at a time.

    `next` at the frontier calls the next node for real; `back` takes back what it did to `grad` and to saved tensors;
    `next` after `back` does it again.

    Args:
        document: the graph before the pass.
        live: the pass.

    Attributes:
        trace: the steps that have run, wherever the cursor is.
    """

    def __init__(self, document: Document, live: LivePass) -> None:
        self.document = document
        self.trace = Trace(complete=live.next_node() is None)
        self._live = live
        self._step = 0
        self._sentences = Sentences(document)
        self._listeners: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        end = "" if not self.trace.complete else f" of {len(self.trace.steps)}"
        return f"<Stepper at step {self._step}{end}: {self.sentence}>"

    @property
    def step(self) -> int:
        """How many steps are done at the cursor; 0 is the start."""
        return self._step

    @property
    def is_complete(self) -> bool:
        """True if the cursor is at the end of the pass."""
        return self.trace.complete and self._step == len(self.trace.steps)

    @property
    def state(self) -> State:
        """What a picture shows at the cursor."""
        return state_at(self.trace, self._step)

    @property
    def current(self) -> Step | None:
        """The step that brought the cursor here, or None at the start."""
        return self.trace.steps[self._step - 1] if self._step else None

    @property
    def sentence(self) -> str:
        """What happened last, in words."""
        return self.sentence_at(self._step)

    def sentence_at(self, step: int) -> str:
        """What happened in a recorded step; 0 is the start."""
        if step == 0:
            return self._sentences.start(self.trace.steps[0].node if self.trace.steps else self._live.next_node())
        end = f" {words.COMPLETE}" if self.trace.complete and step == len(self.trace.steps) else ""
        return self.trace.steps[step - 1].sentence + end

    # -- moving -------------------------------------------------------------------------------------------------------

    def next(self) -> Step | None:
        """One step forward; returns it, or None at the end.

        Raises:
            Exception: whatever the node raises. The stepper stays where it was, and stays usable.
        """
        moved = self._forward()
        self._announce()
        return moved

    def back(self) -> None:
        """One step back: `grad` and saved tensors are as they were before it. Nothing at the start."""
        self.goto(max(0, self._step - 1))

    def finish(self) -> None:
        """To the end of the pass."""
        try:
            while self._forward() is not None:
                pass
        finally:
            self._announce()

    def reset(self) -> None:
        """Back to the start."""
        self.goto(0)

    def goto(self, step: int) -> None:
        """To any step; beyond the frontier it runs nodes for real, as far as there are any.

        Raises:
            ValueError: a negative step.
        """
        if step < 0:
            raise ValueError(f"step must not be negative, got {step}")
        try:
            while self._step > step:
                self._step -= 1
                self._live.undo(self._step)
            while self._step < step and self._forward() is not None:
                pass
        finally:
            self._announce()

    def on_move(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every move."""
        self._listeners.append(listener)

    def _forward(self) -> Step | None:
        if self._step < len(self.trace.steps):
            self._live.redo(self._step)
        else:
            step = self._live.advance()
            if step is None:
                return None
            step = replace(step, sentence=self._sentences.step(step, self.trace))
            self.trace = Trace((*self.trace.steps, step), complete=self._live.next_node() is None)
        self._step += 1
        return self.trace.steps[self._step - 1]

    def _announce(self) -> None:
        for listener in self._listeners:
            listener()
