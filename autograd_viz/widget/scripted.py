"""The widget's methods for those who step from code: each does what the button does, and the page follows."""

from __future__ import annotations

from typing import Any

from ..graph.trace import Step
from ..stepper.stepper import Stepper


class Scripted:
    """Moves, stops and edits of a stepper, of which the page is told."""

    stepper: Stepper

    def _try(self, move: Any, *args: Any) -> Any:
        """Make a move, and tell the page how it ended."""
        raise NotImplementedError

    def _first_of(self, what: Any) -> Any:
        """Of a card's path the node that runs first; anything else as it is."""
        raise NotImplementedError

    def _show_stops(self) -> None:
        """Tell the page which stops there are."""
        raise NotImplementedError

    def _tell_anew(self) -> None:
        """Tell the page of recorded steps again."""
        raise NotImplementedError

    def next(self) -> Step | None:
        """One step forward: calls the next node for real. Returns the step, or None at the end.

        Raises:
            Exception: whatever the node raises; the stepper stays where it was.
        """
        step: Step | None = self._try(self.stepper.next)
        return step

    def back(self) -> None:
        """One step back; `grad` and saved tensors are as they were."""
        self._try(self.stepper.back)

    def finish(self) -> None:
        """To the end."""
        self._try(self.stepper.finish)

    def reset(self) -> None:
        """Back to the start."""
        self._try(self.stepper.reset)

    def goto(self, step: int) -> None:
        """To any step."""
        self._try(self.stepper.goto, step)

    def run(self) -> None:
        """To the next stop, or to the end."""
        self._try(self.stepper.run)

    def run_to(self, node: Any) -> None:
        """Until a node is the next to run: an id, the tensor whose grad_fn it is, that tensor's name, or a card's path."""
        self._try(self.stepper.run_to, self._first_of(node))

    def until(self, tensor: Any) -> None:
        """Until a gradient has reached a tensor, given by name, id or itself."""
        self._try(self.stepper.until, tensor)

    def edit(self, value: Any, index: int = 0) -> None:
        """Replace the gradient that is about to enter the next node."""
        self._try(self.stepper.edit, value, index)

    def undo_edit(self) -> None:
        """Take the edit back."""
        self._try(self.stepper.undo_edit)

    def stop_at(self, what: Any) -> None:
        """Stop before a node runs: an id, a tensor whose grad_fn it is, its name, or a card's path."""
        self.stepper.stop_at(self._first_of(what))
        self._show_stops()

    def stop_on(self, *, nan: bool | None = None, zero: bool | None = None) -> None:
        """Stop (or, with False, do not stop) after a step that sends nan or inf, or nothing but zeros."""
        self.stepper.stop_on(nan=nan, zero=zero)
        self._show_stops()

    def stop_when(self, condition: Any) -> None:
        """Stop after a step for which ``condition(step)`` is true."""
        self.stepper.stop_when(condition)
        self._tell_anew()
        self._show_stops()

    def clear_stops(self) -> None:
        """Stop nowhere."""
        self.stepper.clear_stops()
        self._show_stops()

    @property
    def sentence(self) -> str:
        """What happened last, in words."""
        return self.stepper.sentence
