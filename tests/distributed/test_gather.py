"""`av.gather(loss)` in a job of four processes that talk over the loopback address, and in a program that is no job."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.verbs.gather import Job

from .reports import job, reports_in

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

if torch.distributed.is_available():
    from .gather_worker import PROGRAMS, WORLD
else:
    PROGRAMS, WORLD = {}, 0


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each program raised on each rank. (A process imports PyTorch and forks: several seconds.)"""
    folder = tmp_path_factory.mktemp("gather")
    return {"said": job("gather_worker", folder), **reports_in(folder, WORLD)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_on_four_ranks(reports: dict[str, Any], name: str) -> None:
    assert reports.get(name) == dict.fromkeys(range(WORLD), ""), "\n".join([*reports.get(name, {}).values(), reports["said"]])


@pytest.mark.skipif(not WORLD, reason="this PyTorch has no torch.distributed")
def test_a_killed_rank_is_named_on_all_others(reports: dict[str, Any]) -> None:
    assert reports.get("killed") == dict.fromkeys(range(WORLD - 1), ""), reports.get("killed", reports["said"])


def test_a_program_that_is_no_job_is_a_job_of_one() -> None:
    weight = torch.ones(3, requires_grad=True)
    alone = av.gather((weight * 2).sum())
    assert alone.sentences[0].startswith("1 ranks: each reaches the same 1 parameters")
    assert alone.table()[0]["rank 0"] == pytest.approx(12**0.5)
    assert weight.grad is None


def test_sixty_four_documents_are_one_job() -> None:
    weight = torch.ones(3, requires_grad=True)
    (part,) = av.gather((weight * 2).sum()).report.parts
    odd = [{**p, "bad": 2} for p in part["parameters"]]
    parts = [{**part, "rank": rank, "parameters": odd if rank == 63 else part["parameters"]} for rank in range(64)]
    together = Job(parts[::-1], "light")
    assert together.sentences == ["Rank 63 alone has nan or inf in the gradient of weight; the mean hands it to every rank."]
    assert "rank 63" in together.table()[0]
    everywhere = Job([{**part, "rank": rank, "parameters": odd} for rank in range(3)], "light")
    assert everywhere.sentences == ["Nan or inf is in the gradient of weight on rank 0, 1, 2."]
    assert together.svg.count("<svg") == 1


def test_a_rank_without_some_gradients_is_named_and_a_stage_of_a_pipeline_is_not() -> None:
    a, b = (torch.ones(3, requires_grad=True) for _ in range(2))
    both, one, other = (av.gather(loss).report.parts[0] for loss in ((a * b).sum(), (a * 2).sum(), (b * 3).sum()))
    assert Job([both, {**one, "rank": 1}], "light").sentences == ["Rank 1 has no gradient of b; other ranks have."]
    stages = Job([one, {**other, "rank": 1}], "light")
    assert stages.sentences == ["2 ranks, each with a part of its own: 2 parameters in all. No gradient is nan."]


def test_a_tensor_of_the_core_is_refused() -> None:
    with pytest.raises(av.NotDrawableError, match=r"gather\(loss\) takes a tensor of PyTorch"):
        av.gather(av.tensor(1.0, requires_grad=True))
