"""The cursor: what each step says and does, and that Back takes all of it back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import autograd_viz as av
from autograd_viz.graph import state_at
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.stepper import Stepper

from .figures import figure
from .functions import moody
from .programs import Program, programs
from .steppers import stepper_of


def stepper_on(number: int) -> tuple[Stepper, dict[str, Any]]:
    root, names = figure(number, before=True)
    return stepper_of(root, names), names


def test_steps_say_what_happened_with_numbers() -> None:
    s, _ = stepper_on(3)
    said = [s.sentence]
    while s.next():
        said.append(s.sentence)
    assert said == [
        "The forward pass has run. Next calls MulBackward0 with the first gradient.",
        "MulBackward0 (e) receives 1.0. It sends 4.0 to MulBackward0 (c) and 6.0 to AccumulateGrad (d). Freed: other, self.",
        "AccumulateGrad sets d.grad to 6.0; it was None.",
        "MulBackward0 (c) receives 4.0. It sends 12.0 to AccumulateGrad (a) and 8.0 to AccumulateGrad (b). Freed: other, self.",
        "AccumulateGrad sets a.grad to 12.0; it was None.",
        "AccumulateGrad sets b.grad to 8.0; it was None. The backward pass is complete.",
    ]


def test_the_first_gradient_arrives_along_the_grad_fn_of_the_root_and_no_later_one() -> None:
    s, _ = stepper_on(3)
    s.finish()
    root = next(t.id for t in s.document.tensors if t.id in s.document.roots)
    arrived = [[c.after and c.after.numbers for c in step.changes if c.at == f"grad_fn:{root}"] for step in s.trace.steps]
    assert arrived == [[(1.0,)], [], [], [], []]


def test_formulas_are_the_rule_that_ran_in_symbols_and_numbers() -> None:
    s, _ = stepper_on(3)
    s.next()
    assert s.current is not None
    assert [(f.input, f.text) for f in s.current.formulas] == [
        ("self", "grad * other = 1.0 * 4.0 = 4.0"),
        ("other", "grad * self = 1.0 * 6.0 = 6.0"),
    ]


def test_where_gradients_meet_the_sentence_adds_them_up() -> None:
    s, _ = stepper_on(6)
    s.finish()
    said = " ".join(step.sentence for step in s.trace.steps)
    assert "DivBackward0 (i) receives 18.0. 2 gradients are added: 10.0 + 8.0 = 18.0. retain_grad() keeps it in i.grad" in said
    assert "2 gradients are added: 8.0 + -72.0 = -64.0. AccumulateGrad sets h.grad to -64.0; it was None." in said


def test_accumulating_into_an_existing_grad_shows_the_sum() -> None:
    s, names = stepper_on(2)
    names["a"].grad = av.tensor(5.0)
    s.finish()
    assert s.trace.steps[-1].sentence == "AccumulateGrad adds to a.grad: 5.0 + 3.0 = 8.0."
    assert names["a"].grad.item() == 8.0


def test_broadcasting_undone_is_said_and_in_the_formula() -> None:
    a, b = av.tensor([1.0, 2.0], requires_grad=True), av.tensor(3.0, requires_grad=True)
    s = stepper_of((a * b).sum(), {"a": a, "b": b})
    s.goto(2)
    assert s.current is not None
    assert "3.0 to AccumulateGrad (b) (the input was broadcast: shape (2,) is summed to shape ())" in s.sentence
    assert s.current.formulas[1].text == "grad * self = [1.0, 1.0] * [1.0, 2.0] = [1.0, 2.0], summed to shape (): 3.0"


def test_an_unused_output_is_said() -> None:
    a = av.tensor([1.0, 2.0], requires_grad=True)
    s = stepper_of(a.unbind()[1], {"a": a})
    s.next()
    assert "No op used output 0; the missing gradient counts as zero." in s.sentence
    assert s.current is not None and s.current.formulas[0].text.startswith("stack(grads, 0) = stack([zeros(()), 1.0]")


def test_back_restores_grads_values_and_objects_and_saved_tensors() -> None:
    s, names = stepper_on(3)
    a, c = names["a"], names["c"]
    a.grad = old = av.tensor(100.0)
    s.finish()
    assert a.grad is old and old.item() == 112.0
    s.reset()
    assert a.grad is old and old.item() == 100.0 and old._version == 0
    assert names["d"].grad is None and c.grad_fn._saved_self is a
    s.goto(3)
    with pytest.raises(RuntimeError, match="a second time"):
        _ = c.grad_fn._saved_self
    s.finish()
    assert old.item() == 112.0


def test_after_back_show_has_no_numbers_on_the_arrows() -> None:
    s, names = stepper_on(3)
    s.finish()
    s.reset()
    assert CoreGraph([names["e"]], names).past().values == {}


def test_a_stepped_pass_ends_as_backward_ends() -> None:
    s, stepped = stepper_on(6)
    s.finish()
    _, ran = figure(6)
    for name in "cdefghi":
        mine, theirs = stepped[name]._grad, ran[name]._grad
        assert (mine is None) == (theirs is None)
        assert mine is None or mine.item() == theirs.item()
    document = [CoreGraph([n["k"]], n) for n in (stepped, ran)]
    assert document[0].document.nodes == document[1].document.nodes
    assert document[0].past() == document[1].past()


@given(programs())
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_stepping_there_and_back_and_there_is_backward(program: Program) -> None:
    """Random programs: grads after finish equal backward's; after reset nothing is left; a second finish agrees."""
    (leaves, pool), (other, other_pool) = program.run(av), program.run(av)
    root, other_root = pool[-1].sum(), other_pool[-1].sum()
    if not root.requires_grad:
        return
    s = stepper_of(root, {f"x{i}": x for i, x in enumerate(leaves)})
    other_root.backward()
    for _ in range(2):
        s.finish()
        assert s.is_complete
        for x, y in zip(leaves, other, strict=True):
            assert str(x.grad) == str(y.grad)
        s.reset()
        assert all(x.grad is None for x in leaves)
    start = dict.fromkeys(state_at(s.trace, len(s.trace.steps)).values)
    undone = {c.at: c.before for step in reversed(s.trace.steps) for c in step.changes}
    assert {at for at in start if ":" in at} == {at for at, before in undone.items() if ":" in at and before is None}


