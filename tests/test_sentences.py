"""What is said of a step, of an op and of an error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.answers.sentences import Past, Sentences, explain_error
from autograd_viz.graph import Value
from autograd_viz.graph.trace import HookRun, Step
from autograd_viz.sources.shared.values import value_of

from .figures import figure
from .functions import Stops
from .sentences import said, sentence_after, stepped


def number(x: float) -> Value:
    return value_of(np.array(x, np.float32))


def leaf(x: Any) -> av.Tensor:
    return av.tensor(x, requires_grad=True)


def test_gradients_that_meet_are_added_up() -> None:
    a = leaf(3.0)
    assert "2 gradients are added: 3.0 + 3.0 = 6.0. AccumulateGrad sets a.grad to 6.0; it was None." in said(
        *stepped(a * a, {"a": a})
    )


def test_large_gradients_that_meet_are_said_by_their_shape() -> None:
    a = leaf(np.ones((20, 30), np.float32))
    last = said(*stepped((a * a).sum(), {"a": a}))[-1]
    assert last.startswith("2 gradients are added element by element (shape (20, 30)).")


def test_a_large_gradient_is_said_by_its_shape_and_norm() -> None:
    a = leaf(np.ones((20, 30), np.float32))
    texts = said(*stepped((a * 2).sum(), {"a": a}))
    assert (
        "sends shape (20, 30), norm 49 to AccumulateGrad (a)" in texts[1] and "a.grad to shape (20, 30), norm 49;" in texts[2]
    )
    b = leaf(np.full((3, 5), -1.0))
    assert "norm nan to" in said(*stepped(b.sqrt().sum(), {"b": b}))[1]


def test_a_hundred_gradients_that_meet_are_counted() -> None:
    a = leaf(1.0)
    last = said(*stepped(av.stack([a] * 100).sum(), {"a": a}))[-1]
    assert last == "100 gradients are added; their sum is 100.0. AccumulateGrad sets a.grad to 100.0; it was None."


def test_the_sum_is_what_met_and_not_what_a_hook_made_of_it() -> None:
    a = leaf(3.0)
    document, (first, last) = stepped(a * a, {"a": a})
    hooked = replace(
        last, grad_outputs=(number(60.0),), hooks=(HookRun("tensor", "times_ten", last.grad_outputs[0], number(60.0)),)
    )
    text = said(document, (first, hooked))[1]
    assert "3.0 + 3.0 = 6.0. The tensor hook times_ten changed the gradient: 6.0 → 60.0." in text


def test_a_node_says_what_arrived_before_hooks_and_what_they_did() -> None:
    a = leaf(3.0)
    document, (first, last) = stepped(a * 4, {"a": a})
    hooks = (
        HookRun("tensor", "look", number(1.0), number(1.0)),
        HookRun("pre", "double", number(1.0), number(2.0)),
        HookRun("post", "negate", number(8.0), number(-8.0)),
    )
    text = said(document, (replace(first, grad_outputs=(number(2.0),), grad_inputs=(number(-8.0), None), hooks=hooks), last))[0]
    assert text == (
        "MulBackward0 receives 1.0. The tensor hook look saw 1.0 and did not change it. "
        "The node prehook double changed the gradient: 1.0 → 2.0. The node hook negate changed the gradient: 8.0 → -8.0. "
        "It sends -8.0 to AccumulateGrad (a). Input 1 needs no gradient. Freed: other."
    )


def test_a_hook_that_keeps_nan_has_changed_nothing() -> None:
    a = leaf(3.0)
    document, (first, last) = stepped(a * 4, {"a": a})
    nan = HookRun("tensor", "look", number(np.nan), number(np.nan))
    assert "look saw nan and did not" in said(document, (replace(first, hooks=(nan,)), last))[0]


def test_an_edited_gradient_is_said_instead_of_a_sum() -> None:
    a = leaf(3.0)
    document, (first, last) = stepped(a * a, {"a": a})
    text = said(document, (first, replace(last, grad_outputs=(number(7.0),), edited=(0,))))[1]
    assert text.startswith("You set the gradient to 7.0. AccumulateGrad")


class TwoOutputs(av.autograd.Function):
    """x * 2 and x * 3."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2, x * 3

    @staticmethod
    def backward(ctx: Any, first: Any, second: Any) -> Any:
        return first + second


