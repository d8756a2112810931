"""`av.watch()` and `av.watch(model)` at once: opened and closed in any order, they see and change nothing of each other."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

import autograd_viz as av

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

pytestmark = pytest.mark.torch
BOTH = ("recorder", "model")


def trained(model: Any, optimizer: Any, steps: int) -> list[float]:
    losses = []
    for _ in range(steps):
        loss = (model(torch.randn(6, 3)) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def begun(shift: float = 0.0) -> tuple[Any, Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    with torch.no_grad():
        model[0].bias += shift
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


@pytest.mark.parametrize("at", [2, 4])  # the step at which the first is closed
@pytest.mark.parametrize("closed", [*permutations(BOTH)])
@pytest.mark.parametrize("opened", [*permutations(BOTH)])
def test_in_any_order_the_program_runs_as_alone(opened: tuple[str, ...], closed: tuple[str, ...], at: int) -> None:
    model, optimizer = begun()
    alone = trained(model, optimizer, 4)
    runs, mode = torch.autograd._engine_run_backward, torch._C._len_torch_function_stack()
    model, optimizer = begun()
    watches: dict[str, Any] = {kind: av.watch() if kind == "recorder" else av.watch(model) for kind in opened}
    losses = trained(model, optimizer, at)
    watches[closed[0]].close()
    losses += trained(model, optimizer, 4 - at)
    if watches["recorder"].is_on:
        assert not av.check() and not watches["recorder"].faults
    watches[closed[1]].close()
    assert losses == alone
    assert watches["model"].history.steps == (at if closed[0] == "model" else 4)
    assert (torch.autograd._engine_run_backward, torch._C._len_torch_function_stack()) == (runs, mode)


@pytest.mark.parametrize("opened", [("recorder",), ("model",), *permutations(BOTH)])
def test_each_answers_as_both_do(opened: tuple[str, ...]) -> None:
    model, optimizer = begun(shift=-50.0)
    watches = [av.watch() if kind == "recorder" else av.watch(model) for kind in opened]
    trained(model, optimizer, 3)
    said = str(av.explain(model[0].weight))
    for watch in watches:
        watch.close()
    assert "relu got no positive input" in said and "leaky_relu" in said


@pytest.mark.parametrize("is_block", [True, False])
def test_an_inner_block_leaves_the_outer_recorder_on(is_block: bool) -> None:
    model, optimizer = begun()
    outer = av.watch(keep="1 MB")
    if is_block:
        outer.__enter__()
    with av.watch(keep=0) as inner:
        trained(model, optimizer, 1)
        assert inner is outer and outer.keep == 0
    assert outer.is_on and outer.keep == 1_000_000
    outer.__exit__(None, None, None) if is_block else outer.close()
    assert not outer.is_on
    with av.watch() as alone:
        pass
    assert not alone.is_on
