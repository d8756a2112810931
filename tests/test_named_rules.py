"""The rules of a step in the user's names: what stands for what, brackets, sums, and arrays by their addresses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.answers.sentences.named import Operand, rewritten, terms_of
from autograd_viz.graph.codec import recording_from_json, recording_to_json
from autograd_viz.graph.trace import NamedRule, Step, Term
from autograd_viz.stepper import Stepper
from autograd_viz.stepper.recorded import Recording

from .figures import figure
from .steppers import stepper_of

KNOWN = {
    "grad": Operand("gradient of c", "grad_outputs.0", is_phrase=True),
    "mat2": Operand("w", "saved.mat2"),
    "sum": Operand("s", "saved.sum"),
}


def ended(root: Any, **names: Any) -> Stepper:
    stepper = stepper_of(root, names)
    stepper.finish()
    return stepper


def told(stepper: Stepper) -> list[str]:
    return [rule.text for step in stepper.trace.steps for rule in step.named]


def leaf(data: Any) -> Any:
    return av.tensor(data, requires_grad=True)


def test_a_rule_has_the_names_of_the_program() -> None:
    root, names = figure(3, before=True)
    assert told(ended(root, **names)) == [
        "to c: (gradient of e) × d = 1.0 × 4.0 = 4.0",
        "to d: (gradient of e) × c = 1.0 × 6.0 = 6.0",
        "to a: (gradient of c) × b = 4.0 × 3.0 = 12.0",
        "to b: (gradient of c) × a = 4.0 × 2.0 = 8.0",
    ]


def test_what_adds_is_written_so() -> None:
    a, b = leaf(2.0), leaf(3.0)
    a.grad = av.tensor(5.0)
    c = a * b
    rules = told(ended(c * a + c, a=a, b=b, c=c))
    assert "to c: gradient of Add(…, c) = 1.0" in rules
    assert "to c: (gradient of Mul(c, a)) × a = 1.0 × 2.0 = 2.0" in rules
    assert "to a: (gradient of c) × b = 3.0 × 3.0 = 9.0" in rules
    assert "gradient of c = 1.0 + 2.0 = 3.0" in rules
    assert "gradient of a = 6.0 + 9.0 = 15.0" in rules
    assert "a.grad = 5.0 + 15.0 = 20.0" in rules


def test_large_gradients_that_are_added_are_named_by_the_node_that_sent_them() -> None:
    x = leaf([[1.0] * 20] * 20)
    y = x * 2.0
    z = x.exp()
    rules = told(ended((y * z).sum(), x=x, y=y, z=z))
    assert "x.grad = from ExpBackward0 (z) + from MulBackward0 (y)" in rules


def test_two_results_of_one_expression_have_the_names_of_their_node() -> None:
    x = leaf(0.5)
    h = x
    for _ in range(4):
        h = av.sigmoid(h)
    assert [rule.split(" = ")[:-2] for rule in told(ended(h, x=x, h=h))] == [
        ["to Sigmoid(…): (gradient of h) × (1 - h) × h"],
        ["grad_self", "grad × (1 - result) × result"],
        ["to Sigmoid(x): (gradient of Sigmoid(…)) × (1 - Sigmoid(…)) × Sigmoid(…)"],
        ["to x: (gradient of Sigmoid(x)) × (1 - Sigmoid(x)) × Sigmoid(x)"],
    ]


def test_a_number_of_the_program_stands_as_itself() -> None:
    a = leaf(1.0)
    assert told(ended(a * 2, a=a)) == ["to a: (gradient of Mul(a, 2)) × 2 = 1.0 × 2 = 2.0"]


def test_matrices_are_given_by_their_addresses() -> None:
    x, w = (av.randn(*shape, requires_grad=True) for shape in ((3, 2), (2, 4)))
    h = x @ w
    step = ended(h.sum(), x=x, w=w, h=h).trace.steps[1]
    came, x_rule, w_rule = (
        Term("gradient of h", "grad_outputs.0"),
        "to x: (gradient of h) · wᵀ",
        "to w: xᵀ · (gradient of h)",
    )
    assert step.named == (
        NamedRule(x_rule, "grad_inputs.0", (came, Term("wᵀ", "saved.mat2", True)), "·"),
        NamedRule(w_rule, "grad_inputs.1", (Term("xᵀ", "saved.self", True), came), "·"),
    )


def test_undone_broadcasting_is_said() -> None:
    a, b = leaf([1.0, 2.0]), leaf(3.0)
    y = a * b
    rules = told(ended(y.sum(), a=a, b=b, y=y))
    assert rules[2] == "to b: (gradient of y) × a = [1.0, 1.0] × [1.0, 2.0] = [1.0, 2.0], summed to 3.0"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("grad", "gradient of c"),
        ("-grad", "-(gradient of c)"),
        ("sum(grad, 1, keepdim=True)", "sum(gradient of c, 1, keepdim=True)"),
        ("grad * (2 * mat2 ** 1e-05)", "(gradient of c) × (2 × w ** 1e-05)"),
        ("sum / 2 + self", "s / 2 + self"),
        ("t(grad) @ mT(mat2)", "(gradient of c)ᵀ · wᵀ"),
        ("at(grad, mat2=mat2)", "at(gradient of c, mat2=w)"),
    ],
)
def test_names_are_replaced_word_by_word(rule: str, text: str) -> None:
    assert rewritten(rule, KNOWN) == text


def test_the_form_of_a_rule() -> None:
    assert terms_of("grad @ t(mat2)", KNOWN) == ((Term("gradient of c", "grad_outputs.0"), Term("wᵀ", "saved.mat2", True)), "·")
    assert terms_of("grad @ t(self)", KNOWN) == ((), "")
    assert terms_of("expand(grad, (6, 3))", KNOWN) == ((Term("gradient of c", "grad_outputs.0"),), "")
    assert [terms_of(rule, KNOWN)[1] for rule in ("sum(grad * mat2, 1)", "grad * (mat2 > 0)", "ger(grad, mat2)")] == [
        ",",
        "∘",
        "⊗",
    ]


def test_a_recording_keeps_its_rules_and_an_old_one_gets_them() -> None:
    root, names = figure(3, before=True)
    stepper = ended(root, **names)
    old = replace(stepper.trace, steps=tuple(replace(step, named=()) for step in stepper.trace.steps))
    for trace in (stepper.trace, old):
        again = Recording(*recording_from_json(recording_to_json(stepper.document, trace))).stepper()
        again.finish()
        assert told(again) == told(stepper) != []


def test_chinese() -> None:
    root, names = figure(3, before=True)
    av.set_language("zh")
    try:
        assert told(ended(root, **names))[0] == "传给 c：(e 的梯度) × d = 1.0 × 4.0 = 4.0"
    finally:
        av.set_language("en")


def test_a_second_derivative_has_rules_too() -> None:
    a = leaf(3.0)
    (slope,) = av.autograd.grad(a**2, a, create_graph=True)
    rules = told(ended(slope, a=a, slope=slope))
    assert any(rule.startswith("to a: ") and rule.endswith("= 2.0") for rule in rules)
    assert not any("grad_" in rule for rule in rules)


def test_a_step_without_a_known_rule_has_none() -> None:
    assert Step("n0", "").named == ()
