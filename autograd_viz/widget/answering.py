"""Does what the page asks of the kernel: moves, edits, groups to open."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import Any

from .. import words
from ..pictures.maps.drawing import MapDrawing
from ..pictures.render.drawing import Drawing
from ..runtime.interrupts import alone
from .changes import change_of
from .scripted import Scripted

MOST_PRINTED = 4_000  # letters: only the last are kept
MOST_LEAVES = 12  # lines of an effect
MOST_NODES = 1000  # of a pass whose effect is shown while a person types


class Answering(Scripted):
    """Answers the page's questions. Errors are shown on the page, not raised."""

    printed: Any
    effect: Any  # what an edit would do
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

    def into(self) -> None:
        """Open the closed group that is next."""
        raise NotImplementedError

    def leave(self, what: str) -> None:
        """Run until the next node is outside a group or card."""
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
            case {"kind": "map" | "into" as kind}:
                self._quietly(getattr(self, kind))
            case {"kind": "undo_edit"}:
                self._quietly(self.undo_edit)
            case {"kind": "edit", "index": int(index), "how": str(how), "text": str(text)}:
                self._quietly(self._edit_text, how, text, index)
            case {"kind": "effect", "index": int(index), "how": str(how), "text": str(text), "soft": bool(soft)}:
                self._quietly(self._show_effect, how, text, index, soft)
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

    def _edit_text(self, how: str, text: str, index: int) -> None:
        """An edit typed into the page."""
        try:
            change = change_of(how, text)
        except ValueError as error:
            self._tell(words.ui()["edit_error"].format(error=error))
            return
        self.effect = {}
        self.edit(change, index)

    def _show_effect(self, how: str, text: str, index: int, soft: bool) -> None:
        """What such an edit would do; if `soft`, only where no code of the user's would run and the pass is short."""
        asked = {"index": index, "how": how, "text": text}
        try:
            if soft and (len(self.stepper.document.nodes) > MOST_NODES or self.stepper.calls_user_code):
                self.effect = {**asked, "waits": True}
                return
            found = self.preview(change_of(how, text), index)
        except Exception as error:
            self.effect = {**asked, "error": words.ui()["edit_error"].format(error=error)}
        else:
            changed = [(name, *grads) for name, grads in found.items() if grads[0] != grads[1]]
            self.effect = {**asked, "rows": changed[:MOST_LEAVES], "more": len(found) - len(changed[:MOST_LEAVES])}
        finally:
            self._tell()

    def goto_quietly(self, step: int) -> None:
        """Go as far as possible; an error is shown under the picture."""
        self._quietly(self.goto, max(-len(self.stepper.document.ops), step))

    def _quietly(self, move: Any, *args: Any) -> None:
        try:
            move(*args)
        except Exception:
            return
