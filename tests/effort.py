"""How many random examples a test tries: a few at every run, all of them with `--thorough`."""

from __future__ import annotations

THOROUGH = False  # set by the command line's option, before any test is imported


def examples(most: int) -> int:
    """`most` if the run is thorough, else a fifth of it."""
    return most if THOROUGH else max(1, most // 5)
