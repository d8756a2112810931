"""A job in processes of its own, and what its ranks wrote of the programs that they ran."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

LIMIT = 120  # seconds, for all programs together


def job(module: str, folder: Path) -> str:
    """What the processes of a job say; all are gone afterwards."""
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "default"}
    call = [sys.executable, "-m", f"tests.distributed.{module}", str(folder)]
    with subprocess.Popen(
        call, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            return process.communicate(timeout=LIMIT)[0].decode()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def reports_in(folder: Path, ranks: int) -> dict[str, dict[int, str]]:
    """By program and rank, what it raised, or ""."""
    found: dict[str, dict[int, str]] = {}
    for rank in range(ranks):
        path = folder / f"report{rank}"
        for line in path.read_text().splitlines() if path.exists() else ():
            name, error = json.loads(line)
            found.setdefault(name, {})[rank] = error
    return found
