"""The cells of a notebook that have run, in their order."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any


def has_record() -> bool:
    """Is there a `%%record` here? A notebook has it that has loaded the extension."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    magic = None if shell is None else shell.find_cell_magic("record")
    return getattr(magic, "__module__", "").startswith(__name__.partition(".")[0])


def numbers() -> Mapping[str, int]:
    """The number in `In [3]` of each cell, by the file name that Python has for the cell. Empty outside IPython.

    A cell that ran twice has its last number.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    found = getattr(getattr(shell, "compile", None), "_filename_map", None)
    return found if isinstance(found, Mapping) else {}
