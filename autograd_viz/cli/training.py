"""`autograd-viz watch train.py`: a script's training run, without a change to the script."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autograd_viz as av

from ..verbs.formats import check_run
from ..verbs.programs import Named, each_run
from .ending import Ended, told_to_end
from .program import ProgramError
from .says import say


def watch_script(script: Path, program: Callable[[], Any], output: Path, stop: bool = True) -> int:
    """Run a script, watch every model that it trains, say what is odd, and write the picture of each.

    A second model's file has a number: `run.2.html`. What ends the program early is told after its runs: an error, Ctrl-C, a
    signal. In a job (torchrun), each rank writes its own .json or .csv, `run.rank3.json`, and only rank 0 a picture. Where
    there cannot be such a file, the script does not run.
    """
    check_run(output)
    early: BaseException | None = None
    with each_run(stop) as runs:
        try:
            with told_to_end():
                program()
        except (ProgramError, KeyboardInterrupt, Ended) as error:
            early = error
    stepped = [named for named in runs if named.run.history.steps]
    are_written = [_write(named, k, output) for k, named in enumerate(stepped, 1)]
    if early is not None:
        raise early
    if not stepped:
        say(f"{script}: no optimizer has stepped a module's parameters", sys.stderr)
    return 0 if all(are_written) else 1


def _write(named: Named, number: int, output: Path) -> bool:
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
