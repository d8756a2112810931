"""Passes that cannot run, and tensors without numbers: PyTorch's error with what to do, or a word why."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402

pytestmark = pytest.mark.torch
PASSES: dict[str, Callable[[Any, Path], Any]] = {
    "step": lambda x, path: av.step(x),
    "map": lambda x, path: av.map(x),
    "diff": lambda x, path: av.diff(x, x),
    "iframe": lambda x, path: av.iframe(x),
    "to_graphviz": lambda x, path: av.to_graphviz(x, step=1),
    "save": lambda x, path: av.save(x, path / "x.json"),
    "save, at a step": lambda x, path: av.save(x, path / "x.svg", step=1),
}


def several() -> Any:
    return torch.nn.Linear(2, 3)(torch.ones(4, 2))


def complex_number() -> Any:
    x = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    return (x * x).sum()


def nested(layout: Any) -> Any:
    return torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=layout, requires_grad=True) * 2


ROOTS: dict[str, tuple[Callable[[], Any], str]] = {
    "several elements": (
        several,
        r"this tensor has shape \(4, 3\): call av.\w+\(tensor, gradient(=...)?\), or sum\(\) it first",
    ),
    "complex": (complex_number, r"got torch.complex64; call av.\w+\(tensor, gradient(=...)?\), or make it real"),
    "nested": (lambda: nested(torch.jagged), r"this tensor is nested: .* or to_padded_tensor\(0.0\).sum\(\) first"),
    "nested, strided": (lambda: nested(torch.strided), r"this tensor is nested: .* or to_padded_tensor\(0.0\).sum\(\) first"),
}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("verb", PASSES)
def test_a_pass_that_cannot_start_says_what_to_do_for_every_verb(verb: str, root: str, tmp_path: Path) -> None:
    make, advice = ROOTS[root]
    with pytest.raises(RuntimeError, match=f"^grad can be implicitly created only for .*{advice}"):
        PASSES[verb](make(), tmp_path)


@pytest.mark.parametrize("move", [lambda s: s.finish(), lambda s: s.run(), lambda s: s.goto(2), lambda s: (s.next(), s.next())])
def test_a_move_through_a_freed_graph_says_what_to_do_once(move: Any) -> None:
    loss = several().square().sum()
    loss.backward()
    stepper = av.step(loss)
    with pytest.raises(
        RuntimeError, match=r"^Trying to backward through the graph a second time .*; compute it again"
    ) as caught:
        move(stepper)
    assert str(caught.value).count("compute it again") == 1 and "compute it again" in stepper.error
    assert "freed" in str(av.explain(caught.value))


def test_one_loss_of_pytorch_alone_is_not_compared() -> None:
    with pytest.raises(
        TypeError, match=r"the second is missing: give it another loss. PyTorch's op .* is autograd_viz.twin.diff"
    ):
        av.diff(several().sum())


@pytest.mark.parametrize("verb", [av.show, av.map])
def test_inside_vmap_a_word_says_why_there_is_no_graph(verb: Any) -> None:
    def f(w: Any) -> Any:
        loss = (w * 2).sum()
        with pytest.warns(UserWarning, match="inside torch.func.vmap, where it has no grad_fn; pass what vmap returns"):
            verb(loss)
        return loss

    torch.func.vmap(f)(torch.ones(3, 2, requires_grad=True))


def test_inside_grad_and_for_a_leaf_nothing_is_said() -> None:
    def f(w: Any) -> Any:
        loss = (w * 2).sum()
        assert "3 backward nodes" in repr(av.show(loss))
        return loss

    torch.func.grad(f)(torch.ones(3))
    av.show(torch.ones(2))


def fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.nn.Linear(2, 2)


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: torch.nn.Linear(2, 2, device="meta"), "on the device meta"),
        (lambda: torch.nn.LazyLinear(2), "not initialized"),
        (fake, "a fake tensor"),
    ],
)
def test_a_model_without_numbers_is_not_watched(make: Any, what: str) -> None:
    with pytest.raises(ValueError, match=rf"^watch\(model\): weight is {what} and has no numbers; call it later"):
        av.watch(make())


def trained(model: Any) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(3, 2)).sum().backward()
        optimizer.step()


def test_a_model_that_another_thread_trains_is_said_to_be() -> None:
    model, other = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    with av.watch(model) as run:
        thread = threading.Thread(target=trained, args=(other,))  # not the model's
        thread.start()
        thread.join()
        assert not run.odd() and "thread" not in repr(run)
        thread = threading.Thread(target=trained, args=(model,))
        thread.start()
        thread.join()
        assert run.odd() == ["Steps in another thread are not measured: call av.watch(model) in the thread that trains."]
        assert "0 steps, watched, trained in another thread" in repr(run) and "another thread" in run.svg
        trained(model)
        assert run.odd()[0].startswith("Steps in another thread") and "2 steps" in repr(run)


@pytest.fixture
def group() -> Iterator[None]:
    """A process group of this process alone."""
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_the_memory_of_a_model_of_fsdp2_is_measured() -> None:
    """It takes seconds to import FSDP2."""
    fsdp = pytest.importorskip("torch.distributed.fsdp")
    if not hasattr(fsdp, "fully_shard"):
        pytest.skip("FSDP2 came with PyTorch 2.6")
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (1,))
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    for part in (model[0], model):
        fsdp.fully_shard(part, mesh=mesh)
    held = av.memory(model(torch.ones(4, 2)).square().sum())
    assert held.bytes == held.activations + held.parameters + held.inputs > 0
