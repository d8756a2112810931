"""Which module (or scope) each op of a document ran in."""

from __future__ import annotations

from .guessed import Path, guessed_paths
from .model import Document

__all__ = ["Path", "are_guessed", "module_paths"]


def module_paths(document: Document) -> list[Path]:
    """The path of each op: as it was recorded, or else as parameters and the graph tell it."""
    if are_guessed(document):
        return guessed_paths(document)
    return [tuple(op.module.split(".")) if op.module else () for op in document.ops]


def are_guessed(document: Document) -> bool:
    """Has nobody seen in which modules the ops ran? Then `module_paths` guesses: what shows them should say so."""
    return not any(op.module for op in document.ops)
