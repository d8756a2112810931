"""Why a tensor's grad is what it is: at the start and after each step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import autograd_viz as av
from autograd_viz.answers.causes.why import Why
from autograd_viz.answers.sentences.past import Past
from autograd_viz.graph.trace import HookRun, Trace
from autograd_viz.sources.shared.values import value_of
from autograd_viz.sources.twin.graph import CoreGraph

from ..figures import figure
from ..functions import Stops
from ..programs import Program, programs
from ..sentences import finally_why, said, stepped, whys


def leaf(x: Any) -> av.Tensor:
    return av.tensor(x, requires_grad=True)


def test_tensors_without_a_gradient_say_why() -> None:
    a, plain = leaf([1.0, 2.0]), av.tensor([1.0, 2.0])
    mask, cut, twice = a > 1.5, a.detach(), plain * 2
    y = a * mask * cut * twice
    names = {"a": a, "plain": plain, "mask": mask, "cut": cut, "twice": twice, "y": y}
    start = whys(*stepped(y.sum(), names))[0]
    assert start["plain"] == "grad is None: requires_grad is False, so no gradient is computed."
    assert "the dtype is bool. Only floating point and complex tensors can require grad." in start["mask"]
    assert start["cut"] == "grad is None: Detach detached it from the graph."
    assert "No input of Mul required grad" in start["twice"]
    assert start["y"].startswith("grad is None: it is not a leaf. MulBackward0 passes the gradient on")


def test_a_leaf_of_another_graph_is_not_reached() -> None:
    a, b = leaf(2.0), leaf(3.0)
    cut = (b * b).detach()
    assert whys(*stepped(a * cut, {"a": a, "b": b}))[0]["b"].startswith(
        "grad is None: no path leads from the root of this pass to it. detach() cut the path from b to the loss"
    )


def test_a_leaf_says_what_it_waits_for() -> None:
    a = leaf(3.0)
    c = a * 2
    found = whys(*stepped(c * a, {"a": a, "c": c}))
    assert [w["a"] for w in found if "a" in w] == [
        "grad is None: AccumulateGrad waits for gradients; 0 of 2 have arrived.",
        "grad is None: AccumulateGrad waits for gradients; 1 of 2 have arrived.",
        "grad is None: AccumulateGrad is ready but has not run yet.",
        "grad is 12.0: 12.0 arrived in step 3, and grad was None.",
    ]
    assert found[2]["c"] == (
        "grad is None: 3.0 arrived in step 2, and MulBackward0 passed it on. Call retain_grad() to keep it."
    )


class KeepsFirst(av.autograd.Function):
    """Two outputs; the gradient of the second is left out."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        return first


def keeps_first(a: av.Tensor) -> Any:
    first, second = KeepsFirst.apply(a)
    return first * 0 + second


FINALLY: dict[str, tuple[Any, Callable[[Any], Any], tuple[str, ...], tuple[str, ...]]] = {  # value, root; said, not said
    "a dead relu": (
        [-1.0, -2.0], lambda a: (a * 3).relu().sum(),
        ("all zero: in step 2, ReluBackward0 received", "passes no gradient where its input is 0 or negative."), (),
    ),
    "tiny factors, which are not zero": (1e-30, lambda a: a * av.tensor(1e-30) * 1e-20, ("zero",), ("a value that is 0",)),
    "gradients that cancel": (
        3.0, lambda a: (c := a * 1) * 2 - c * 2, ("the gradients added before MulBackward0", "cancel."), (),
    ),
    "a zero among gradients that cancel": (3.0, lambda a: (c := a * 1) * 0 + c * 2 - c * 2, ("cancel.",), ()),
    "one of two gradients that arrived was not zero": (3.0, keeps_first, ("all zero: in step",), ()),
    "an inf": (0.0, lambda a: (a * 2).sqrt() * 1, ("The inf comes from SqrtBackward0 in step 2",), ("nan",)),
    "a nan": (0.0, lambda a: (a * 0).sqrt(), ("The nan comes from MulBackward0 in step 2",), ("inf",)),
    "no gradient": (3.0, Stops.apply, ("grad is None: AccumulateGrad ran in step 2 without a gradient.",), ()),
}  # fmt: skip


