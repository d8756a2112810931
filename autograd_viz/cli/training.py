"""`autograd-viz watch train.py`: a script's training run, without a change to the script."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import autograd_viz as av

from ..verbs.watch import each_run
from .program import ProgramError, run_program
from .says import say


def watch_script(script: Path, arguments: list[str], output: Path) -> int:
    """Run a script, watch every model that it trains, say what is odd, and write the picture of each.

    A second model's file has a number: `run.2.html`. What a program raises is said after its runs. In a job (torchrun), each
    rank writes its own .json or .csv, `run.rank3.json`, and only rank 0 a picture.
    """
    failed: ProgramError | None = None
    with each_run() as runs:
        try:
            run_program(script, arguments, is_recorded=False)
        except ProgramError as error:
            failed = error
    for k, run in enumerate(runs):
        path = _of_rank(output if k == 0 else output.with_name(f"{output.stem}.{k + 1}{output.suffix}"))
        if path is None:
            continue
        av.save(run, path)
        say(f"{path}: {type(run.model).__name__}, {run.history.steps:,} steps")
        for sentence in run.odd()[:5]:
            say(f"  {sentence}")
    if failed is not None:
        raise failed
    if not runs:
        say(f"{script}: no optimizer has stepped", sys.stderr)
    return 0


def _of_rank(output: Path) -> Path | None:
    """The file of this rank, if the script is one of a job; None if only rank 0 writes one."""
    rank = os.environ.get("RANK", "0")
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return output
    if output.suffix in (".json", ".csv"):
        return output.with_name(f"{output.stem}.rank{rank}{output.suffix}")
    return output if rank == "0" else None
