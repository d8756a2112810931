"""A step of a PyTorch pass that is read long after it ran tells what ran then."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from autograd_viz.sources.pytorch.reading.values import value_of  # noqa: E402
from autograd_viz.stepper import Stepper  # noqa: E402

from ..torch_steppers import stepper_of  # noqa: E402
from ..widget.test_once import calls  # noqa: E402
from .test_read_later import read_at_once, read_at_the_end, ten_times  # noqa: E402
from .test_torch_passes import Run, every_small_program  # noqa: E402

pytestmark = pytest.mark.torch


@every_small_program
def test_a_program_tells_the_same_later(name: str) -> None:
    def told(is_late: bool) -> str:
        run = Run(name)
        s, _ = run.stepper()
        return read_at_the_end(s, [t for t in run.leaves if t.layout is torch.strided]) if is_late else read_at_once(s)

    if name != "lstm":  # which saves memory that nobody has written to: its numbers are chance
        assert told(True) == told(False)


def chain(hook: Any = None) -> Stepper:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    if hook is not None:
        y.register_hook(hook)
    return stepper_of((y.reshape(1, 2).reshape(2) * torch.tensor([1.0, 5.0])).sum())


def test_what_a_hook_changes_in_place_is_read_before() -> None:
    s = chain(ten_times)
    s.finish()
    assert "10" in repr(s.trace) and repr(s.trace) == read_at_once(chain(ten_times))


def test_a_gradient_that_a_hook_keeps_may_be_changed_later() -> None:
    kept: list[Any] = []

    def keep(g: Any) -> None:
        kept.append(g)

    s = chain(keep)
    s.finish()
    for g in kept:
        g.fill_(9)
    assert kept and repr(s.trace) == read_at_once(chain(keep))


def test_a_hook_of_a_tensor_that_is_gone_cannot_make_a_wrong_number() -> None:
    """Nobody can see that it is there; what it has changed is told as overwritten."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(ten_times)
    root = (y.reshape(1, 2) * torch.tensor([1.0, 5.0])).sum()
    del y
    s = stepper_of(root)
    s.finish()
    said = [v.text for step in s.trace.steps for v in (*step.grad_outputs, *step.grad_inputs) if v is not None]
    assert set(said) == {"1.", "[[1., 1.]]", "[10., 50.]", "[ 30., 150.]", "overwritten"}


def test_finishing_writes_no_number() -> None:
    s = chain()
    assert calls(value_of.__wrapped__, s.finish) == 0
    assert calls(value_of.__wrapped__, lambda: s.trace.steps[0].sentence) > 0
