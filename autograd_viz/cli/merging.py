"""`autograd-viz merge DIR`: the runs that the ranks of a job have written, side by side."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

from ..pictures.runs.merge import merged
from ..verbs.formats import check_run
from .program import UsageError
from .says import say


def merge(folder: Path, output: Path | None) -> int:
    """Read one .json of each rank, say what is odd between them, and write the table as .csv or .json.

    A file that is still being written is left out, and said. UsageError: no run in the folder, or another suffix.
    """
    if output is not None and output.suffix not in (".csv", ".json"):
        raise UsageError(f"merge writes a table: .csv or .json, not {output.suffix or output.name!r}")
    if output is not None:
        check_run(output)
    runs = _runs(folder)
    if not runs:
        raise UsageError(f"{folder} has no run: each rank writes one with av.save(run, 'run.rank3.json')")
    ranks, rows = merged(runs)
    say(f"{len(runs)} ranks, {max(ranks.steps):,} steps")
    for _, sentence in ranks.sentences(rows):
        say(f"  {sentence}")
    if output is not None:
        _write(output, ranks.table(rows))
        say(str(output))
    return 0


def _runs(folder: Path) -> dict[int, dict[str, Any]]:
    """By rank: the number at the end of a file's name. UsageError if two files have the same."""
    found: dict[int, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.json")):
        number = re.search(r"(\d+)$", path.stem)
        if number is None:
            say(f"{path}: left out, its name does not end in the number of a rank")
            continue
        try:
            run = json.loads(path.read_text(encoding="utf-8"))
            told = {name: run[name] for name in ("table", "totals", "steps")}
        except (ValueError, KeyError, TypeError):
            say(f"{path}: left out, it is no run, or is being written")
            continue
        if found.setdefault(int(number[1]), told) is not told:
            raise UsageError(f"{path}: another file is also of rank {int(number[1])}; merge one run of each rank")
    return found


def _write(output: Path, table: dict[str, list[Any]]) -> None:
    if output.suffix == ".json":
        output.write_text(json.dumps(table, allow_nan=False) + "\n", encoding="utf-8")
        return
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
