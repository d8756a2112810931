"""What a debugger of backward passes does: edits, looks at the engine, and never argues with the notebook."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.graph import Engine, Jacobian, Step, Waiting
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.sources.twin.node_pass import CorePass
from autograd_viz.stepper import Stepper

from .steppers import names_of, stepper_of, three_leaves

# -- the engine -------------------------------------------------------------------------------------------------------


def test_each_step_tells_what_is_ready_what_waits_and_what_memory_is_held() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    s = stepper_of((y * y + y).sum(), {"x": x, "y": y})
    assert names_of(s, s.trace.start.queue) == ["SumBackward0"] and s.trace.start.held == 8
    s.next()
    s.next()
    assert s.current is not None
    exp = s.document.nodes[0].id
    assert s.current.engine == Engine((s.document.nodes[1].id,), (Waiting(exp, 1, 3),), 8)
    s.finish()
    assert s.current.engine == Engine((), (), 0)
    assert sum(step.freed for step in s.trace.steps) == 8


def test_the_local_jacobian_is_the_matrix_of_the_ops_derivative() -> None:
    x = av.tensor([0.5, -1.0, 2.0], requires_grad=True)
    s = stepper_of(x.softmax(0).sum(), {"x": x})
    s.next()
    s.next()
    assert s.current is not None
    y = x.detach().softmax(0).numpy()
    (jacobian,) = s.current.jacobians
    assert (jacobian.input, jacobian.value.shape) == ("self", (3, 3))
    np.testing.assert_allclose(np.reshape(jacobian.value.numbers, (3, 3)), np.diag(y) - np.outer(y, y), atol=1e-6)


def test_the_jacobian_of_a_number_is_the_local_derivative() -> None:
    s, _ = three_leaves()
    step = s.next()
    assert step is not None
    assert [(j.input, j.value.numbers) for j in step.jacobians] == [("self", (4.0,)), ("other", (6.0,))]
    assert all(isinstance(j, Jacobian) for j in step.jacobians)


def test_hooks_are_listed_with_what_they_made_of_the_gradient() -> None:
    a = av.tensor(2.0, requires_grad=True)
    b = a * 3

    def double(grad: av.Tensor) -> av.Tensor:
        return grad * 2

    def look(leaf: av.Tensor) -> None:
        assert leaf.grad is not None

    b.register_hook(double)
    a.register_post_accumulate_grad_hook(look)
    assert b.grad_fn is not None
    b.grad_fn.register_prehook(lambda grads: None)
    s = stepper_of(b * 1, {"a": a, "b": b})
    s.finish()
    hooks = [h for t in s.trace.steps for h in t.hooks]
    assert [(h.kind, h.name, h.index, h.before and h.before.numbers, h.after and h.after.numbers) for h in hooks] == [
        ("tensor", "double", 0, (1.0,), (2.0,)),
        ("pre", "<lambda>", 0, (2.0,), (2.0,)),
        ("post_accumulate", "look", 0, (6.0,), (6.0,)),
    ]
    assert "double" in s.sentence_at(2)


# -- edits ------------------------------------------------------------------------------------------------------------


def test_the_first_gradient_can_be_edited_and_taken_back() -> None:
    s, t = three_leaves()
    s.edit(10.0)
    s.finish()
    assert t["a"].grad is not None and t["a"].grad.item() == 120.0 and s.trace.steps[0].edited == (0,)
    assert "You set the gradient to 10.0." in s.sentence_at(1)
    s.goto(0)
    s.undo_edit()
    s.finish()
    assert t["a"].grad is not None and t["a"].grad.item() == 12.0 and s.trace.steps[0].edited == ()


def test_an_edit_waits_until_its_node_runs() -> None:
    s, _ = three_leaves()
    assert s.pending is None
    s.next()
    s.edit(5.0)
    node = s.next_node
    assert s.pending is not None and s.pending[0] == node and s.pending[1][0].text == "5."
    s.goto(0)
    assert s.pending is not None
    s.goto(2)
    assert s.pending is None and s.trace.steps[1].edited == (0,)
    s.edit(6.0)
    s.back()
    assert s.pending is None


def test_an_edit_in_the_middle_cuts_the_recorded_future_and_back_takes_it_back() -> None:
    s, t = three_leaves()
    s.finish()
    cuts: list[int] = []
    s.on_cut(cuts.append)
    s.goto(2)
    s.edit(-1.0)
    assert cuts == [2] and len(s.trace.steps) == 2
    s.back()
    assert s.step == 2  # that was the edit
    s.edit(-1.0)
    s.finish()
    assert [t[n].grad.item() for n in "abd"] == [-3.0, -2.0, 6.0]
    s.goto(1)
    s.finish()
    assert [t[n].grad.item() for n in "abd"] == [-3.0, -2.0, 6.0]  # the edit is part of this branch
    s.goto(0)
    assert [t[n].grad for n in "abd"] == [None, None, None]


# -- the notebook goes on meanwhile ---------------------------------------------------------------------------------------


def test_what_the_notebook_does_to_grad_is_seen_and_stepped_from() -> None:
    s, t = three_leaves()
    d = t["d"]
    s.goto(2)
    d.grad = None
    assert s.drift() == {"t2.grad": None}
    s.back()
    s.next()
    assert d.grad is not None and d.grad.item() == 6.0 and s.drift() == {}
    d.grad.zero_()
    assert [v and v.numbers for v in s.drift().values()] == [(0.0,)]
    s.back()
    assert d.grad is not None and d.grad.item() == 0.0  # the user's own stays
    s.next()
    assert d.grad.item() == 6.0 and s.step == 2 and s.trace.steps[1].accumulation.old.numbers == (0.0,)


def test_a_backward_of_the_users_half_way_adds_up_and_frees() -> None:
    s, t = three_leaves()
    s.goto(2)
    with pytest.raises(RuntimeError, match="second time"):
        t["e"].backward()
    a = t["a"] * 5
    a.backward()
    s2 = s.step
    s.finish()
    assert s2 == 2 and t["a"].grad is not None and t["a"].grad.item() == 17.0
    s.goto(0)
    assert t["a"].grad.item() == 5.0


def test_a_hook_that_raises_leaves_everything_as_it_was_and_names_its_node() -> None:
    s, t = three_leaves()
    moods = [ValueError("not today")]

    def hook(grad: av.Tensor) -> None:
        if moods:
            raise moods[0]

    t["c"].register_hook(hook)
    s.goto(2)
    for _ in range(2):
        with pytest.raises(ValueError, match="not today"):
            s.finish()
        assert s.step == 2 and names_of(s, [s.failed]) == ["MulBackward0"] and t["a"].grad is None
    moods.clear()
    s.finish()
    assert s.failed is None and t["a"].grad is not None and t["a"].grad.item() == 12.0


def test_a_post_accumulate_hook_that_raises_takes_the_accumulation_back() -> None:
    a = av.tensor(2.0, requires_grad=True)

    def fail(leaf: av.Tensor) -> None:
        raise ValueError("late")

    handle = a.register_post_accumulate_grad_hook(fail)
    s = stepper_of(a * 3, {"a": a})
    s.next()
    with pytest.raises(ValueError, match="late"):
        s.next()
    assert a.grad is None and s.step == 1
    handle.remove()
    s.next()
    assert a.grad is not None and a.grad.item() == 3.0


def test_a_saved_tensor_changed_in_place_between_steps_is_refused_and_explained() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    s = stepper_of(y.pow(2).sum(), {"x": x, "y": y})
    s.next()
    with av.no_grad():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        s.next()
    assert s.step == 1 and names_of(s, [s.failed]) == ["PowBackward0"]
    assert "modified in place" in s.explain(caught.value)


def refuse(grad: Any) -> None:
    raise ValueError("not this one")


class Refusing(av.autograd.Function):
    """Its backward raises."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return refuse(grad)