def test_a_function_that_returns_none_is_told_from_an_output_nobody_used() -> None:
    a = leaf(3.0)
    first, second = TwoOutputs.apply(a * 1)
    texts = said(*stepped(Stops.apply(first) + second, {"a": a}))
    assert any("It sends no gradient to TwoOutputsBackward; it counts as zero." in t for t in texts)
    assert any("No gradient was sent to output 0; it counts as zero." in t for t in texts)
    _, alone = TwoOutputs.apply(a * 1)
    assert any("No op used output 0;" in t for t in said(*stepped(alone, {"a": a})))


def test_none_all_the_way_changes_nothing() -> None:
    a = leaf(3.0)
    texts = said(*stepped(Stops.apply(a * 2), {"a": a}))
    assert texts[-1] == "AccumulateGrad receives no gradient, so nothing changes."
    assert a.grad is None


def test_much_freed_memory_is_said_in_bytes() -> None:
    a = leaf(3.0)
    document, (first, last) = stepped(a * 4, {"a": a})
    assert "Freed: other (1.2 MB)." in said(document, (replace(first, freed=1_200_000), last))[0]
    assert "Freed: other." in said(document, (replace(first, freed=4), last))[0]


def test_a_recorded_pass_says_so() -> None:
    a = leaf(3.0)
    first, last = said(*stepped(a * a, {"a": a}, create_graph=True), recorded=True)
    assert "recorded (create_graph=True)" in first and "recorded" not in last


def test_sentences_follow_a_trace_that_is_cut_and_goes_another_way() -> None:
    a = leaf(3.0)
    document, steps = stepped((a * a) * a, {"a": a})
    past, writer = Past(document), Sentences(document)

    def last(*steps: Step) -> str:
        return sentence_after(past, writer, steps)

    there = [last(*steps[: i + 1]) for i in range(len(steps))]
    other = (replace(steps[0], grad_inputs=(number(100.0), number(1.0))), *map(replace, steps[1:]))
    again = [last(*other[: i + 1]) for i in range(len(other))]
    assert "9.0 + 9.0 + 9.0" in there[-1] and "1.0 + 9.0 + 9.0" in again[-1]
    assert last(*steps) == there[-1]
    assert last(*other) == again[-1]
    same_length = (steps[0], replace(steps[1], grad_inputs=(number(7.0), number(9.0))))
    last(*steps)
    assert "9.0 + 7.0 + 9.0" in last(*same_length, steps[-1])


def test_the_forward_pass_is_told_op_by_op() -> None:
    root, names = figure(3, before=True)
    document, _ = stepped(root, names)
    writer = Sentences(document)
    assert [writer.forward(k) for k in (-2, -1, 0)] == [
        "The graph starts with a = 2.0 (a leaf that requires grad), b = 3.0 (a leaf that requires grad) and "
        "d = 4.0 (a leaf that requires grad).",
        "c = Mul(a, b) computes 6.0 and saves other and self for backward. MulBackward0 is created.",
        "e = Mul(c, d) computes 24.0 and saves other and self for backward. MulBackward0 is created.",
    ]
    with pytest.raises(IndexError, match="positions -2 to 0"):
        writer.forward(-3)


def test_a_change_through_a_view_is_told_of_what_it_is_a_view_of() -> None:
    a = leaf([1.0, 2.0])
    b = a * 1
    v = b[1]
    v.mul_(10)
    s = av.step(b.sum())
    assert "Mul(v (v0), 10) writes into b through a view. b is now [1.0, 20.0]." in s.stepper.forward_sentence(-1)


