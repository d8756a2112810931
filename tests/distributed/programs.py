"""What both ranks run, one program after another; each raises where it is wrong."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

import autograd_viz as av
from autograd_viz.lessons import ask
from autograd_viz.sources.pytorch.stepping import exchange

PROGRAMS: dict[str, Callable[[int, Path], None]] = {}


def program(run: Callable[[int, Path], None]) -> Callable[[int, Path], None]:
    PROGRAMS[run.__name__] = run
    return run


class Net(torch.nn.Module):
    """Two layers, and one that only rank 0 uses, if `unused`."""

    def __init__(self, unused: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
        self.extra = torch.nn.Linear(4, 4) if unused else None

    def forward(self, x: Any) -> Any:
        h = self.first(x).tanh()
        if self.extra is not None and dist.get_rank() == 0:
            h = self.extra(h).sin()
        return self.last(h).square().sum()


def data(rank: int, seed: int = 1) -> Any:
    torch.manual_seed(seed + 10 * rank)
    return torch.randn(5, 3)


def local(t: Any) -> Any:
    return t.to_local() if isinstance(t, DTensor) else t


def grads(model: Any) -> list[Any]:
    """Of its parameters, or of those in a list: FSDP puts others in the model while a pass runs."""
    of = model if isinstance(model, list) else model.parameters()
    return [None if p.grad is None else local(p.grad).clone() for p in of]


def same(a: list[Any], b: list[Any]) -> bool:
    return all(x is y if x is None or y is None else torch.equal(x, y) for x, y in zip(a, b, strict=True))


@contextmanager
def impatient() -> Iterator[None]:
    """Inside, a rank does not wait long for one that will not come."""
    was = exchange.PATIENCE, exchange.SILENCE
    exchange.PATIENCE, exchange.SILENCE = 0.4, 0.1
    try:
        yield
    finally:
        exchange.PATIENCE, exchange.SILENCE = was


@contextmanager
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings(action="error"):
        yield


def pair(unused: bool = False, **options: Any) -> tuple[Any, Any]:
    """Two DDP models that are alike."""
    return tuple(DistributedDataParallel(Net(unused), **options) for _ in range(2))  # type: ignore[return-value]


@program
def a_verb_on_one_rank_leaves_the_job_alone(rank: int, folder: Path) -> None:
    plain, seen = pair()
    plain(data(rank)).backward()
    loss = seen(data(rank))
    if rank == 0:
        with pytest.warns(UserWarning, match="from this rank only.*over 2 ranks"):
            for name in ("a.html", "a.json"):
                av.save(loss, folder / name)
            av.save(loss, folder / "a.svg", step="final")
        assert "from this rank only" in (folder / "a.json").read_text()
        assert grads(seen) == [None] * 4
    loss.backward()
    assert same(grads(seen), grads(plain))


@program
def a_page_of_a_stepper_that_goes_on_has_averaged_nothing(rank: int, folder: Path) -> None:
    plain, seen = pair()
    plain(data(rank)).backward()
    s = av.step(seen(data(rank)))
    s.next()
    with pytest.warns(UserWarning, match="this rank"):
        av.save(s, folder / f"b{rank}.html")
    s.finish()
    assert same(grads(seen), grads(plain)) and "from this rank only" not in s.sentence


def stepped_as_run(rank: int, unused: bool = False, **options: Any) -> None:
    """Three steps of training, stepped and run, have the same bits."""
    models = pair(unused, **options)
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in models]
    for turn in range(3):
        for m, optimizer, is_stepped in zip(models, optimizers, (False, True), strict=True):
            optimizer.zero_grad(set_to_none=turn % 2 == 0)
            loss = m(data(rank, turn))
            if is_stepped:
                s = av.step(loss)
                s.finish()
                assert "DistributedDataParallel (mean over 2 ranks)" in {h.name for t in s.stepper.trace.steps for h in t.hooks}
            else:
                loss.backward()
        assert same(grads(models[0]), grads(models[1])), turn
        for optimizer in optimizers:
            optimizer.step()


@program
def all_ranks_step_with_the_bits_of_backward(rank: int, folder: Path) -> None:
    stepped_as_run(rank)


@program
def in_small_buckets_too(rank: int, folder: Path) -> None:
    stepped_as_run(rank, bucket_cap_mb=1e-5)


@program
def in_buckets_that_are_the_gradients_too(rank: int, folder: Path) -> None:
    stepped_as_run(rank, gradient_as_bucket_view=True)


@program
def with_parameters_that_one_rank_does_not_use_too(rank: int, folder: Path) -> None:
    stepped_as_run(rank, unused=True, find_unused_parameters=True)


@program
def with_a_static_graph_too(rank: int, folder: Path) -> None:
    stepped_as_run(rank, static_graph=True)


@program
def a_reset_restores_every_grad_and_backward_averages_after_it(rank: int, folder: Path) -> None:
    for options in ({}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}):
        plain, seen = pair(**options)
        for turn in range(3):  # the grads of the turn before are there in the second
            plain(data(rank, turn)).backward()
            before, loss = grads(seen), seen(data(rank, turn))
            s = av.step(loss)
            s.finish()
            assert same(grads(seen), grads(plain)), (options, turn)
            s.back()
            s.reset()
            assert same(grads(seen), before), (options, turn)
            with no_warning():
                loss.backward()
            assert same(grads(seen), grads(plain)), (options, turn)


@program
def a_static_graph_that_was_averaged_once_says_so_when_it_is_taken_back(rank: int, folder: Path) -> None:
    _, seen = pair(static_graph=True)
    s = av.step(seen(data(rank)))
    s.finish()
    with pytest.warns(UserWarning, match="call the model anew"):
        s.reset()
    assert grads(seen) == [None] * 4


@program
def a_rank_that_steps_alone_is_told_and_nothing_is_lost(rank: int, folder: Path) -> None:
    plain, seen = pair()
    plain(data(rank)).backward()
    s = av.step(seen(data(rank)))
    if rank == 0:
        with (
            impatient(),
            pytest.raises(RuntimeError, match=r"1 of them did not come.*every rank, or .*no_sync"),
        ):
            s.finish()
        assert not s.stepper.is_complete
    dist.barrier()
    s.finish()
    assert same(grads(seen), grads(plain))


@program
def a_finish_that_failed_on_one_rank_leaves_no_gradient_behind(rank: int, folder: Path) -> None:
    plain, seen = pair()
    plain(data(rank)).backward()
    loss = seen(data(rank))
    if rank == 0:
        with impatient(), pytest.raises(RuntimeError, match="did not come"):
            av.step(loss).finish()
        assert grads(seen) == [None] * 4
    loss.backward()
    assert same(grads(seen), grads(plain))


@program
def a_rank_steps_alone_what_was_made_inside_of_no_sync(rank: int, folder: Path) -> None:
    plain, seen = pair()
    with plain.no_sync(), seen.no_sync():
        expected, loss = plain(data(rank)), seen(data(rank))
    expected.backward()
    if rank == 0:
        av.step(loss).finish()
        assert same(grads(seen), grads(plain))


@program
def a_question_about_a_pass_is_asked_on_one_rank(rank: int, folder: Path) -> None:
    plain, seen = pair()
    plain(data(rank)).backward()
    loss = seen(data(rank))
    if rank == 0:
        with pytest.warns(UserWarning, match="this rank"):
            ask.grad(next(seen.parameters()), of=loss)
    loss.backward()
    assert same(grads(seen), grads(plain))


def sharded() -> Any:
    mesh, net = init_device_mesh("cpu", (2,)), Net()
    for layer in (net.first, net.last):
        fully_shard(layer, mesh=mesh)
    return fully_shard(net, mesh=mesh)


@program
def fsdp_is_stepped_with_the_bits_of_backward_and_taken_back(rank: int, folder: Path) -> None:
    models = sharded(), sharded()
    plain, seen = (list(m.parameters()) for m in models)
    for turn in range(3):
        models[0](data(rank, turn)).backward()
        before, loss = grads(seen), models[1](data(rank, turn))
        s = av.step(loss)
        if turn:
            s.goto(4)
            s.reset()
            assert same(grads(seen), before), turn
        s.finish()
        assert same(grads(seen), grads(plain)), turn
        s.reset()
        assert same(grads(seen), before), turn
        loss.backward()
        assert same(grads(seen), grads(plain)), turn


@program
def fsdp_on_one_rank_is_refused_and_its_parameters_are_known(rank: int, folder: Path) -> None:
    model = sharded()
    loss = model(data(rank))
    assert "no backward() of the whole parameter has run" in str(av.explain(model.first.weight, loss))
    if rank == 0:
        with (
            impatient(),
            pytest.raises(RuntimeError, match=r"FSDP gathers.*1 of them did not come"),
        ):
            av.save(loss, folder / "c.html")
        assert not (folder / "c.html").exists()
    dist.barrier()
    av.save(loss, folder / f"c{rank}.html")  # all of them together
    assert grads(model) == [None] * 4
    loss.backward()
    answer = str(av.explain(model.first.weight, loss))
    assert "this rank's shard" in answer and "by hand" not in answer
    assert "model.first.weight" in {t.name for t in av.step(loss).stepper.document.tensors}


@program
def dtensors_are_stepped_together_and_refused_alone(rank: int, folder: Path) -> None:
    mesh = init_device_mesh("cpu", (2,))
    torch.manual_seed(0)
    w = torch.randn(4, 4)
    plain, seen = (torch.nn.Parameter(distribute_tensor(w, mesh, [Shard(0)])) for _ in range(2))
    x = distribute_tensor(torch.ones(3, 4), mesh, [Shard(0)])
    losses = [(x @ p).sin().sum().full_tensor() for p in (plain, seen)]
    losses[0].backward()
    s = av.step(losses[1])
    if rank == 0:
        with impatient(), pytest.raises(RuntimeError, match="communicates over 2 ranks, and 1 of them"):
            s.next()
    dist.barrier()
    s.finish()
    assert torch.equal(local(plain.grad), local(seen.grad))
    s.reset()
    assert seen.grad is None


def run_all(rank: int, folder: Path, report: Callable[[str, str], None]) -> None:
    """Run every program, and report what it raised, or ""."""
    for name, run in PROGRAMS.items():
        try:
            run(rank, folder)
            report(name, "")
        except BaseException:
            report(name, traceback.format_exc())
        dist.barrier()
