"""All checks, by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..causes.cause import Cause
from . import function, loop, loss, memory, number, path
from .check import SO, Check, check

ERRORS = ("modified*", "twice*", "root_frozen", "root_of_data", "root_unseen", "cut_*", "optimizer_not_leaf", "error")


@check("AV901", "raised", dict.fromkeys(ERRORS, SO))
def raised() -> Iterator[Cause]:
    """The program raised an error of autograd, and what was seen tells where it comes from."""
    yield from ()  # it is asked with the error: `causes_of_error`


AREAS = (path, loss, number, loop, memory, function)
ALL = [raised, *(c for area in AREAS for c in vars(area).values() if isinstance(c, Check))]
BY_CODE = {c.code: c for c in sorted(ALL, key=lambda c: c.code)}


def page_of(kind: str) -> tuple[Check, str] | None:
    """The check that finds a kind of cause, and how certain it is; None for a kind that only answers."""
    found = [(page, pattern) for page in BY_CODE.values() for pattern in page.kinds if fnmatchcase(kind, pattern)]
    best = max(found, key=lambda f: (f[1] == kind, len(f[1])), default=None)
    return None if best is None else (best[0], best[0].kinds[best[1]])
