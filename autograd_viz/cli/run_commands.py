"""The commands about training runs: `watch` runs a script unchanged, `merge` joins the runs of the ranks of a job."""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import autograd_viz as av

from ..pictures.runs.table import join_runs
from ..verbs.formats import RUNS, check_among
from ..verbs.watch import NamedRun, each_run
from .program import ProgramError, SignalInterrupt, UsageError, end_on_signal, read, run_program
from .says import say


def merge(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Read one .json of each rank, say what is odd between them, and write the table as .csv or .json.

    A file that is still being written is left out, and said. UsageError: no run in the folder, or another suffix.
    """
    folder, output = arguments.folder, arguments.output
    if output is not None and output.suffix not in (".csv", ".json"):
        raise UsageError(f"merge writes a table: .csv or .json, not {output.suffix or output.name!r}")
    if output is not None:
        check_among(RUNS, output)
    runs = _runs(folder)
    if not runs:
        raise UsageError(f"{folder} has no run: each rank writes one with av.save(run, 'run.rank3.json')")
    ranks, rows = join_runs(runs)
    say(f"{len(runs)} ranks, {max(ranks.steps):,} steps")
    for _, sentence in ranks.sentences(rows):
        say(f"  {sentence}")
    if output is not None:
        _write_table(output, ranks.table(rows))
        say(str(output))


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


def _write_table(output: Path, table: dict[str, list[Any]]) -> None:
    if output.suffix == ".json":
        output.write_text(json.dumps(table, allow_nan=False) + "\n", encoding="utf-8")
        return
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def watch(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Run a script, watch every model that it trains, say what is odd, and write the picture of each.

    A second model's file has a number: `run.2.html`. What ends the program early is told after its runs: an error, Ctrl-C, a
    signal. In a job (torchrun), each rank writes its own .json or .csv, `run.rank3.json`, and only rank 0 a picture. Where
    there cannot be such a file, the script does not run.
    """
    check_among(RUNS, arguments.output)
    early: BaseException | None = None
    with each_run(arguments.stop) as runs:
        try:
            with end_on_signal():
                run_program(read(arguments.script, arguments.is_module), rest, is_recorded=False)
        except (ProgramError, KeyboardInterrupt, SignalInterrupt) as error:
            early = error
    stepped = [named for named in runs if named.run.history.steps]
    are_written = [_write(named, k, arguments.output, arguments.is_json) for k, named in enumerate(stepped, 1)]
    if early is not None:
        raise early
    if not stepped:
        say(f"{arguments.script}: no optimizer has stepped a module's parameters", sys.stderr)
    return 0 if all(are_written) else 1


def _write(named: NamedRun, number: int, output: Path, is_json: bool) -> bool:
    """Write the file of a run, and say what is odd in it. An error is said, so that the other runs are written."""
    path = _of_rank(output if number == 1 else output.with_name(f"{output.stem}.{number}{output.suffix}"))
    if path is None:
        return True
    try:
        av.save(named.run, path)
    except Exception as error:
        say(f"autograd-viz: {path}: {' '.join(str(error).split())}", sys.stderr)
        return False
    steps = named.run.history.steps
    if is_json:
        told = {"file": str(path), "model": named.name, "class": named.kind, "steps": steps, "odd": named.run.odd()}
        say(json.dumps(told, ensure_ascii=False))
        return True
    say(f"{path}: {named.name} ({named.kind}), {steps:,} step{'s' if steps != 1 else ''}")
    for sentence in named.run.odd()[:5]:
        say(f"  {sentence}")
    return True


def _of_rank(output: Path) -> Path | None:
    """The file of this rank, if the script is one of a job; None if only rank 0 writes one."""
    rank = os.environ.get("RANK", "0")
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return output
    if output.suffix in (".json", ".csv"):
        return output.with_name(f"{output.stem}.rank{rank}{output.suffix}")
    return output if rank == "0" else None
