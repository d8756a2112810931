"""The ops of all files by name, looked up when they are called. names.pyi says where each is declared, for editors and mypy."""

from __future__ import annotations

from typing import Any

from .readings import TENSOR_NAMES


def __getattr__(name: str) -> Any:
    """The op, or a function that calls the op of a file that is not loaded yet."""
    if name.startswith("__"):
        raise AttributeError(name)
    return TENSOR_NAMES.get(name) or (lambda *args, **options: TENSOR_NAMES[name](*args, **options))