@pytest.mark.parametrize("is_hook", [True, False])
def test_an_error_of_the_user_s_code_says_whose_it_is(is_hook: bool) -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2 if is_hook else Refusing.apply(x)
    if is_hook:
        y.register_hook(refuse)
    s = stepper_of(y.sum(), {"x": x})
    with pytest.raises(ValueError) as caught:
        s.finish()
    said = s.explain(caught.value)
    wanted = "MulBackward0 called refuse()" if is_hook else "RefusingBackward called backward()"
    assert said.startswith(wanted) and ("raise ValueError" if is_hook else "return refuse(grad)") in said


def test_two_steppers_on_one_graph_each_keep_their_own_pass() -> None:
    first, t = three_leaves()
    graph = CoreGraph([t["e"]], t)
    second = Stepper(graph.document, CorePass(graph, t["e"], None, None, False))
    second.next()
    first.reset()
    with pytest.raises(RuntimeError, match="second time"):
        first.goto(1)
    second.finish()
    assert t["a"].grad is not None and t["a"].grad.item() == 12.0
    with pytest.raises(RuntimeError, match="second time"):
        first.finish()
    assert first.step == 0 and second.is_complete
    second.goto(0)
    first.finish()  # what the second had freed is back
    assert first.is_complete


def test_back_across_an_accumulation_restores_the_very_object() -> None:
    s, t = three_leaves()
    before = t["d"].grad = av.tensor(1.0)
    s.goto(2)
    assert t["d"].grad is before and before.item() == 7.0
    s.back()
    assert t["d"].grad is before and before.item() == 1.0
    s.next()
    assert before.item() == 7.0


