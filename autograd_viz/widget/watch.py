"""After every cell of a notebook, pictures are compared with what the cell has changed."""

from __future__ import annotations

import contextlib
from typing import Any, Protocol

from ..runtime.alive import Alive


class Refreshing(Protocol):
    """What can be watched."""

    def refresh(self) -> None:
        """Compare again."""


_watched: Alive[bool] = Alive()
_shell: Any = None


def watch(widget: Refreshing) -> None:
    """Refresh `widget` after every cell, as long as it is alive. Outside IPython nothing happens."""
    global _shell
    _watched[widget] = True
    shell = _present_shell()
    if shell is not None and shell is not _shell:
        shell.events.register("post_run_cell", _after_cell)
        _shell = shell


def _present_shell() -> Any:
    with contextlib.suppress(ImportError):
        from IPython.core.getipython import get_ipython

        return get_ipython()
    return None


def _after_cell(*_: Any) -> None:
    for widget in _watched:
        with contextlib.suppress(Exception):  # the user's cell must not fail because of a picture
            widget.refresh()
