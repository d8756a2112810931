"""Pauses Python's garbage collector while a picture is made.

The collector scans all live objects after N allocations. A picture makes many thousands of objects, and no cycles.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_waits = False  # somebody has made it wait who would have let it run


@contextmanager
def collector_waits() -> Iterator[None]:
    """Inside, the garbage collector is paused."""
    global _waits
    was_enabled, before = gc.isenabled(), _waits
    gc.disable()
    _waits = before or was_enabled
    try:
        yield
    finally:
        _waits = before
        if was_enabled:
            gc.enable()


@contextmanager
def collector_as_before() -> Iterator[None]:
    """Inside, it runs as it did before it was made to wait: code of the user's may need it."""
    if not _waits or gc.isenabled():
        yield
        return
    gc.enable()
    try:
        yield
    finally:
        gc.disable()