@pytest.mark.parametrize("case", FINALLY)
def test_what_a_gradient_came_to_be(case: str) -> None:
    value, root, parts, others = FINALLY[case]
    a = leaf(value)
    text = finally_why(*stepped(root(a), {"a": a}))["a"]
    assert all(part in text for part in parts) and not any(part in text for part in others), text


def test_a_factor_of_zero_is_named_though_the_other_factor_has_a_gradient() -> None:
    a, b = leaf(3.0), leaf(0.0)
    found = finally_why(*stepped(a.exp() * b, {"a": a, "b": b}))
    assert "all zero: in step 1, MulBackward0 received" in found["a"] and "multiplies the gradient by 0" in found["a"]
    assert "zero" not in found["b"]


def test_before_the_pass_the_node_that_must_run_first_is_named() -> None:
    a = leaf(3.0)
    assert whys(*stepped(a.exp(), {"a": a}))[0]["a"] == (
        "grad is None: the backward pass has not reached it. ExpBackward0 must run first."
    )


@pytest.mark.parametrize(("before", "said"), [
    (5.0, "grad is 8.0: step 2 added 3.0 to 5.0. 5.0 + 3.0 = 8.0."),
    (float("nan"), "The nan was in grad before; the new gradient has none."),
])  # fmt: skip
def test_what_was_there_already_is_told_apart(before: float, said: str) -> None:
    a = leaf(2.0)
    a.grad = av.tensor(before)
    assert finally_why(*stepped(a * 3, {"a": a}))["a"].endswith(said)


def test_a_first_gradient_of_zero_is_named() -> None:
    a = leaf(3.0)
    assert "because the first gradient was" in finally_why(*stepped(a * 2, {"a": a}, gradient=av.tensor(0.0)))["a"]


def test_a_retained_gradient_says_so() -> None:
    root, names = figure(4, before=True)
    assert finally_why(*stepped(root, names))["c"] == (
        "grad is 4.0: it arrived at MulBackward0 in step 3, and retain_grad() kept it."
    )


def test_the_root_is_ready_at_once() -> None:
    a = leaf(3.0)
    y = a * 2
    y.retain_grad()
    assert whys(*stepped(y, {"y": y}))[0]["y"] == "grad is None: MulBackward0 is ready but has not run yet."


def test_a_hook_that_changed_the_gradient_is_named() -> None:
    a = leaf(3.0)
    document, (first, last) = stepped(a * 2, {"a": a})
    zero = value_of(np.array(0.0, np.float32))
    hook = HookRun("tensor", "stop", last.grad_outputs[0], zero)
    text = finally_why(document, (first, replace(last, grad_outputs=(zero,), hooks=(hook,))))["a"]
    assert "The tensor hook stop changed 2.0 to 0.0 in step 2." in text and "all zero" not in text


def test_what_a_post_accumulate_hook_did_is_told_apart_from_the_sum() -> None:
    a = av.tensor(2.0, requires_grad=True)
    a.grad = av.tensor(1.0)

    def scale(p: av.Tensor) -> None:
        assert p.grad is not None
        p.grad.mul_(10)

    a.register_post_accumulate_grad_hook(scale)
    s = av.step(a * 3)
    s.finish()
    assert "adds to a.grad: 1.0 + 3.0 = 4.0." in s.sentence and "4.0 → 40.0" in s.sentence
    assert "1.0 + 3.0 = 4.0" in s.frames[-1]["why"]["t0"] and s.frames[-1]["why"]["t0"].startswith("grad is 40.0")

    b = av.tensor(2.0, requires_grad=True)

    def take(p: av.Tensor) -> None:
        p.grad = None

    b.register_post_accumulate_grad_hook(take)
    s = av.step(b * 3)
    s.finish()
    assert "AccumulateGrad sets b.grad to 3.0; it was None." in s.sentence and "take set grad to None" in s.sentence
    assert s.frames[-1]["why"]["t0"].startswith("grad is None: 3.0 arrived in step 2, then a post-accumulate hook set")


