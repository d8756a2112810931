"""Edits, hooks and names beside a stepper: each runs once, is listed with its values, and is meant by what it is called."""

from __future__ import annotations

import pytest

import autograd_viz as av

from .functions import moody
from .steppers import address, drift, grad_fn_of, stepper_of, three_leaves

# -- edits and rewinding ------------------------------------------------------------------------------------------------


def test_an_edit_is_gone_after_the_future_is_cut_before_it() -> None:
    """The edited node lay ready beside the one that is run anew: nobody else would have given it its gradient back."""
    a, b = (av.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    s = stepper_of(a.exp() + b.sin(), {"a": a, "b": b})
    s.goto(3)  # Add, Sin, AccumulateGrad (b); Exp is ready since step 1
    s.edit(1000.0)
    s.finish()
    s.goto(1)
    s.edit(1.0)
    s.undo_edit()
    s.finish()
    assert a.grad is not None and a.grad.item() == pytest.approx(7.389056)
    assert all(step.edited == () for step in s.trace.steps)


def test_an_edit_that_has_not_run_is_gone_too() -> None:
    a, b = (av.tensor(v, requires_grad=True) for v in (2.0, 3.0))
    s = stepper_of(a.exp() + b.sin(), {"a": a, "b": b})
    s.goto(3)
    s.edit(1000.0)
    s.goto(1)
    s.edit(1.0)
    s.undo_edit()
    s.finish()
    assert a.grad is not None and a.grad.item() == pytest.approx(7.389056)


def test_undo_edit_in_the_forward_pass_is_harmless() -> None:
    s, t = three_leaves()
    s.edit(10.0)
    s.finish()
    s.goto(-2)
    s.undo_edit()
    s.finish()
    assert t["a"].grad is not None and t["a"].grad.item() in (12.0, 120.0) and s.is_complete


def test_a_hook_that_changes_the_gradient_in_place_and_raises_leaves_it_as_it_was() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    s = stepper_of((y * y).sum(), {"x": x, "y": y})
    moods = ["bad"]

    def hook(grad: av.Tensor) -> None:
        grad.mul_(10)
        if moods:
            raise ValueError("not today")

    handle = y.register_hook(hook)
    s.goto(2)
    with pytest.raises(ValueError, match="not today"):
        s.next()
    moods.clear()
    s.finish()
    assert x.grad is not None and x.grad.tolist() == [180.0, 360.0]
    handle.remove()
    s.goto(2)
    s.finish()
    assert x.grad is not None and x.grad.tolist() == [18.0, 36.0]


def test_hooks_run_again_when_the_node_that_raised_after_them_is_tried_again() -> None:
    function, moods = moody()
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = function.apply(x)
    y.register_hook(lambda grad: grad * 10)
    s = stepper_of(y.sum(), {"x": x, "y": y})
    s.next()
    with pytest.raises(ValueError, match="not today"):
        s.next()
    moods.clear()
    step = s.next()
    s.finish()
    assert step is not None and [h.kind for h in step.hooks] == ["tensor"]
    assert x.grad is not None and x.grad.tolist() == [20.0, 20.0]


def test_hooks_that_change_in_place_are_listed_with_what_they_were_given() -> None:
    s, t = three_leaves()
    t["c"].register_hook(lambda grad: grad.mul_(10) and None)

    def clip(leaf: av.Tensor) -> None:
        assert leaf.grad is not None
        leaf.grad.clamp_(max=1.0)

    t["a"].register_post_accumulate_grad_hook(clip)
    s.finish()
    runs = [(h.kind, h.before and h.before.numbers, h.after and h.after.numbers) for x in s.trace.steps for h in x.hooks]
    assert runs == [("tensor", (4.0,), (40.0,)), ("post_accumulate", (120.0,), (1.0,))]


def test_hooks_of_a_pass_that_a_hook_starts_are_not_listed() -> None:
    s, t = three_leaves()
    inner = av.tensor(1.0, requires_grad=True)
    inner.register_hook(lambda grad: grad * 2)

    def outer(grad: av.Tensor) -> None:
        with av.enable_grad():
            (inner * 3).backward()

    t["c"].register_hook(outer)
    s.finish()
    assert [h.name for x in s.trace.steps for h in x.hooks] == ["outer"]


def test_a_post_accumulate_hook_may_take_the_grad_away() -> None:
    s, t = three_leaves()

    def consume(leaf: av.Tensor) -> None:
        leaf.grad = None

    t["a"].register_post_accumulate_grad_hook(consume)
    s.finish()
    assert t["a"].grad is None and drift(s) == {}
    (run,) = [h for x in s.trace.steps for h in x.hooks]
    assert run.before is not None and run.before.numbers == (12.0,) and run.after is None
    s.goto(0)
    s.finish()
    assert t["a"].grad is None and s.is_complete


def test_callbacks_for_the_end_of_the_pass_are_called_at_its_end() -> None:
    s, t = three_leaves()
    called: list[float] = []

    def hook(grad: av.Tensor) -> None:
        av.autograd.Variable._execution_engine.queue_callback(lambda: called.append(t["b"].grad.item()))

    t["c"].register_hook(hook)
    s.goto(4)
    assert called == []
    s.finish()
    assert called == [8.0]
    s.goto(0)
    s.finish()
    assert called == [8.0]  # replayed, as hooks are: nothing of the user's runs twice
    s.goto(0)
    s.edit(2.0)
    s.finish()
    assert called == [8.0, 16.0]


# -- Jacobians of what is watched -----------------------------------------------------------------------------------------


def test_a_hooked_or_retained_tensor_has_its_jacobians_and_the_hook_runs_once() -> None:
    s, t = three_leaves()
    seen: list[float] = []
    t["c"].register_hook(lambda grad: seen.append(grad.item()))
    t["c"].retain_grad()
    s.finish()
    of_c = next(x for x in s.trace.steps if x.node == s.document.nodes[0].id)
    assert [(j.input, j.value.numbers) for j in of_c.jacobians] == [("self", (3.0,)), ("other", (2.0,))] and seen == [4.0]


def test_saved_tensor_hooks_do_not_run_for_a_jacobian() -> None:
    unpacked: list[int] = []

    def unpack(kept: av.Tensor) -> av.Tensor:
        unpacked.append(1)
        return kept

    with av.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), unpack):
        x = av.tensor(2.0, requires_grad=True)
        y = x.exp()
    s = stepper_of(y, {"x": x})
    s.finish()
    assert len(unpacked) == 1