def test_moves_beyond_the_ends_stay_there() -> None:
    s, _ = stepper_on(2)
    for _ in range(3):
        s.back()
    assert s.step == s.first == -1
    s.goto(99)
    assert s.step == 2 and s.is_complete and s.next() is None and s.step == 2
    with pytest.raises(ValueError, match=r"step must be at least -1 .*, got -2"):
        s.goto(-2)


def test_a_node_that_raises_leaves_the_stepper_usable() -> None:
    function, moods = moody()
    a = av.tensor(3.0, requires_grad=True)
    s = stepper_of(function.apply(a) * 5, {"a": a})
    s.next()
    for _ in range(2):
        with pytest.raises(ValueError, match="not today"):
            s.next()
        assert s.step == 1 and a.grad is None
    s.back()
    moods.clear()
    s.finish()
    assert a.grad.item() == 10.0


def test_create_graph_can_be_stepped() -> None:
    x = av.tensor(2.0, requires_grad=True)
    s = stepper_of(x * x * x, {"x": x}, create_graph=True)
    s.finish()
    assert x.grad.item() == 12.0 and x.grad.requires_grad
    s.reset()
    assert x.grad is None


def test_a_gradient_can_be_given_for_several_elements() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    s = stepper_of(y, {"x": x, "y": y}, gradient=av.tensor([1.0, 10.0]))
    s.finish()
    assert x.grad.tolist() == [2.0, 40.0]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        stepper_of(x * x, {})


def test_a_leaf_can_be_the_root() -> None:
    x = av.tensor(2.0, requires_grad=True)
    s = stepper_of(x, {"x": x})
    s.finish()
    assert x.grad.item() == 1.0 and len(s.trace.steps) == 1


def test_a_long_queue_is_listed_up_to_a_hundred_nodes() -> None:
    leaves = [av.tensor(float(i), requires_grad=True) for i in range(150)]
    stepper = av.step(av.stack([x * 2.0 for x in leaves]).sum()).stepper
    stepper.next()
    stepper.next()
    assert len(stepper.current.engine.queue) == 100


def test_without_grad_the_forward_pass_is_stepped_and_nothing_is_run() -> None:
    a, b = av.tensor(2.0), av.tensor(3.0)
    c = a * b
    d = c + 1
    s = av.step(d)
    assert (s.step, s.stepper.first, s.complete) == (0, -2, True)
    assert s.sentence.startswith("The forward pass has run. No backward pass follows, because the result does not require grad")
    assert s.next() is None and s.step == 0
    s.reset()
    assert s.sentence == "The graph starts with a = 2.0 and b = 3.0."
    s.goto(-1)
    assert s.sentence == "c = Mul(a, b) computes 6.0. No node is created: no input requires grad."
    s.goto(0)
    assert s.step == 0 and "Run the cell to step" in s.still()["text/plain"] and s.picture["total"] == 0
    assert [p["op"] for p in s.picture["forward"]] == ["", "o0", "o1"]
    with pytest.raises(av.AutogradVizError, match="no gradient to edit"):
        s.edit(1.0)


def test_what_no_op_made_and_what_gets_a_first_gradient_is_refused_as_by_pytorch() -> None:
    c = av.tensor(2.0) * 3
    for asked in (lambda: av.step(av.tensor(1.0)), lambda: av.step(c, av.tensor(1.0))):
        with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
            asked()


@pytest.mark.torch
def test_a_recorded_forward_pass_of_pytorch_is_stepped_without_grad() -> None:
    torch = pytest.importorskip("torch")
    a = torch.tensor(2.0)
    with av.record():
        c = a * 3
    s = av.step(c)
    s.back()
    assert s.sentence == "The graph starts with a = 2.0." and s.complete
    with pytest.raises(RuntimeError, match="does not require grad"):
        av.step(a * 3)  # nobody has recorded its ops
