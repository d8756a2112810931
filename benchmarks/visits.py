"""Notes which tests visit a function: a plugin of pytest, and what `mutants.py` writes into each function calls."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any

_seen = set[str]()
_test = os.environ.get("PYTEST_CURRENT_TEST", "").partition("[")[0].partition(" ")[0]  # of who has started this process
_file = Path(os.environ.get("VISITS", ".")) / str(os.getpid())


def visit(function: str) -> None:
    """Note a function's first visit in a test."""
    if function not in _seen:
        _seen.add(function)
        if _test:
            with _file.open("a", encoding="utf-8") as out:
                out.write(f"{function}\t{_test}\n")


builtins.__visits__ = visit  # type: ignore[attr-defined]


def pytest_runtest_setup(item: Any) -> None:
    """A test begins, with whatever parameters: all functions count anew."""
    global _test
    test = item.nodeid.partition("[")[0]
    if test != _test:
        _test = test
        _seen.clear()
