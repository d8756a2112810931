"""What the ranks of a job wrote of the programs that they ran."""

from __future__ import annotations

import json
from pathlib import Path


def reports_in(folder: Path, ranks: int) -> dict[str, dict[int, str]]:
    """By program and rank, what it raised, or ""."""
    found: dict[str, dict[int, str]] = {}
    for rank in range(ranks):
        path = folder / f"report{rank}"
        for line in path.read_text().splitlines() if path.exists() else ():
            name, error = json.loads(line)
            found.setdefault(name, {})[rank] = error
    return found
