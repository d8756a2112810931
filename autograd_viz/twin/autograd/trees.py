"""Nests of tuples, lists and dictionaries: the arguments and results of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same nest with ``function(leaf)`` for each leaf."""
    if isinstance(tree, dict):
        return type(tree)((k, mapped(function, v)) for k, v in tree.items())
    if isinstance(tree, list | tuple):
        parts = [mapped(function, part) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return function(tree)


def leaves(tree: Any) -> list[Any]:
    """What is in the nest, in order."""
    found: list[Any] = []
    mapped(found.append, tree)
    return found


def filled(tree: Any, values: list[Any]) -> Any:
    """The same nest with other leaves."""
    rest = iter(values)
    return mapped(lambda _: next(rest), tree)
