"""Whatever a user does around a stepper of PyTorch programs: their program goes on as it would without us."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autograd_viz as av  # noqa: E402

from ..torch_features import leaf  # noqa: E402
from ..torch_functions import with_backward  # noqa: E402
from ..torch_steppers import stepped, stepper_of  # noqa: E402

pytestmark = pytest.mark.torch


# -- the stepper --------------------------------------------------------------------------------------------------------


def test_a_freed_graph_is_drawn_and_refused_in_pytorchs_words() -> None:
    x = leaf(3)
    loss = (x.exp() * x).sum()
    loss.backward()
    assert "freed" in repr(av.show(loss))
    stepper = stepper_of(loss)
    with pytest.raises(RuntimeError, match="second time"):
        stepper.finish()
    assert next(n.name for n in stepper.document.nodes if n.id == stepper.failed) == "MulBackward0"


def test_a_saved_tensor_changed_in_place_is_refused_in_pytorchs_words() -> None:
    y = leaf(3) * 1
    loss = (y * y).sum()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        stepped(loss)


def test_backward_while_a_stepper_stands_half_way() -> None:
    x, w = leaf(3), leaf(3)
    loss = ((x * w).sin() * w).sum()
    stepper = stepper_of(loss)
    stepper.goto(3)
    loss.backward()
    expected = x.grad.clone(), w.grad.clone()
    with pytest.raises(RuntimeError, match="second time"):
        stepper.finish()
    stepper.goto(0)
    assert torch.equal(x.grad, expected[0])
    assert torch.equal(w.grad, expected[1])


def test_the_users_grad_stays_when_steps_are_taken_back() -> None:
    x, w = leaf(3), leaf(3)
    stepper = stepper_of(((x * w).sin() * w).sum())
    stepper.finish()
    x.grad, w.grad = None, (mine := torch.ones(3))
    stepper.goto(0)
    assert x.grad is None
    assert w.grad is mine


def test_two_steppers_on_one_graph() -> None:
    x, w = leaf(3), leaf(3)
    loss = ((x * w).sin() * w).sum()
    a, b = stepper_of(loss), stepper_of(loss)
    while a.next() and b.next():
        pass
    twice = x.grad.clone()
    x.grad = None
    loss.backward()
    assert torch.allclose(twice, 2 * x.grad)


def test_an_edited_gradient() -> None:
    x = leaf(3)
    stepper = stepper_of((x * 2).sum())
    stepper.edit(3.0)
    stepper.finish()
    assert x.grad.tolist() == [6, 6, 6]


@pytest.mark.parametrize("around", [torch.no_grad, torch.inference_mode, lambda: torch.device("meta")])
def test_stepping_under_a_mode(around: Any) -> None:
    x = leaf(3)
    loss = (x * 2).sin().sum()
    with around():
        stepped(loss)
    assert torch.allclose(x.grad, 2 * (2 * x).cos())


def test_a_hook_that_raises_can_be_removed_and_the_pass_goes_on() -> None:
    x = leaf(3)
    y = x.sin()
    hook = y.register_hook(lambda g: 1 / 0)
    stepper = stepper_of(y.sum())
    with pytest.raises(ZeroDivisionError):
        stepper.finish()
    hook.remove()
    stepper.finish()
    assert torch.equal(x.grad, x.cos())


def test_a_wrong_function_fails_in_pytorchs_words() -> None:
    def message(run: Any) -> str:
        with pytest.raises(RuntimeError) as error:
            run(with_backward(lambda ctx, g: (g, g)).apply(leaf(3)).sum())
        return str(error.value)

    assert message(stepped) == message(lambda loss: loss.backward())


def test_a_move_that_is_interrupted_is_taken_back() -> None:
    def interrupted(ctx: Any, g: Any) -> Any:
        raise KeyboardInterrupt

    stepper = stepper_of(with_backward(interrupted).apply(leaf(3)).sum())
    with pytest.raises(KeyboardInterrupt):
        stepper.finish()
    assert stepper.step == 0 and len(stepper.trace.steps) == 1
    assert torch._C._current_graph_task_id() == -1


def test_back_and_forth_through_a_checkpoint() -> None:
    from torch.utils.checkpoint import checkpoint

    net, x = nn.Sequential(nn.Linear(3, 4), nn.Tanh()), leaf(2, 3)
    loss = checkpoint(net, x, use_reentrant=False).square().sum()
    stepper = stepper_of(loss)
    stepper.finish()
    once = x.grad.clone()
    stepper.goto(1)
    x.register_hook(lambda g: None)  # whoever changes something makes the steps run anew
    stepper.edit(torch.ones(2, 4))
    stepper.finish()
    stepper.goto(0)
    loss.backward()
    assert torch.equal(x.grad, once)


def test_ten_thousand_ops_are_no_recursion() -> None:
    x = y = leaf(1)
    with av.record():
        for _ in range(10_000):
            y = y.sin()
    start = time.perf_counter()
    stepper = stepper_of(y)
    for _ in range(50):
        stepper.next()
    assert time.perf_counter() - start < 60
    assert len(stepper.document.ops) == 10_000
    stepper.goto(0)
    y.backward()
    assert x.grad is not None


def test_only_the_threads_of_a_pass_are_told_of_it() -> None:
    def asked(start: Callable[[Callable[[], None]], Any]) -> int:
        found, done = [], threading.Event()

        def ask() -> None:
            found.append(torch._C._current_graph_task_id())
            done.set()

        start(ask)
        done.wait(10)
        return int(found[0])

    said: list[int] = []

    def hook(g: Any) -> None:
        said.append(torch._C._current_graph_task_id())
        said.append(asked(lambda ask: _thread.start_new_thread(ask, ())))  # as the engine's threads: unknown to `threading`
        said.append(asked(lambda ask: threading.Thread(target=ask).start()))

    y = leaf(3) * 2
    y.register_hook(hook)
    stepped(y.sum())
    assert said[0] == said[1] >= 0
    assert said[2] == -1


# -- tensors of other kinds ---------------------------------------------------------------------------------------------


def test_inside_torch_func() -> None:
    x, seen = leaf(3), []

    def loss(w: Any) -> Any:
        y = (w * x).sin().sum()
        seen.append(repr(av.show(y)))
        return y

    plain = torch.func.grad(lambda w: (w * x).sin().sum())(torch.ones(3))
    assert torch.equal(torch.func.grad(loss)(torch.ones(3)), plain)
    assert "backward nodes" in seen[0]


def test_fake_tensors() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = leaf(3)
        y = (x * 2).sum()
        av.show(y)
        stepped(y)
    assert x.grad.shape == (3,)


def test_a_tensor_whose_memory_was_taken_away(tmp_path: Path) -> None:
    w = leaf(3)
    y = (w * 2).sum()
    y.register_hook(lambda g: g)
    w.untyped_storage().resize_(0)  # as FSDP does after the forward pass
    av.show(y)
    av.save(y, tmp_path / "y.json")
    assert "without memory" in (tmp_path / "y.json").read_text()
    stepped(y)
    assert torch.equal(w.grad, torch.full((3,), 2.0))


@pytest.mark.skipif(not hasattr(torch, "cond"), reason="this PyTorch has no torch.cond")
@pytest.mark.parametrize("flag", [True, False])
def test_higher_order_ops_run_under_a_recorder_as_without(flag: bool) -> None:
    m, x = torch.nn.Linear(3, 3), torch.randn(2, 3)

    def loss() -> Any:
        return torch.cond(torch.tensor(flag), lambda a: m(a).sin(), lambda a: m(a).cos(), (x,)).sum()

    loss().backward()
    expected = m.weight.grad.clone()
    m.zero_grad()
    with av.record(m) as rec:
        y = loss()
    stepped(y)
    assert not rec.problems and torch.equal(m.weight.grad, expected)
