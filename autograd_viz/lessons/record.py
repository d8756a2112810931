"""What was answered since the kernel started. It stays in this process."""

from __future__ import annotations

from datetime import datetime
from typing import Any

_answers: list[dict[str, Any]] = []


def answers() -> list[dict[str, Any]]:
    """Every answer to a question, in order: a table with one dict per row. Nothing leaves the machine.

    The columns are: `question`, `attempt` (1 for the first), `given`, `right`, `state` ("right", "again" after a first wrong
    answer, "wrong", "shown") and `time`. ``pandas.DataFrame(answers())`` makes a frame of it.
    """
    return [dict(row) for row in _answers]


def note(question: str, attempt: int, given: str, state: str) -> None:
    """Remember one answer."""
    right = state == "right"
    time = datetime.now().astimezone().isoformat(timespec="seconds")
    _answers.append({"question": question, "attempt": attempt, "given": given, "right": right, "state": state, "time": time})
