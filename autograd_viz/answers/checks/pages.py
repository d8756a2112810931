"""All checks, by their numbers."""

from __future__ import annotations

from fnmatch import fnmatchcase
from types import ModuleType

from . import raised
from .check import Check
from .loop import (
    accumulated,
    cleared_before_step,
    clip_before_unscale,
    moved_anyway,
    never_stepped,
    not_held,
    step_order,
    step_too_large,
)
from .loss import broadcast_in_loss, squashed_twice
from .memory import kept_graphs
from .mode import evaluating
from .number import all_zero, norm_of_one, not_finite
from .path import detached, unused, written_as_data

PAGES: tuple[ModuleType, ...] = (
    detached, unused, written_as_data, squashed_twice, broadcast_in_loss, not_finite, all_zero, norm_of_one,
    cleared_before_step, not_held, never_stepped, step_order, accumulated, moved_anyway, clip_before_unscale, step_too_large,
    evaluating, kept_graphs, raised,
)  # fmt: skip
CHECKS: tuple[Check, ...] = tuple(page.CHECK for page in PAGES)
BY_CODE = {check.code: check for check in CHECKS}


def page_of(kind: str) -> tuple[Check, str] | None:
    """The check that finds a kind of cause, and how certain it is; None for a kind that only answers."""
    found = [(page, pattern) for page in CHECKS for pattern in page.kinds if fnmatchcase(kind, pattern)]
    best = max(found, key=lambda f: (f[1] == kind, len(f[1])), default=None)
    return None if best is None else (best[0], best[0].kinds[best[1]])
