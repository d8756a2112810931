"""The stepper beside a notebook that goes on: what is changed behind its back is neither lost nor argued with."""

from __future__ import annotations

import pytest

import autograd_viz as av
from autograd_viz.graph import Step
from autograd_viz.stepper import Stepper

from .steppers import address, drift, grad_fn_of, stepper_of, three_leaves


def replayed(s: Stepper) -> list[Step]:
    """The recorded steps that are still the same objects after going to the end again."""
    before = s.trace.steps
    s.finish()
    return [x for x, y in zip(before, s.trace.steps, strict=False) if x is y]


# -- grads that the user has changed ----------------------------------------------------------------------------------


def test_a_grad_that_stood_there_before_the_pass_and_was_taken_away_is_drift_at_the_start() -> None:
    a = av.tensor(2.0, requires_grad=True)
    a.grad = av.tensor(7.0)
    s = stepper_of(a * 3, {"a": a})
    assert s.drift() == {}
    a.grad = None
    assert s.drift() == {address(s, "a"): None}


def test_drift_compares_with_what_the_picture_shows_not_with_what_the_stepper_saw_last() -> None:
    s, t = three_leaves()
    t["d"].grad = av.tensor(100.0)  # after the picture was made
    s.goto(2)
    assert drift(s) == {}
    s.back()
    assert t["d"].grad is not None and t["d"].grad.item() == 100.0
    assert drift(s) == {"d": (100.0,)}  # the picture of step 1 knows nothing of it
    s.next()
    assert drift(s) == {} and t["d"].grad.item() == 106.0


def test_an_equal_grad_in_another_object_is_no_drift() -> None:
    s, t = three_leaves()
    s.goto(2)
    t["d"].grad = av.tensor(6.0)
    assert s.drift() == {}


def test_changing_data_is_noticed_even_where_versions_are_not_counted() -> None:
    x = av.ones(100, requires_grad=True)
    s = stepper_of((x * 2).sum(), {"x": x})
    s.finish()
    assert x.grad is not None
    x.grad.data[3] = 50.0
    assert list(s.drift()) == [address(s, "x")]
    s.back()
    assert x.grad.data[3].item() == 50.0
    s.next()
    assert x.grad.data[3].item() == 52.0


def test_a_grad_that_was_put_away_is_there_again_after_back_and_next() -> None:
    s, t = three_leaves()
    s.finish()
    t["a"].grad = None
    s.back()
    s.back()
    assert t["a"].grad is None
    s.finish()
    assert t["a"].grad is not None and t["a"].grad.item() == 12.0


def test_an_optimizer_step_between_back_and_next_is_stepped_from() -> None:
    w = av.tensor(2.0, requires_grad=True)
    s = stepper_of(w * 3, {"w": w})
    s.finish()
    s.back()
    w.grad = av.tensor(1.0)
    av.optim.SGD([w], lr=0.1).step()
    s.next()
    assert w.grad.item() == 4.0 and s.drift() == {}
    assert s.current is not None and s.current.accumulation is not None and s.current.accumulation.old is not None


# -- saved tensors that changed ---------------------------------------------------------------------------------------


def test_a_step_is_not_replayed_if_a_saved_tensor_was_changed_in_place_meanwhile() -> None:
    s, t = three_leaves()
    s.finish()
    s.goto(0)
    with av.no_grad():
        t["d"].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        s.next()
    assert s.step == 0 and s.failed == grad_fn_of(s, "e") and s.trace.steps == ()


def test_back_does_not_bring_back_what_a_backward_of_the_users_has_freed() -> None:
    s, t = three_leaves(retain_graph=True)
    s.goto(3)
    t["e"].backward()
    assert drift(s) == {"a": (12.0,), "b": (8.0,), "d": (12.0,)}
    s.goto(0)
    with pytest.raises(RuntimeError, match="second time"):
        _ = t["e"].grad_fn._saved_self
    with pytest.raises(RuntimeError, match="second time"):
        s.next()
    assert s.step == 0 and [t[n].grad.item() for n in "abd"] == [12.0, 8.0, 12.0]


def test_a_step_whose_saved_tensors_were_only_looked_at_is_replayed() -> None:
    x = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x.clone()
    y[0] = 5.0  # CopySlices remembers through another node
    s = stepper_of((y * y.exp()).sum(), {"x": x, "y": y})
    s.finish()
    count = len(s.trace.steps)
    s.goto(0)
    assert len(replayed(s)) == count


def test_saved_tensors_in_the_users_own_keeping_are_stepped_over() -> None:
    with av.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), lambda array: av.tensor(array)):
        x = av.tensor([1.0, 2.0], requires_grad=True)
        y = (x.detach() * x.exp()).sum()
    s = stepper_of(y, {"x": x, "y": y})
    s.finish()
    s.goto(1)
    s.finish()
    assert x.grad is not None and x.grad.tolist() == pytest.approx([2.7182817, 14.778112])


# -- hooks and switches that came meanwhile -----------------------------------------------------------------------------


def test_a_hook_registered_after_back_runs() -> None:
    s, t = three_leaves()
    s.finish()
    s.goto(2)
    t["c"].register_hook(lambda grad: grad * 10)
    s.finish()
    assert t["a"].grad is not None and t["a"].grad.item() == 120.0


def test_a_leaf_frozen_after_back_gets_no_grad() -> None:
    s, t = three_leaves()
    s.finish()
    s.goto(1)
    t["d"].requires_grad_(False)
    s.finish()
    assert t["d"].grad is None and t["a"].grad is not None


def test_retain_grad_after_back_keeps_the_gradient() -> None:
    s, t = three_leaves()
    s.finish()
    s.goto(2)
    t["c"].retain_grad()
    s.finish()
    assert t["c"].grad is not None and t["c"].grad.item() == 4.0
