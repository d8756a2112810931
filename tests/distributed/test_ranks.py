"""A verb on one rank of a job, or on all: two processes that talk over the loopback address."""

from __future__ import annotations

import pytest

from .reports import job, reports_in

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

if torch.distributed.is_available():
    from .programs import PROGRAMS
else:
    PROGRAMS = {}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """What each program raised on each rank. (A process imports PyTorch and forks: seconds.)"""
    folder = tmp_path_factory.mktemp("ranks")
    outside = job("worker", folder)
    said = [path.read_text() if (path := folder / f"said{rank}").exists() else outside for rank in range(2)]
    return {"said": dict(enumerate(said)), **reports_in(folder, 2)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_two_ranks(reports: dict[str, dict[int, str]], name: str) -> None:
    assert reports.get(name) == {0: "", 1: ""}, reports["said"]


def test_a_rank_that_waits_says_so(reports: dict[str, dict[int, str]]) -> None:
    assert "rank 0: DistributedDataParallel averages gradients over 2 ranks: waiting for the others" in reports["said"][0]
    assert "waiting" not in reports["said"][1]
