"""Hooks of optimizers beside PyTorch's: what they see, in which order, and what their results replace."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest

import autograd_viz as av

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def stepped(m: Any, kind: str) -> list[Any]:
    log: list[Any] = []
    x = m.tensor([1.0, 2.0], requires_grad=True)
    hooks = importlib.import_module(f"{m.__name__}.optim.optimizer")

    class Own(m.optim.Optimizer):  # type: ignore[name-defined, misc]
        def __init__(self, params: Any, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        def step(self, closure: Any = None) -> Any:
            log.append("own step")
            return closure()

    optimizer = Own([x], lr=0.1) if kind == "Own" else getattr(m.optim, kind)([x], lr=0.1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    def before(opt: Any, args: Any, kwargs: Any) -> Any:
        log.append(("before", opt is optimizer, args[0] is opt, len(args), sorted(kwargs), x.tolist()))
        return (args[0], closure), {}

    with hooks.register_optimizer_step_pre_hook(lambda *a: log.append("before all")):
        handles = [
            optimizer.register_step_post_hook(lambda opt, args, kwargs: log.append(("after", len(args), x.tolist()))),
            optimizer.register_step_pre_hook(before),
            hooks.register_optimizer_step_post_hook(lambda *a: log.append("after all")),
        ]
        log.append(optimizer.step(closure=None).item())
    for handle in handles:
        handle.remove()
    log.append(optimizer.step(closure).item())
    return log


@pytest.mark.parametrize("kind", ["SGD", "Adam", "LBFGS", "Own"])
def test_hooks_around_a_step_are_pytorchs(kind: str) -> None:
    mine, theirs = stepped(av, kind), stepped(torch, kind)
    assert [str(m)[:60] for m in mine] == [str(t)[:60] for t in theirs]


def test_a_hook_that_returns_something_else_is_refused() -> None:
    for m in (av, torch):
        optimizer = m.optim.SGD([m.ones(1, requires_grad=True)], lr=0.1)
        optimizer.register_step_pre_hook(lambda *a: 3)
        with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3\."):
            optimizer.step()


def test_an_own_step_counts_for_a_schedule() -> None:
    class Own(av.optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            pass

    optimizer = Own([av.ones(1, requires_grad=True)], {"lr": 0.1})
    schedule = av.optim.lr_scheduler.StepLR(optimizer, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "lr_scheduler.step() before optimizer.step()"
        optimizer.step()
        schedule.step()
    assert schedule.get_last_lr() == [pytest.approx(0.01)]