def test_an_op_that_records_nothing_says_why() -> None:
    a, plain = leaf([1.0, 2.0]), av.tensor([1.0, 2.0])
    sign, cut, twice = a > 1.5, a.detach(), plain * 2
    late = av.tensor([1.0, 2.0])
    off = late * 3
    late.requires_grad = True
    root = (a * sign * cut * twice * off).sum()
    names = {"a": a, "plain": plain, "sign": sign, "cut": cut, "twice": twice, "late": late, "off": off}
    document, _ = stepped(root, names)
    writer = Sentences(document)
    texts = " | ".join(writer.forward(k) for k in range(-len(document.ops), 1))
    assert "sign = Gt(a, 1.5) computes [False, True]. No node is created: bool tensors have no gradient." in texts
    assert "cut = Detach(a) computes [1.0, 2.0]. No node is created: Detach detaches its result from the graph." in texts
    assert "twice = Mul(plain, 2) computes [2.0, 4.0]. No node is created: no input requires grad." in texts
    assert (
        "off = Mul(late, 3) computes [3.0, 6.0]. No node is created: grad mode was off, or no input required grad yet." in texts
    )


def test_errors_of_autograd_are_explained() -> None:
    a = leaf(3.0)
    b = a * a
    b.backward()
    with pytest.raises(RuntimeError) as freed:
        b.backward()
    assert explain_error(str(freed.value), "MulBackward0").startswith("An earlier backward pass freed what MulBackward0 saved")
    c = (a * 1) * (a * 1)
    d = a.exp()
    c = d * d
    d += 1
    with pytest.raises(RuntimeError) as modified:
        c.backward()
    assert "was modified in place" in explain_error(str(modified.value))
    with pytest.raises(RuntimeError) as on_leaf:
        a += 1
    assert explain_error(str(on_leaf.value)).startswith("A leaf that requires grad was changed in place")
    with pytest.raises(RuntimeError) as on_view:
        a.view(1).add_(1)
    assert explain_error(str(on_view.value)).startswith("A view of a leaf")
    with pytest.raises(RuntimeError) as no_graph:
        av.tensor(1.0).backward()
    assert "no graph" in explain_error(str(no_graph.value))
    with pytest.raises(RuntimeError) as not_scalar:
        leaf([1.0, 2.0]).backward()
    assert "sum() first" in explain_error(str(not_scalar.value))
    assert explain_error("KeyError: 'x'") == ""


def test_sentences_are_in_the_chosen_language() -> None:
    root, names = figure(3, before=True)
    document, steps = stepped(root, names)
    av.set_language("zh")
    try:
        assert said(document, steps)[:2] == [
            "MulBackward0 (e) 收到 1.0。它传出：4.0 → MulBackward0 (c)、6.0 → AccumulateGrad (d)。已释放：other、self。",
            "AccumulateGrad 把 d.grad 设为 6.0，原来是 None。",
        ]
    finally:
        av.set_language("en")


def test_two_nodes_of_one_name_are_told_apart_by_the_call_of_their_op() -> None:
    x = leaf(3.0)
    first = said(*stepped(x * x + 2 * x, {"x": x}))[0]
    assert "It sends 1.0 to MulBackward0 (Mul(x, x)) and 1.0 to MulBackward0 (Mul(x, 2))." in first
    end = x * x * x  # it sends to one MulBackward0
    assert "MulBackward0 (end) receives 1.0. It sends 3.0 to MulBackward0 and" in said(*stepped(end, {"x": x, "end": end}))[0]


def test_nodes_that_nothing_tells_apart_are_counted_and_one_node_that_gets_two_is_not() -> None:
    x, y = leaf(2.0), leaf(3.0)
    (gradient,) = av.autograd.grad(x * x * y, x, create_graph=True)
    assert "It sends 1.0 to each of 2 MulBackward0 nodes." in said(*stepped(gradient, {"x": x, "y": y}))[0]
    half = x * y
    sentences = said(*stepped(half * half, {"x": x, "y": y, "half": half}))
    assert "6.0 to MulBackward0 (half) and 6.0 to MulBackward0 (half)" in sentences[0]
    assert "each of" not in " ".join(sentences)
