"""After every cell of a notebook, pictures are compared with what the cell has changed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from ..runtime.alive import Alive

Widget = TypeVar("Widget")
_watched: Alive[Callable[[Any], None]] = Alive()
_shell: Any = None


def watch(widget: Widget, refresh: Callable[[Widget], None]) -> None:
    """Refresh a widget after every cell, as long as it is alive. Outside IPython nothing happens."""
    global _shell
    _watched[widget] = refresh
    with contextlib.suppress(ImportError):
        from IPython.core.getipython import get_ipython

        shell: Any = get_ipython()
        if shell is not None and shell is not _shell:
            shell.events.register("post_run_cell", _after_cell)
            _shell = shell


def _after_cell(*_: Any) -> None:
    for widget, refresh in _watched.items():
        with contextlib.suppress(Exception):  # the user's cell must not fail because of a picture
            refresh(widget)
