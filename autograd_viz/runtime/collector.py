"""Pauses Python's garbage collector while a picture is made.

The collector scans all live objects after N allocations. A picture makes many thousands of objects, and no cycles.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_waits() -> Iterator[None]:
    """Inside, the garbage collector is paused."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
