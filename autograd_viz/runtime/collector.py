"""Python's garbage collector, which scans all live objects after N allocations: paused while a picture is made, which makes
many thousands of objects and no cycles, and rarer while ops are recorded.
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


OBJECTS = 8  # that a recorded op makes where a plain one makes one
_recordings = 0
_usual = _set = (0, 0, 0)


def recording_begins() -> None:
    """Every op makes OBJECTS times as many objects now, and the collector still comes after as many ops."""
    global _recordings, _usual, _set
    _recordings += 1
    if _recordings == 1:
        _usual = gc.get_threshold()
        _set = (_usual[0] * OBJECTS, *_usual[1:])
        gc.set_threshold(*_set)


def recording_ends() -> None:
    """The last recording puts the threshold back, unless somebody else has set one."""
    global _recordings
    _recordings -= 1
    if not _recordings and gc.get_threshold() == _set:
        gc.set_threshold(*_usual)
