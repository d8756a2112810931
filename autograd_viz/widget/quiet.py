"""Widgets that die without a line of Python: see Note [A destructor loses what it raises] in interrupts.py."""

from __future__ import annotations

import ipywidgets


class Quiet:
    """Gives a widget a destructor in C. ipywidgets holds open widgets, so a dying one is already closed."""

    __del__ = object.__hash__


class QuietLayout(Quiet, ipywidgets.Layout):  # type: ignore[misc]
    """The layout of our widgets."""
