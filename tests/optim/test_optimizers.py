"""Optimizers and schedules beside PyTorch's: the same way down, step by step."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

OPTIMIZERS = [
    "SGD(ps, 0.1)", "SGD(ps, lr=0.01, momentum=0.9)", "SGD(ps, lr=0.01, momentum=0.9, dampening=0.2, weight_decay=0.1)",
    "SGD(ps, lr=0.01, momentum=0.9, nesterov=True)", "SGD(ps, lr=0.01, maximize=True)", "Adam(ps)",
    "Adam(ps, lr=0.1, betas=(0.5, 0.9), weight_decay=0.1)", "Adam(ps, lr=0.1, amsgrad=True)", "AdamW(ps, lr=0.1)",
    "RMSprop(ps)", "RMSprop(ps, momentum=0.5, centered=True, weight_decay=0.1)", "Adagrad(ps, lr=0.1, lr_decay=0.1)",
    "Adagrad(ps, initial_accumulator_value=0.5)", "Adadelta(ps)", "Adamax(ps, lr=0.1)", "NAdam(ps, lr=0.1)",
    "NAdam(ps, weight_decay=0.1, decoupled_weight_decay=True)", "RAdam(ps, lr=0.1)", "Rprop(ps)", "ASGD(ps, lr=0.05)",
    "LBFGS(ps, lr=0.5, max_iter=4)", "LBFGS(ps, history_size=2)",
    "LBFGS(ps, line_search_fn='strong_wolfe')", "LBFGS(ps, lr=8.0, max_iter=6, line_search_fn='strong_wolfe')",
    "LBFGS(ps, lr=0.01, history_size=3, max_eval=9, line_search_fn='strong_wolfe')",
    "SGD([{'params': ps[:1], 'lr': 0.2}, {'params': ps[1:]}], lr=0.05)",
]  # fmt: skip


def problem(m: Any) -> tuple[list[Any], Any]:
    """Two parameters, and a loss that is curved differently along each of their directions."""
    ps = [m.tensor(v, dtype=m.float64, requires_grad=True) for v in ([1.0, -2.0, 0.5], [[0.3]])]
    scale = m.tensor([1.0, 0.3, 2.0], dtype=m.float64)

    def loss() -> Any:
        return (scale * (ps[0] - 1.0) * (ps[0] - 1.0)).sum() + ((ps[0].sum() * ps[1] - 1.0) * (ps[0].sum() * ps[1] - 1.0)).sum()

    return ps, loss


def descend(m: Any, source: str, schedule: str = "", steps: int = 20) -> tuple[list[Any], Any]:
    ps, loss = problem(m)
    optimizer = eval(source, {**vars(m.optim), "ps": ps})
    scheduler = eval(schedule, {**vars(m.optim.lr_scheduler), "o": optimizer}) if schedule else None
    way = []

    def closure() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for i in range(steps):
        value = optimizer.step(closure)
        way.append([value.item(), *ps[0].tolist(), *ps[1].reshape(-1).tolist()])
        if scheduler is not None:
            scheduler.step(*([value] if "Plateau" in schedule and i < 8 else [1.0] if "Plateau" in schedule else []))
            group = optimizer.param_groups[0]
            way[-1] += [group["lr"], *scheduler.get_last_lr(), group.get("momentum", 0), group.get("betas", (0,))[0]]
    return way, optimizer


@pytest.mark.parametrize("source", OPTIMIZERS)
def test_the_way_down_is_pytorchs(source: str) -> None:
    (mine, optimizer), (theirs, other) = descend(av, source), descend(torch, source)
    np.testing.assert_allclose(np.array(mine), np.array(theirs), rtol=1e-9, atol=1e-12)
    assert repr(optimizer) == repr(other)
    if "LBFGS" not in source:
        saved, expected = optimizer.state_dict(), other.state_dict()
        kept = [{k for k in s if s[k] is not None} for s in expected["state"].values()]
        assert [set(s) for s in saved["state"].values()] == kept
        assert saved["param_groups"] == expected["param_groups"]


SCHEDULES = [
    "StepLR(o, 3)", "StepLR(o, 2, gamma=0.5)", "MultiStepLR(o, [2, 5, 5, 9])", "ExponentialLR(o, 0.9)",
    "LambdaLR(o, lambda e: 1 / (1 + e))", "MultiplicativeLR(o, lambda e: 0.95)", "ConstantLR(o, 0.5, 4)",
    "LinearLR(o, 0.2, 0.9, 6)",
    "PolynomialLR(o, 8, 2)", "CosineAnnealingLR(o, 6, 0.001)", "CosineAnnealingWarmRestarts(o, 3, 2, 0.001)",
    "CyclicLR(o, 0.01, 0.1, 3, 4)", "CyclicLR(o, 0.01, 0.1, 2, mode='triangular2')",
    "CyclicLR(o, 0.01, 0.1, 2, mode='exp_range', gamma=0.9)",
    "OneCycleLR(o, 0.3, 25)", "OneCycleLR(o, 0.3, epochs=5, steps_per_epoch=5, anneal_strategy='linear', three_phase=True)",
    "ReduceLROnPlateau(o, patience=1)", "ReduceLROnPlateau(o, 'max', factor=0.5, patience=2, cooldown=1, min_lr=0.01)",
    "SequentialLR(o, [ConstantLR(o, 0.1, 3), ExponentialLR(o, 0.9)], [4])",
    "SequentialLR(o, [LinearLR(o, 0.1, 1.0, 5), CosineAnnealingLR(o, 10), StepLR(o, 2)], [5, 12])",
    "ChainedScheduler([ConstantLR(o, 0.1, 3), ExponentialLR(o, 0.9)])",
]  # fmt: skip


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("source", ["SGD(ps, lr=0.1, momentum=0.5)", "Adam(ps, lr=0.1)"])
def test_rates_are_pytorchs(source: str, schedule: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, theirs = descend(av, source, schedule)[0], descend(torch, source, schedule)[0]
    np.testing.assert_allclose(np.array(mine), np.array(theirs), rtol=1e-9, atol=1e-12)


def test_a_saved_optimizer_goes_on_where_it_was() -> None:
    ps, loss = problem(av)
    first = av.optim.Adam(ps, lr=0.1)
    loss().backward()
    first.step()
    second = av.optim.Adam(ps, lr=0.5)
    second.load_state_dict(first.state_dict())
    before = [p.detach().clone() for p in ps]
    first.step()
    there = [p.tolist() for p in ps]
    for p, old in zip(ps, before, strict=True):
        p.data = old
    second.step()
    assert [p.tolist() for p in ps] == there


REFUSALS = [
    lambda m, w: m.optim.SGD([], lr=0.1),
    lambda m, w: m.optim.SGD(w, lr=0.1),
    lambda m, w: m.optim.SGD([3], lr=0.1),
    lambda m, w: m.optim.SGD([w * 2], lr=0.1),
    lambda m, w: m.optim.SGD([w], lr=-0.1),
    lambda m, w: m.optim.SGD([w], lr=0.1, nesterov=True),
    lambda m, w: m.optim.SGD([w], momentum=-1),
    lambda m, w: m.optim.LBFGS([w], line_search_fn="armijo").step(lambda: (w * w).sum().backward() or 1.0),
    lambda m, w: m.optim.SGD([w], weight_decay=-1),
    lambda m, w: m.optim.Adam([w], betas=(1, 0)),
    lambda m, w: m.optim.Adam([w], eps=-1),
    lambda m, w: m.optim.SGD([{"params": [w]}, {"params": [w]}]),
    lambda m, w: m.optim.SGD([w]).add_param_group(3),
    lambda m, w: m.optim.SGD([w]).load_state_dict({"state": {}, "param_groups": []}),
    lambda m, w: m.optim.lr_scheduler.StepLR(3, 3),
    lambda m, w: m.optim.lr_scheduler.LambdaLR(m.optim.SGD([w]), [1, 2]),
    lambda m, w: m.optim.lr_scheduler.OneCycleLR(m.optim.SGD([w]), 0.1),
    lambda m, w: m.optim.lr_scheduler.ReduceLROnPlateau(m.optim.SGD([w]), factor=2),
]


@pytest.mark.parametrize("act", REFUSALS)
def test_refusals_are_pytorchs(act: Any) -> None:
    said = []
    for m in (av, torch):
        with pytest.raises(Exception) as info:
            act(m, m.ones(2, requires_grad=True))
        said.append((info.type.__name__, str(info.value)))
    assert said[0] == said[1]


def takers(m: Any) -> list[Any]:
    """What takes options by name: every optimizer and schedule, and the loader."""
    rooms = m.optim, m.optim.lr_scheduler
    found = {n: getattr(room, n) for room in rooms for n in dir(room) if isinstance(getattr(room, n), type) and n[0] != "_"}
    return [*found.values(), m.utils.data.DataLoader]


@pytest.mark.parametrize("mine", takers(av), ids=lambda kind: kind.__name__)
def test_every_option_of_pytorch_is_taken_in_its_place_and_no_other(mine: Any) -> None:
    theirs = getattr(torch.optim, mine.__name__, None) or getattr(torch.optim.lr_scheduler, mine.__name__, None)
    pairs = [inspect.signature(kind.__init__).parameters.values() for kind in (mine, theirs or torch.utils.data.DataLoader)]
    assert [(p.name, p.kind, p.default) for p in pairs[0]] == [(p.name, p.kind, p.default) for p in pairs[1]]
    with pytest.raises(TypeError, match="unexpected keyword argument 'momentun'"):
        mine([av.ones(1, requires_grad=True)], momentun=0.9)


def test_an_optimizer_of_the_user_has_the_options_that_it_names() -> None:
    def said(m: Any) -> str:
        class Own(m.optim.Optimizer):
            def __init__(self, params: Any, lr: float) -> None:
                super().__init__(params, {"lr": lr})

        return repr(Own([m.ones(1, requires_grad=True)], 0.5))

    assert said(av) == said(torch)


def test_stepping_the_schedule_first_warns_in_pytorchs_words() -> None:
    said = []
    for m in (av, torch):
        schedule = m.optim.lr_scheduler.StepLR(m.optim.SGD([m.ones(1, requires_grad=True)], lr=0.1), 3)
        with pytest.warns(UserWarning) as caught:
            schedule.step()
        said.append(str(caught[0].message))
    assert said[0] == said[1]


def test_batches_come_in_pytorchs_order() -> None:
    seen = []
    for m in (av, torch):
        data = m.utils.data
        m.manual_seed(0)
        examples = data.TensorDataset(m.arange(10.0).reshape(10, 1), m.arange(10))
        one, two = data.random_split(examples, [0.8, 0.2])
        loader = data.DataLoader(one, batch_size=3, shuffle=True)
        log = [[b.tolist() for b in batch] for _ in range(2) for batch in loader]
        seen.append((log, [two[i][1].item() for i in range(len(two))], len(loader), m.rand(1).item()))
    assert seen[0] == seen[1]


def test_a_closure_may_return_a_number() -> None:
    x = av.tensor([2.0], requires_grad=True)
    optimizer = av.optim.LBFGS([x], max_iter=3)

    def closure() -> float:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss.item()

    assert optimizer.step(closure) == 4.0
    assert abs(x.item()) < 1e-3


@pytest.mark.parametrize("of", ["optimizer", "module"])
def test_zero_grad_writes_zeros_into_the_same_tensor_and_takes_it_out_of_the_graph(of: str) -> None:
    def cleared(m: Any) -> tuple[Any, ...]:
        layer = m.nn.Linear(2, 1, bias=False)
        (layer(m.ones(1, 2)).sum() ** 2).backward(create_graph=True)
        grad = layer.weight.grad
        with m.no_grad():
            grad[0, 0] = float("nan")
        (m.optim.SGD(layer.parameters(), lr=0.1) if of == "optimizer" else layer).zero_grad(set_to_none=False)
        return layer.weight.grad is grad, grad.tolist(), grad.grad_fn, grad.requires_grad

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # backward() with create_graph
        assert cleared(av) == cleared(torch) == (True, [[0.0, 0.0]], None, False)


@pytest.mark.parametrize("source", OPTIMIZERS)
@pytest.mark.parametrize("start", [(1e38, -1e38), (np.inf, np.nan), (0.0, 0.0)])
def test_a_training_that_diverges_does_so_without_a_warning(source: str, start: tuple[float, float]) -> None:
    ps = [av.tensor([3e38, 1.0], requires_grad=True), av.tensor([1.0, 1.0], requires_grad=True)]
    optimizer = eval(f"av.optim.{source}", {"av": av, "ps": ps})

    def closure() -> Any:
        for p in ps:
            p.grad = av.tensor(start)
        av.nn.utils.clip_grad_norm_(ps, 1e30)
        return (ps[0] * ps[0]).sum()

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            optimizer.step(closure)
    assert not said, [str(w.message) for w in said]
