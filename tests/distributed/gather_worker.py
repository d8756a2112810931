"""A job of four ranks: python -m tests.distributed.gather_worker FOLDER. Each program raises where it is wrong."""

from __future__ import annotations

import datetime
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard, distribute_tensor

import autograd_viz as av

from . import watched_programs  # noqa: F401 -- more programs
from .job import PROGRAMS, WORLD, Net, data, forked, made, program


def lines(job: Any) -> dict[str, dict[str, Any]]:
    """The table by the last two parts of a name."""
    return {".".join(row["name"].split(".")[-2:]): row for row in job.table()}


@program
def each_rank_has_its_gradient_and_all_the_mean(rank: int, folder: Path) -> None:
    net, model = made()
    job = av.gather(model(data(rank)))
    assert (job is None) == (rank > 0)
    alone = [torch.autograd.grad(net(data(r)), net.first.weight)[0] for r in range(WORLD)]
    if job is not None:
        row = lines(job)["first.weight"]
        assert [row[f"rank {r}"] for r in range(WORLD)] == pytest.approx([float(g.norm()) for g in alone], rel=1e-5)
        assert row["mean"] == pytest.approx(float(torch.stack(alone).mean(0).norm()), rel=1e-5)
        assert len(job.sentences) == 1 and job.sentences[0].startswith("4 ranks: each reaches the same 6")
        assert [set(b.names) for b in job.report.buckets] == [{n for n, _ in net.named_parameters()}]
        for suffix in ("svg", "html", "json"):
            av.save(job, folder / f"job.{suffix}")
        assert "all-reduce: mean of 4 ranks" in job.svg


@program
def backward_has_the_same_bits_afterwards(rank: int, folder: Path) -> None:
    (plain, first), (seen, second) = made(), made()
    first(data(rank)).backward()
    loss = second(data(rank))
    av.gather(loss)
    assert seen.first.weight.grad is None
    loss.backward()
    assert all(torch.equal(p.grad, q.grad) for p, q in zip(plain.parameters(), seen.parameters(), strict=True))


@program
def a_parameter_that_one_rank_does_not_reach_is_named_before_the_job_hangs(rank: int, folder: Path) -> None:
    _, model = made()
    job = av.gather(model(data(rank), leave_out=rank == 2))
    if job is not None:
        assert job.sentences[0].startswith("Rank 2 does not reach extra.weight, extra.bias, and other ranks do.")
        assert lines(job)["extra.weight"]["rank 2"] is None
        assert "not on rank 2" in job.svg


@program
def one_that_no_rank_reaches_too(rank: int, folder: Path) -> None:
    _, model = made()
    job = av.gather(model(data(rank), leave_out=True))
    if job is not None:
        assert job.sentences[0].startswith("No rank reaches extra.bias, extra.weight.")


@program
def a_rank_whose_loss_reaches_no_parameter_of_the_job_does_not_let_the_others_wait(rank: int, folder: Path) -> None:
    _, model = made()
    own = torch.ones(2, requires_grad=True)
    job = av.gather(own.sum() if rank == 1 else model(data(rank)), timeout=10)
    if job is not None:
        assert lines(job)["first.weight"]["rank 1"] is None
        assert lines(job)["first.weight"]["mean"] is None  # nothing was averaged


@program
def ranks_that_differ_are_named(rank: int, folder: Path) -> None:
    net, model = made()
    with torch.no_grad():
        net.last.weight.add_(0.1 * (rank == 3))
    x = data(rank)
    x[0, 0] = float("nan") if rank == 1 else 1.0
    job = av.gather(model(x))
    if job is not None:
        said = " ".join(job.sentences)
        assert "Rank 1 alone has nan or inf in the gradient of" in said
        assert "The weights of net.last.weight are not the same on all ranks: rank 3 differs" in said


@program
def a_missing_rank_is_named(rank: int, folder: Path) -> None:
    net = Net()
    if rank == 3:
        return
    with pytest.raises(RuntimeError, match=r"1 of them did not come to this step in 1 s: rank 3\. Make the same call"):
        av.gather(net(data(rank)), timeout=1)


@program
def a_rank_whose_pass_cannot_run_is_told_by_itself_and_the_others_do_not_wait(rank: int, folder: Path) -> None:
    loss = Net()(data(rank))
    if rank == 1:
        loss.backward()
    with pytest.raises(RuntimeError, match="backward pass of rank 1 cannot run" if rank == 1 else "of another rank cannot run"):
        av.gather(loss)


@program
def shards_of_fsdp_are_told_under_the_names_of_their_parameters(rank: int, folder: Path) -> None:
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    net = fully_shard(net, mesh=init_device_mesh("cpu", (WORLD,)))
    torch.manual_seed(rank)
    loss = net(torch.randn(2, 4)).sum()
    job = av.gather(loss)
    if job is not None:
        row = lines(job)["0.weight"]
        assert (row["placement"], row["shard"], row["whole"]) == ("FSDP", [2, 4], [8, 4])
        assert None not in [row[f"rank {r}"] for r in range(WORLD)] and row["mean"] is not None
    loss.backward()
    assert all(p.grad is not None for p in net.parameters())


@program
def the_placement_of_a_distributed_tensor_is_told(rank: int, folder: Path) -> None:
    mesh = init_device_mesh("cpu", (WORLD,))
    weight = nn.Parameter(distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)]))
    loss = weight.square().sum().full_tensor()
    job = av.gather(loss)
    if job is not None:
        (row,) = job.table()
        assert (row["placement"], row["shard"], row["whole"]) == ("Shard(dim=0)", [2, 4], [8, 4])


@program
def each_stage_of_a_pipeline_has_its_map(rank: int, folder: Path) -> None:
    torch.manual_seed(rank)
    stage = nn.Module()
    stage.add_module(f"stage{rank}", nn.Linear(4, 4))
    with av.record(stage):
        result = getattr(stage, f"stage{rank}")(torch.ones(2, 4))
    job = av.gather(result)
    if job is not None:
        assert [f"rank {r}: result" in job.svg for r in range(WORLD)] == [True] * WORLD
        assert len(job.report.lines) == 2 * WORLD
        assert "on rank 3" in job.svg and "not on" not in job.svg


def a_killed_rank_is_named(rank: int) -> None:
    """The last program. Rank 3 ends as if it were killed."""
    _, model = made()
    loss = model(data(rank))
    dist.barrier()
    if rank == 3:
        os._exit(0)
    with pytest.raises(RuntimeError, match=r"1 of them did not come to this step in 2 s: rank 3\."):
        av.gather(loss, timeout=2)


def main(rank: int, folder: Path) -> None:
    """Run all programs, and write what each raised."""
    patience = datetime.timedelta(seconds=20)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=WORLD, timeout=patience)
    with (folder / f"report{rank}").open("w") as file:
        for name, run in PROGRAMS.items():
            print(json.dumps([name, raised(run, rank, folder)]), file=file, flush=True)
            dist.barrier()
        print(json.dumps(["killed", raised(a_killed_rank_is_named, rank)]), file=file, flush=True)
    os._exit(0)  # a process group with a dead rank does not end in order


def raised(run: Callable[..., None], *args: Any) -> str:
    """What a program raises, or ""."""
    try:
        run(*args)
    except BaseException:
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    forked(main, WORLD, Path(sys.argv[1]))
