"""The widget's methods for code. Each does what its button does, and the page follows."""

from __future__ import annotations

from typing import Any

from ..graph.trace import Step
from ..stepper.stepper import Stepper


class Scripted:
    """Moves, stops and edits of a stepper; each updates the page."""

    stepper: Stepper

    def _try(self, move: Any, *args: Any) -> Any:
        """Make a move, and tell the page how it ended."""
        raise NotImplementedError

    def _first_of(self, what: Any) -> Any:
        """Of a card's path the node that runs first; anything else as it is."""
        raise NotImplementedError

    def _show_stops(self) -> None:
        """Send the stops to the page."""
        raise NotImplementedError

    def _tell_anew(self) -> None:
        """Send the recorded steps to the page again."""
        raise NotImplementedError

    def next(self) -> Step | None:
        """One step forward: calls the next node for real. Returns the step, or None at the end.

        Raises:
            Exception: whatever the node raises; the stepper stays where it was.
        """
        step: Step | None = self._try(self.stepper.next)
        return step

    def back(self) -> None:
        """One step back. It restores `grad` and saved tensors."""
        self._try(self.stepper.back)

    def finish(self) -> None:
        """Go to the end."""
        self._try(self.stepper.finish)

    def reset(self) -> None:
        """Go to the start."""
        self._try(self.stepper.reset)

    def goto(self, step: int) -> None:
        """Go to a step."""
        self._try(self.stepper.goto, step)

    def run(self) -> None:
        """Run to the next stop, or to the end."""
        self._try(self.stepper.run)

    def run_to(self, node: Any) -> None:
        """Run until a node is next. It is given by id, as the grad_fn of a tensor or a tensor's name, or by a card's path."""
        self._try(self.stepper.run_to, self._first_of(node))

    def until(self, tensor: Any) -> None:
        """Run until a gradient has reached a tensor, given as itself, by name or by id."""
        self._try(self.stepper.until, tensor)

    def edit(self, value: Any, index: int = 0) -> None:
        """Replace the gradient that is about to enter the next node."""
        self._try(self.stepper.edit, value, index)

    def undo_edit(self) -> None:
        """Undo the edit."""
        self._try(self.stepper.undo_edit)

    def stop_at(self, what: Any) -> None:
        """Stop before a node runs: an id, a tensor whose grad_fn it is, its name, or a card's path."""
        self.stepper.stop_at(self._first_of(what))
        self._show_stops()

    def stop_on(self, *, nan: bool | None = None, zero: bool | None = None) -> None:
        """Stop after a step that sends nan or inf, or only zeros. False turns it off."""
        self.stepper.stop_on(nan=nan, zero=zero)
        self._show_stops()

    def stop_when(self, condition: Any) -> None:
        """Stop after a step for which ``condition(step)`` is true."""
        self.stepper.stop_when(condition)
        self._tell_anew()
        self._show_stops()

    def clear_stops(self) -> None:
        """Remove all stops."""
        self.stepper.clear_stops()
        self._show_stops()

    @property
    def sentence(self) -> str:
        """The last event, in words."""
        return self.stepper.sentence
