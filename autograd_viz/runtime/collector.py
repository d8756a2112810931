"""Python's collector of cycles, while a picture is made.

It looks through everything that lives after so many new objects: a picture makes many thousands and leaves no cycles.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_waits() -> Iterator[None]:
    """Inside, cycles are not looked for."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
