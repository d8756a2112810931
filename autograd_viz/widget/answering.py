"""Does what the page asks of the kernel: moves, edits, groups to open."""

from __future__ import annotations

import ast
import io
from contextlib import redirect_stdout
from typing import Any

from .. import words
from ..maps.drawing import MapDrawing
from ..render.drawing import Drawing
from ..runtime.interrupts import alone
from .scripted import Scripted

MOST_PRINTED = 4_000  # letters: only the last are kept


class Answering(Scripted):
    """Answers the page's questions. Errors are shown on the page, not raised."""

    printed: Any
    send_state: Any  # ipywidgets'
    _drawing: Drawing | MapDrawing
    _questions: int
    _is_read: bool

    def expand(self, what: Any) -> None:
        """Open a closed group."""
        raise NotImplementedError

    def collapse(self, what: str) -> None:
        """Draw a group as one box again."""
        raise NotImplementedError

    def figure(self, what: str = "") -> None:
        """Go from the map to the figure of a card."""
        raise NotImplementedError

    def map(self) -> None:
        """Go back to the map."""
        raise NotImplementedError

    def leave(self, card: str) -> None:
        """Run until the next node is outside a card."""
        raise NotImplementedError

    def _tell(self, error: str = "", node: str = "") -> None:
        """Send what is new, and the error."""
        raise NotImplementedError

    def _asked(self, widget: Any, content: Any, buffers: Any) -> None:
        """The page asks for something that it cannot do alone. An error is shown there; raised, it would be lost."""
        asked, self._is_read = self._questions, True
        with alone(), redirect_stdout(io.StringIO()) as printed:
            match content:
                case {"kind": "all", "questions": [*first, content]}:
                    for question in first:
                        self._do(question)
            self._questions += 1  # the last of them answers
            self._do(content)
        if self._questions != asked:  # it was a move: no cell is running that this output could belong to
            self.printed = printed.getvalue()[-MOST_PRINTED:]

    def _do(self, content: Any) -> None:
        match content:
            case {"kind": "goto", "step": int(step)}:
                self.goto_quietly(step)
            case {"kind": "run"}:
                self._quietly(self.run)
            case {"kind": "run_to", "node": str(node)}:
                self._quietly(self.run_to, self._shown(node))
            case {"kind": "until", "tensor": str(tensor)}:
                self._quietly(self.until, self._shown(tensor))
            case {"kind": "expand" | "collapse" | "figure" | "leave" as kind, "id": str(id)}:
                self._quietly(getattr(self, kind), id)
            case {"kind": "map"}:
                self._quietly(self.map)
            case {"kind": "undo_edit"}:
                self._quietly(self.undo_edit)
            case {"kind": "edit", "index": int(index), "text": str(text)}:
                self._quietly(self._edit_text, text, index)
            case {"kind": "frames"}:
                self._questions -= 1
                self.send_state("frames")
            case _:  # also the page's "nudge": a message that makes the answer come sooner (kernel.js)
                self._questions -= 1

    def _shown(self, id: str) -> Any:
        """The document's own tensor or node of an id. A variable of the user's may also be called "t3".

        A group stands for its first node to run.
        """
        id = self._drawing.shown.first_node(id)
        known: dict[str, Any] = {x.id: x for x in self.stepper.document.tensors}
        known |= {x.id: x for x in self.stepper.document.nodes}
        return known.get(id, id)

    def _edit_text(self, text: str, index: int) -> None:
        """An edit typed into the page: a number, or a nested list of numbers."""
        try:
            value = _numbers(ast.literal_eval(text.strip().replace("nan", "'nan'").replace("inf", "'inf'")))
        except (ValueError, SyntaxError, TypeError, OverflowError, MemoryError, RecursionError):
            self._tell(words.ui()["edit_error"].format(error=f"{text!r:.40}"))
            return
        self.edit(value, index)

    def goto_quietly(self, step: int) -> None:
        """Go as far as possible; an error is shown under the picture."""
        self._quietly(self.goto, max(-len(self.stepper.document.ops), step))

    def _quietly(self, move: Any, *args: Any) -> None:
        try:
            move(*args)
        except Exception:
            return


def _numbers(value: Any) -> Any:
    """A literal in which the words "nan" and "inf" are numbers."""
    if isinstance(value, list | tuple):
        return [_numbers(v) for v in value]
    return value if isinstance(value, complex) else float(value)
