"""The texts of a language: those of all its files."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module


def texts_in(package: str, folders: Iterable[str]) -> dict[str, dict[str, str]]:
    """The constants of a language's files by name; `UI` has the labels of all of them."""
    files = [vars(import_module(f"{package}.{file.name}")) for file in pkgutil.iter_modules(folders)]
    found = {name: text for file in files for name, text in file.items() if name.isupper()}
    return {**found, "UI": {key: label for file in files for key, label in file.get("UI", {}).items()}}
