"""The stepper beside a notebook that goes on: what is changed behind its back is neither lost nor argued with."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.graph import Step
from autograd_viz.stepper import Stepper

from .functions import moody
from .test_stepper import stepper_of


def chain(**options: Any) -> tuple[Stepper, dict[str, av.Tensor]]:
    """e = (a * b) * d: MulBackward0, AccumulateGrad (d), MulBackward0, AccumulateGrad (a), AccumulateGrad (b)."""
    a, b, d = (av.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))
    c = a * b
    names = {"a": a, "b": b, "c": c, "d": d, "e": c * d}
    return stepper_of(names["e"], names, **options), names


def address(s: Stepper, name: str) -> str:
    return next(t.id for t in s.document.tensors if t.name == name) + ".grad"


def drift(s: Stepper) -> dict[str, Any]:
    names = {t.id: t.name for t in s.document.tensors}
    return {names[at.removesuffix(".grad")] or "": v and v.numbers for at, v in s.drift().items()}


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
    s, t = chain()
    t["d"].grad = av.tensor(100.0)  # after the picture was made
    s.goto(2)
    assert drift(s) == {}
    s.back()
    assert t["d"].grad is not None and t["d"].grad.item() == 100.0
    assert drift(s) == {"d": (100.0,)}  # the picture of step 1 knows nothing of it
    s.next()
    assert drift(s) == {} and t["d"].grad.item() == 106.0


def test_an_equal_grad_in_another_object_is_no_drift() -> None:
    s, t = chain()
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
    s, t = chain()
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
    s, t = chain()
    s.finish()
    s.goto(0)
    with av.no_grad():
        t["d"].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        s.next()
    assert s.step == 0 and s.failed == y_node(s, "e") and s.trace.steps == ()


def test_back_does_not_bring_back_what_a_backward_of_the_users_has_freed() -> None:
    s, t = chain(retain_graph=True)
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
    s, t = chain()
    s.finish()
    s.goto(2)
    t["c"].register_hook(lambda grad: grad * 10)
    s.finish()
    assert t["a"].grad is not None and t["a"].grad.item() == 120.0


def test_a_leaf_frozen_after_back_gets_no_grad() -> None:
    s, t = chain()
    s.finish()
    s.goto(1)
    t["d"].requires_grad_(False)
    s.finish()
    assert t["d"].grad is None and t["a"].grad is not None


def test_retain_grad_after_back_keeps_the_gradient() -> None:
    s, t = chain()
    s.finish()
    s.goto(2)
    t["c"].retain_grad()
    s.finish()
    assert t["c"].grad is not None and t["c"].grad.item() == 4.0


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
    s, t = chain()
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
    s, t = chain()
    t["c"].register_hook(lambda grad: grad.mul_(10) and None)

    def clip(leaf: av.Tensor) -> None:
        assert leaf.grad is not None
        leaf.grad.clamp_(max=1.0)

    t["a"].register_post_accumulate_grad_hook(clip)
    s.finish()
    runs = [(h.kind, h.before and h.before.numbers, h.after and h.after.numbers) for x in s.trace.steps for h in x.hooks]
    assert runs == [("tensor", (4.0,), (40.0,)), ("post_accumulate", (120.0,), (1.0,))]


def test_hooks_of_a_pass_that_a_hook_starts_are_not_listed() -> None:
    s, t = chain()
    inner = av.tensor(1.0, requires_grad=True)
    inner.register_hook(lambda grad: grad * 2)

    def outer(grad: av.Tensor) -> None:
        with av.enable_grad():
            (inner * 3).backward()

    t["c"].register_hook(outer)
    s.finish()
    assert [h.name for x in s.trace.steps for h in x.hooks] == ["outer"]


def test_a_post_accumulate_hook_may_take_the_grad_away() -> None:
    s, t = chain()

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
    s, t = chain()
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
    s, t = chain()
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
    assert s.next_node == y_node(s, "t0")
    s.reset()
    s.run_to("n0")
    assert s.next_node == next(n.id for n in s.document.nodes if n.variable == address(s, "n0").removesuffix(".grad"))


def y_node(s: Stepper, name: str) -> str | None:
    return next(t.grad_fn for t in s.document.tensors if t.name == name)


def test_stops_take_tensors_and_nodes_themselves() -> None:
    s, t = chain()
    s.stop_at(t["c"])
    s.stop_at(t["a"])
    assert s.run() is not None and s.step == 2
    assert s.run() is not None and s.step == 3
    s.run_to(t["c"].grad_fn)
    assert s.step == 2
    s.until(t["b"])
    assert s.step == 5
    with pytest.raises(ValueError, match="there are: a, b"):
        s.stop_at(av.tensor(1.0))


def test_a_tensor_with_markup_in_its_name_can_be_stopped_at() -> None:
    x = av.tensor(2.0, requires_grad=True)
    s = stepper_of(x * 3, {"</svg><script>": x})
    s.stop_at("</svg><script>")
    assert s.run() is not None and s.step == 1
    s.until("</svg><script>")
    assert s.is_complete and "</svg><script>.grad was None" in s.sentence


def test_a_run_from_the_forward_pass_stops_at_the_first_node() -> None:
    s, _ = chain()
    s.stop_at("e")
    s.goto(-2)
    stopped = s.run()
    assert stopped is not None and s.step == 0
    assert s.run() is None and s.is_complete
