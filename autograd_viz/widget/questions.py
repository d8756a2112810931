"""What a page asks of the kernel: moves, edits, groups to open."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any

from ..runtime.interrupts import alone

MOST_PRINTED = 4_000  # letters: only the last are kept
CHANGE = {"index": int, "how": str, "text": str}
# by kind, its fields; others are no questions, as the "nudge" that makes an answer come sooner (kernel.js)
FIELDS: dict[str, dict[str, type]] = {
    **{kind: {} for kind in ("run", "map", "into", "undo_edit", "frames")},
    **{kind: {"id": str} for kind in ("expand", "collapse", "figure", "leave")},
    "goto": {"step": int},
    "run_to": {"node": str},
    "until": {"tensor": str},
    "edit": CHANGE,
    "effect": {**CHANGE, "soft": bool},
}


class Questions:
    """Answers them. The page is told of errors; raised, they would be lost.

    Args:
        answers: by kind; each takes the fields in their order.

    Attributes:
        answered: how many.
    """

    def __init__(self, answers: Mapping[str, Callable[..., object]]) -> None:
        self._answers = answers
        self.answered = 0

    def ask(self, content: Any) -> str | None:
        """Gives what user code has printed; None if no move was asked for. Of several at once the last answers."""
        asked = self.answered
        with alone(), redirect_stdout(io.StringIO()) as printed:
            match content:
                case {"kind": "all", "questions": [*first, content]}:
                    for question in first:
                        self._answer(question)
            self.answered += _is_question(content) and content["kind"] != "frames"
            self._answer(content)
        return printed.getvalue()[-MOST_PRINTED:] if self.answered != asked else None

    def _answer(self, content: Any) -> None:
        if _is_question(content):
            with contextlib.suppress(Exception):
                self._answers[content["kind"]](*(content[name] for name in FIELDS[content["kind"]]))


def _is_question(content: Any) -> bool:
    fields = FIELDS.get(kind) if isinstance(content, dict) and isinstance(kind := content.get("kind"), str) else None
    return fields is not None and all(isinstance(content.get(name), kind) for name, kind in fields.items())
