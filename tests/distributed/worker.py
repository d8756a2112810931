"""One rank of a job: python -m tests.distributed.worker RANK FOLDER."""

from __future__ import annotations

import datetime
import gc
import json
import sys
from pathlib import Path

import torch.distributed as dist

from .programs import run_all


def main(rank: int, folder: Path) -> None:
    patience = datetime.timedelta(seconds=20)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2, timeout=patience)
    gc.freeze()  # what is imported need not be walked through at every look for a tensor's hooks
    with (folder / f"report{rank}").open("w") as file:
        run_all(rank, folder, lambda name, error: print(json.dumps([name, error]), file=file, flush=True))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
