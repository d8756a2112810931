"""The runs that go on. One whose model is gone ends when another begins: nobody has to close it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Watching(Protocol):
    """A run of PyTorch or of the core; `model` gives the model, or None if it is gone."""

    @property
    def model(self) -> Callable[[], Any]:
        """Gives it."""

    def close(self) -> None:
        """Stop watching."""


_open: list[Watching] = []


def begins(run: Watching) -> None:
    """A run begins."""
    for other in [*_open]:
        if other.model() is None:
            other.close()
    _open.append(run)


def ends(run: Watching) -> None:
    """A run ends."""
    _open[:] = [other for other in _open if other is not run]
