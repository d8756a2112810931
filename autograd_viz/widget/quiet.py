"""Widgets that die without a line of Python: see Note [A destructor loses what it raises] in interrupts.py."""

from __future__ import annotations

import ipywidgets


class Quiet:
    """What dies has been closed already, as ipywidgets holds what is open: nothing is left to do, and C does that."""

    __del__ = object.__hash__


class QuietLayout(Quiet, ipywidgets.Layout):  # type: ignore[misc]
    """What a page calls the layout of a widget of ours."""
