"""A verb on one rank of a job, or on all: two processes that talk over the loopback address."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .reports import reports_in

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

LIMIT = 120  # seconds, for all programs together
if torch.distributed.is_available():
    from .programs import PROGRAMS
else:
    PROGRAMS = {}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """What each program raised on each rank; both processes are gone afterwards. (They import PyTorch: several seconds.)"""
    folder = tmp_path_factory.mktemp("ranks")
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "default"}
    call = [sys.executable, "-m", "tests.distributed.worker"]
    workers = [
        subprocess.Popen([*call, str(rank), str(folder)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for rank in range(2)
    ]
    try:
        said = [w.communicate(timeout=LIMIT)[0].decode() for w in workers]
    finally:
        for w in workers:
            w.kill()
            w.wait()
    return {"said": dict(enumerate(said)), **reports_in(folder, 2)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_two_ranks(reports: dict[str, dict[int, str]], name: str) -> None:
    assert reports.get(name) == {0: "", 1: ""}, reports["said"]


def test_a_rank_that_waits_says_so(reports: dict[str, dict[int, str]]) -> None:
    assert "rank 0: DistributedDataParallel averages gradients over 2 ranks: waiting for the others" in reports["said"][0]
    assert "waiting" not in reports["said"][1]
