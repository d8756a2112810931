"""Programs of a job whose model is watched."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

import autograd_viz as av
from autograd_viz.pictures.runs.table import table_of

from .job import WORLD, made, program


def trained(model: Any, rank: int, steps: int = 70, bad: int = -1) -> list[Any]:
    """Steps of SGD; on rank 1 the loss of one step is nan, and no gradient is."""
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    torch.manual_seed(rank)
    for k in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(5, 3)).square().sum()
        if k == bad and rank == 1:
            loss = loss + float("nan")
        loss.backward()
        optimizer.step()
    return [p.detach().clone() for p in model.parameters()]


@program
def a_watched_job_computes_the_same_bits_and_rank_0_has_the_norms_of_all(rank: int, folder: Path) -> None:
    plain = trained(made()[1], rank)
    _, model = made()
    with av.watch(model) as run:
        seen = trained(model, rank)
    assert all(torch.equal(a, b) for a, b in zip(plain, seen, strict=True))
    if rank == 0:
        assert run.history.ranks.steps == [70] * WORLD
        table = run.history.ranks.table(run.history.rows)
        places = zip(table["path"], table["kind"], table["step"], strict=True)
        k = next(k for k, place in enumerate(places) if place == ("module.first", "output", 0))
        assert table["least"][k] < table["mean"][k] < table["most"][k] and table["ranks"][k] == WORLD
    else:
        assert run.history.ranks is None


def steps_with(run: Any, statistic: str) -> list[int]:
    """The steps in which a statistic of a parameter was measured."""
    table = table_of(run.flushed())
    found = zip(table["step"], table["kind"], table[statistic], strict=True)
    return sorted({step for step, kind, value in found if kind == "parameter" and value is not None})


@program
def ranks_have_their_full_steps_together(rank: int, folder: Path) -> None:
    """Takes 1.3 s: in steps of 10 ms a rank that weighs for itself has more full ones."""
    net, model = made()
    net.register_forward_pre_hook(lambda *_: time.sleep(0.01))
    with av.watch(model) as run:
        trained(model, rank, 130)
    assert steps_with(run, "largest") == [0, *(1 << k for k in range(8))]


@program
def one_rank_opens_a_pass_and_the_others_go_on(rank: int, folder: Path) -> None:
    model = DistributedDataParallel(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)))
    with av.watch(model) as run:
        trained(model, rank, 2)
        if rank == 0:  # a call of the job would wait for the buffers of the others
            statistics = model.module[1].running_mean.clone()
            with run._loop.opened(None) as (root, gradient, leaves):
                root.backward(gradient)
            assert leaves["module.0.weight"].grad.isfinite().all()
            assert torch.equal(model.module[1].running_mean, statistics)
        trained(model, rank, 1)


def sharded() -> Any:
    """A net under FSDP2."""
    torch.manual_seed(0)
    return fully_shard(nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 8)), mesh=init_device_mesh("cpu", (WORLD,)))


@program
def a_watched_job_of_fsdp_computes_the_same_bits_and_has_the_numbers_of_its_shards(rank: int, folder: Path) -> None:
    plain, net = trained(sharded(), rank, 3), sharded()
    with av.watch(net) as run:
        seen = trained(net, rank, 3)
        table = table_of(run.flushed())
        with pytest.raises(RuntimeError, match="its parameters are spread over ranks, and this rank alone cannot run it"):
            run.step()
    assert all(torch.equal(a.to_local(), b.to_local()) for a, b in zip(plain, seen, strict=True))
    k = max(k for k, path in enumerate(table["path"]) if path == "0.weight")
    grad = net[0].weight.grad.to_local()
    assert table["norm"][k] == pytest.approx(float(grad.norm()), rel=1e-5)
    assert table["rms"][k] == pytest.approx(float(grad.square().mean().sqrt()), rel=1e-5)
    assert table["largest"][k] == pytest.approx(float(grad.abs().max()), rel=1e-5)
    assert table["update"][k] > 0
    if rank == 0:
        assert run.history.ranks.steps == [3] * WORLD


@program
def a_rank_with_nan_and_one_that_does_not_watch_are_named(rank: int, folder: Path) -> None:
    _, model = made()
    if rank == 3:
        trained(model, rank, bad=20)
        return
    with av.watch(model) as run:
        trained(model, rank, bad=20)
    if rank == 0:
        assert "Nothing came from rank 3: is the model watched there?" in run.odd()
        assert "loss: nan or inf on rank 1 only, in steps 0 to 63." in run.odd()


@program
def runs_are_matched_by_what_is_watched_and_not_by_their_order(rank: int, folder: Path) -> None:
    """Rank 0 watches one model more, first."""
    alone, (_, shared) = nn.Linear(3, 2), made()
    if rank == 0:
        lonely = av.watch(alone)
        trained(alone, rank, 3)
    with av.watch(shared) as run:
        trained(shared, rank, 3)
    if rank == 0:
        assert run.history.ranks.steps == [3] * WORLD and not run.history.ranks.others
        lonely.close()
        assert lonely.history.ranks.steps == [3, 0, 0, 0]
        said = "Rank 1, 2, 3 does not watch this model but shared (DistributedDataParallel): none of its numbers is here."
        assert lonely.odd()[0] == said and not any("Nothing came" in s for s in lonely.odd())


@program
def two_models_of_one_kind_are_told_apart_by_their_names(rank: int, folder: Path) -> None:
    first, second = nn.Linear(3, 2), nn.Linear(3, 2)
    if rank == 0:
        alone = av.watch(first)
        trained(first, rank, 2)
    with av.watch(second) as run:
        trained(second, rank, 2)
        if rank:
            run.close()
        torch.distributed.barrier()  # all have told
    if rank == 0:
        alone.close()
        assert run.history.ranks.steps == [2] * WORLD, run.history.ranks.steps
        assert alone.history.ranks.steps == [2, 0, 0, 0]


@program
def stages_of_a_pipeline_are_watched_each_on_its_own(rank: int, folder: Path) -> None:
    stage = nn.Sequential(*(nn.Linear(3, 3) for _ in range(rank + 1)))
    with av.watch(stage) as run:
        trained(stage, rank, 70)
        torch.distributed.barrier()
        assert not any("Rank" in said for said in run.odd()) or rank == 0
    av.save(run, folder / f"stage{rank}.json")
    assert len(run.totals()["loss"]) == 70
    if rank == 0:
        assert run.history.ranks.steps == [70, 0, 0, 0]
        assert run.odd() == ["Rank 1, 2, 3 does not watch this model but stage (Sequential): none of its numbers is here."]
