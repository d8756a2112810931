"""Which module (or scope) each op of a document ran in."""

from __future__ import annotations

from .guessed import Path, guessed_paths
from .model import Document

__all__ = ["Path", "are_guessed", "module_paths"]


def module_paths(document: Document) -> list[Path]:
    """The path of each op: recorded, or else guessed from parameters and the graph."""
    if are_guessed(document):
        return guessed_paths(document)
    return [tuple(op.module.split(".")) if op.module else () for op in document.ops]


def are_guessed(document: Document) -> bool:
    """Are the paths of `module_paths` guesses, because nobody recorded the modules? A picture of them should say so."""
    return not any(op.module for op in document.ops)
