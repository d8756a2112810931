"""Comparisons: True or False element by element, without a gradient."""

from __future__ import annotations

from ..primitive import primitive


@primitive(promotes=True)
def eq(self, other):
    """self == other."""
    return self == other


@primitive(promotes=True)
def ne(self, other):
    """self != other."""
    return self != other


@primitive(promotes=True)
def lt(self, other):
    """self < other."""
    return self < other


@primitive(promotes=True)
def le(self, other):
    """self <= other."""
    return self <= other


@primitive(promotes=True)
def gt(self, other):
    """self > other."""
    return self > other


@primitive(promotes=True)
def ge(self, other):
    """self >= other."""
    return self >= other
