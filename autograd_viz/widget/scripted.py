"""The widget's methods for code. Each does what its button does, and the page follows."""

from __future__ import annotations

from typing import Any

from ..graph.model import Value
from ..graph.text import Labels, gradient_text
from ..graph.trace import Step
from ..stepper.stepper import Stepper
from ..stepper.stops import Stop


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

    def _show_pins(self) -> None:
        """Send the pins to the page."""
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
        """Replace the gradient that is about to enter the next node by a value, or a function of it: ``lambda g: 2 * g``."""
        self._try(self.stepper.edit, value, index)

    def preview(self, value: Any, index: int = 0) -> dict[str, tuple[str, str]]:
        """What an edit would do to the `grad` of each leaf at the end of the pass: by name, without the edit and with it.

        The rest of the pass runs, also hooks, and is taken back.
        """
        labels = Labels(self.stepper.document)
        found = self.stepper.preview(value, index).items()
        return {labels.of(id): (_told(without), _told(edited)) for id, (without, edited) in found}

    def undo_edit(self) -> None:
        """Undo the edit."""
        self._try(self.stepper.undo_edit)

    def stop_at(self, what: Any) -> None:
        """Stop before a node runs: an id, a tensor whose grad_fn it is, its name, or a card's path."""
        self.stepper.stop_at(self._first_of(what))
        self._show_stops()

    def stop_on(
        self,
        *,
        nan: bool | None = None,
        zero: bool | None = None,
        sign: bool | None = None,
        above: float | None = None,
        below: float | None = None,
        grad: Any = None,
        arrival: tuple[Any, int] | None = None,
    ) -> None:
        """Stop after a step in which something happens to a gradient. False turns it off.

        Args:
            nan: it became nan or inf.
            zero: it became all zero.
            sign: it left a node with another sign than it arrived with. An array has the sign of its mean.
            above: its norm became larger than this.
            below: its norm became smaller than this.
            grad: it arrived at this tensor.
            arrival: (tensor, k): it is the k-th that was sent to this tensor, which is used in several places.
        """
        self.stepper.stop_on(nan=nan, zero=zero, sign=sign, above=above, below=below, grad=grad, arrival=arrival)
        self._show_stops()

    def stop_when(self, condition: Any) -> None:
        """Stop after a step for which ``condition(step)`` is true."""
        self.stepper.stop_when(condition)
        self._tell_anew()
        self._show_stops()

    def clear_stops(self, stop: Stop | None = None) -> None:
        """Remove one of `stops`, or all."""
        self.stepper.clear_stops(stop)
        self._show_stops()

    def pin(self, what: Any, edge: int | None = None) -> None:
        """Keep a gradient in sight: that of a tensor, or what leaves along one of the next_functions of its grad_fn."""
        self.stepper.pin(what, edge)
        self._show_pins()

    def unpin(self, what: Any = None, edge: int | None = None) -> None:
        """Remove a pin, or all pins."""
        self.stepper.unpin(what, edge)
        self._show_pins()

    @property
    def sentence(self) -> str:
        """The last event, in words."""
        return self.stepper.sentence


def _told(grad: Value | None) -> str:
    return "None" if grad is None else gradient_text(grad)
