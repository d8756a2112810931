"""A job of two ranks: python -m tests.distributed.worker FOLDER. What each says goes to a file of its own."""

from __future__ import annotations

import datetime
import json
import os
import sys
from pathlib import Path

import torch.distributed as dist

from .job import forked
from .programs import run_all


def main(rank: int, folder: Path) -> None:
    """Run all programs, and write what each raised."""
    with (folder / f"said{rank}").open("w") as said:
        for stream in (1, 2):
            os.dup2(said.fileno(), stream)
    patience = datetime.timedelta(seconds=20)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2, timeout=patience)
    with (folder / f"report{rank}").open("w") as file:
        run_all(rank, folder, lambda name, error: print(json.dumps([name, error]), file=file, flush=True))
    dist.destroy_process_group()


if __name__ == "__main__":
    forked(main, 2, Path(sys.argv[1]))
