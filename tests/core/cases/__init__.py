"""What to try each op on: CASES[op] = [(inputs, options), ...]; one file per file of ops."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np

Cases = dict[str, list[tuple[list[Any], dict[str, Any]]]]


def array(*shape: int, low: float = 0.4) -> Any:
    """Distinct values away from the kinks of abs and relu."""
    n = int(np.prod(shape, dtype=int))
    return (low + 0.37 * np.arange(n) * (-1.0) ** np.arange(n) + 0.05 * np.arange(n)).reshape(shape)


def positive(*shape: int) -> Any:
    return np.abs(array(*shape)) + 0.3


def all_cases() -> Cases:
    """The cases of every file in this folder."""
    files = [importlib.import_module(f"{__name__}.{f.name}") for f in pkgutil.iter_modules(__path__)]
    return {name: cases for f in files for name, cases in f.CASES.items()}


def without() -> dict[str, str]:
    """Ops without a case, each with the reason."""
    files = [importlib.import_module(f"{__name__}.{f.name}") for f in pkgutil.iter_modules(__path__)]
    return {name: reason for f in files for name, reason in getattr(f, "WITHOUT", {}).items()}


def not_twice() -> dict[str, str]:
    """Ops without a second derivative, each with the reason."""
    files = [importlib.import_module(f"{__name__}.{f.name}") for f in pkgutil.iter_modules(__path__)]
    return {name: reason for f in files for name, reason in getattr(f, "NOT_TWICE", {}).items()}