# -- names ----------------------------------------------------------------------------------------------------------------


def test_a_variable_called_like_an_id_is_meant_by_its_name() -> None:
    x = av.tensor(2.0, requires_grad=True)
    z = av.tensor(5.0, requires_grad=True)
    y = x.exp()
    s = stepper_of(y * z, {"x": x, "t0": y, "n0": z})
    s.run_to("t0")
    assert s.next_node == grad_fn_of(s, "t0")
    s.reset()
    s.run_to("n0")
    assert s.next_node == next(n.id for n in s.document.nodes if n.variable == address(s, "n0").removesuffix(".grad"))


def test_stops_take_tensors_and_nodes_themselves() -> None:
    s, t = three_leaves()
    s.stop_at(t["c"])
    s.stop_at(t["a"])
    assert s.run() is not None and s.step == 2
    assert s.run() is not None and s.step == 3
    s.run_to(t["c"].grad_fn)
    assert s.step == 2
    s.until(t["b"])
    assert s.step == 5
    with pytest.raises(ValueError, match="it has: a, b"):
        s.stop_at(av.tensor(1.0))


def test_a_tensor_with_markup_in_its_name_can_be_stopped_at() -> None:
    x = av.tensor(2.0, requires_grad=True)
    s = stepper_of(x * 3, {"</svg><script>": x})
    s.stop_at("</svg><script>")
    assert s.run() is not None and s.step == 1
    s.until("</svg><script>")
    assert s.is_complete and "sets </svg><script>.grad to 3.0" in s.sentence


def test_a_run_from_the_forward_pass_stops_at_the_first_node() -> None:
    s, _ = three_leaves()
    s.stop_at("e")
    s.goto(-2)
    stopped = s.run()
    assert stopped is not None and s.step == 0
    assert s.run() is None and s.is_complete