def test_retain_grad_adds_to_what_was_there() -> None:
    a = av.tensor(2.0, requires_grad=True)
    b = a * 3
    b.retain_grad()
    c = b * b
    c.backward(retain_graph=True)
    s = av.step(c)
    s.goto(2)
    assert "retain_grad() adds it to b.grad: 12.0 becomes 24.0." in s.sentence


def test_a_hook_further_up_is_named_as_the_origin() -> None:
    a = leaf(3.0)
    document, steps = stepped((a * 2) * 2, {"a": a})
    zero = value_of(np.array(0.0, np.float32))
    hook = HookRun("pre", "stop", steps[1].grad_outputs[0], zero)
    hooked = replace(steps[1], grad_outputs=(zero,), grad_inputs=(zero, None), hooks=(hook,))
    last = replace(steps[2], grad_outputs=(zero,))
    text = finally_why(document, (steps[0], hooked, last))["a"]
    assert "because a hook at MulBackward0 set it to zero in step 2" in text


def test_a_freed_graph_says_that_nothing_will_come() -> None:
    a = leaf(3.0)
    c = a * a
    c.backward()
    start = Why(CoreGraph([c], {"a": a}).document).at_start()
    assert "saved tensors of this graph are freed" in start["t0"]


def test_a_tensor_that_was_cut_off_is_told_where() -> None:
    a, b = leaf(3.0), leaf(2.0)
    c = a * 2
    start = Why(CoreGraph([c.detach() * b], {"a": a, "b": b, "c": c}).document).at_start()
    by_name = {t.name: start[t.id] for t in CoreGraph([c.detach() * b], {"a": a, "b": b, "c": c}).document.tensors}
    assert "detach() cut the path from a to the loss" in by_name["a"] and "detach() cut the path from c" in by_name["c"]
    assert "cut" not in by_name["b"]


def test_going_another_way_after_a_cut_explains_that_way() -> None:
    a = leaf([-1.0, 2.0])
    document, steps = stepped((a * 3).relu().sum(), {"a": a})
    why = Why(document)
    for i, step in enumerate(steps):
        why.after(step, Trace(steps[:i]))
    zero = value_of(np.zeros(2, np.float32))
    gone = replace(steps[2], grad_outputs=(zero,), grad_inputs=(zero, None))
    other = [steps[0], replace(steps[1], grad_inputs=(zero,)), gone]
    texts = [why.after(step, Trace(tuple(other[:i]))) for i, step in enumerate(other)]
    assert "all zero: in step 2, ReluBackward0 received" in str(texts[2])


@given(programs())
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
def test_any_program_is_explained_and_told_at_every_step(program: Program) -> None:
    leaves, pool = program.run(av)
    root = pool[-1].sum()
    if not root.requires_grad:
        return
    document, steps = stepped(root, {f"x{i}": x for i, x in enumerate(leaves)})
    answers = whys(document, steps)
    assert set(answers[0]) == {t.name for t in document.tensors} and all(said(document, steps))
    reached = {s.accumulation.tensor for s in steps if s.accumulation}
    for t in document.tensors:
        if t.id in reached:
            assert any(text.startswith("grad is ") or text.startswith("grad has ") for w in answers[1:] for text in w.values())


def test_every_step_of_a_long_pass_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    monkeypatch.setattr(Past, "add", lambda self, step, add=Past.add: (looked.append(step), add(self, step))[1])
    x = y = leaf(1.0)
    for _ in range(100):
        y = y * x
    document, steps = stepped(y, {"x": x})
    said(document, steps)
    whys(document, steps)
    assert len(steps) == 101 and len(looked) == 2 * len(steps) - 1