# -- the forward pass -------------------------------------------------------------------------------------------------


def test_positions_before_0_replay_the_forward_pass() -> None:
    s, t = three_leaves()
    s.goto(-2)
    names = {x.id: x.name for x in s.document.tensors}
    hidden = s.state.hidden
    assert {names[i] for i in hidden if i in names} == {"c", "e"}
    assert sorted(names_of(s, [i for i in hidden if i.startswith("n")])) == [
        "AccumulateGrad a", "AccumulateGrad b", "AccumulateGrad d", "MulBackward0", "MulBackward0",
    ]  # fmt: skip
    assert s.next() is None and s.step == -1
    assert {names[i] for i in s.state.hidden if i in names} == {"e"} and "c = Mul(a, b) computes 6.0" in s.sentence
    s.next()
    assert s.step == 0 and s.state.hidden == frozenset()
    assert "e = Mul(c, d) computes" in s.sentence and "The forward pass has run" in s.sentence
    s.next()
    s.back()
    assert s.sentence.startswith("The forward pass has run")
    assert t["a"].grad is None


def test_reset_goes_to_the_backward_pass_and_then_to_the_forward_pass() -> None:
    s, _ = three_leaves()
    s.finish()
    s.reset()
    assert s.step == 0
    s.reset()
    assert s.step == -2


def test_stepping_a_long_chain_costs_as_much_as_there_are_steps() -> None:
    x = av.tensor(0.5, requires_grad=True)
    y = x
    for _ in range(1000):
        y = y * 0.999
    s = stepper_of(y, {"x": x})
    s.finish()
    assert s.step == 1001 and isinstance(s.current, Step)
    s.goto(0)
    assert x.grad is None


@pytest.mark.parametrize("name", ["autograd_viz", pytest.param("torch", marks=pytest.mark.torch)])
def test_memory_that_views_share_is_held_once(name: str) -> None:
    module = pytest.importorskip(name)
    x = module.ones(1000, requires_grad=True)
    y = x.exp()
    z = y.view(10, 100)
    s = av.step((z * z).sum())
    assert s.stepper.trace.start.held == 4000
    s.finish()
    assert [step.freed for step in s.stepper.trace.steps if step.freed] == [4000]
