"""Questions of the notebooks: the real graph answers, what is said fits what was given, nothing is left behind."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.lessons import QuestionWidget, Verdict, answers, ask, beside, heat, plot
from autograd_viz.lessons.question import judge, read
from autograd_viz.lessons.widget import judging


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    av.set_language("en")


def leaf(value: Any) -> av.Tensor:
    return av.tensor(value, requires_grad=True)


def states(question: QuestionWidget, *given: Any) -> list[str]:
    """The responses to several answers, each as if it were the second one."""
    return [judged(question, g).state for g in given]


def judged(question: QuestionWidget, given: Any) -> Verdict:
    question._failed = 1
    return question.answer(given)


def test_the_grad_asked_for_is_that_of_the_real_pass_and_the_pass_is_taken_back() -> None:
    a, b = leaf(2.0), av.tensor(3.0)
    c = a * b
    question = ask.grad(a, of=c)
    assert (a.grad, question.right) == (None, None)
    assert states(question, 3.0, "3", "tensor(3.)", 2, None, "[3.0]", "?") == ["right"] * 3 + ["wrong"] * 3 + ["unread"]
    assert "`grad * other = 1.0 * 3.0 = 3.0`" in judged(question, 2).why
    c.backward()
    assert a.grad is not None and a.grad.item() == 3.0


def test_an_answer_beyond_all_numbers_is_none_yet() -> None:
    x = leaf(2.0)
    y = x * 3
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    given = ("9" * 400, "-" + "9" * 400, [10**400], 10**5000, deep)
    assert states(ask.grad(x, of=y), *given) == ["unread"] * 5
    assert states(ask.choice("?", ["a", "b"], lambda: "a"), 10**5000, [deep]) == ["unread"] * 2


def test_none_is_not_zero_and_the_reader_is_told_why() -> None:
    a, b, unused = leaf(2.0), av.tensor(3.0), leaf(1.0)
    c = a * b
    for t, why in ((b, "requires_grad is False"), (c, "passed it on"), (unused, "no path leads")):
        question = ask.grad(t, of=c)
        assert states(question, "None", 0) == ["right", "wrong"] and why in question.verdict["why"]
    assert ask.grad(b, of=c).answer(0).why.startswith("0 is a computed gradient")
    zero = ask.grad(a, of=a * 0.0).answer(None)
    assert zero.state == "again" and zero.why.startswith("A gradient arrived")


def test_a_wrong_sum_is_recognised() -> None:
    x = leaf(3.0)
    z = x * x + x
    assert ask.grad(x, of=z).answer(1).why.startswith("1.0 is one of 3 gradients")
    x.grad = av.tensor(1.0)
    assert ask.grad(x, of=z).answer(7).why.startswith("7.0 is the gradient of this pass")
    assert ask.grad(x, of=x * 2.0).answer(2).why.startswith("2.0 is the gradient of this pass")
    assert ask.grad(x, of=z).answer([8.0]).why.startswith("A gradient has the same shape as its tensor, here `()`")
    assert ask.grad(x, of=z).answer(8).state == "right"


def test_a_wrong_answer_gets_a_hint_from_the_graph_and_another_try() -> None:
    a, b = leaf(2.0), av.tensor(3.0)
    c = a * b
    question = ask.grad(a, of=c)
    first, second = question.answer(5), question.answer(6)
    assert first.why == (
        "MulBackward0 (c) sends `grad * other`. What did it save as `other`? Its `grad` is the first gradient: 1.0."
    )
    assert (first.state, second.state, question.right) == ("again", "wrong", False) and "3.0" in second.said
    assert question.answer("3").state == "right"


def test_a_hint_names_what_leads_to_the_answer_and_is_not_the_answer() -> None:
    a, b, unused = leaf(2.0), av.tensor(3.0), leaf(1.0)
    c = a * b
    e = c * leaf(4.0)
    hints = {
        "MulBackward0 (c) sends `grad * other`. What did it save as `other`? It gets `grad` from MulBackward0 (e).": ask.grad(
            a, e
        ),
        "`b` has requires_grad=False": ask.grad(b, of=e),
        "`c` has a grad_fn": ask.grad(c, of=e),
        "the backward graph leads to these leaves: `a`": ask.grad(unused, of=c),
        "Mul made `c` from `a` (requires_grad=True) and `b` (requires_grad=False)": ask.color(c),
        "Autograd recorded no op that made `b`": ask.row(b, "requires_grad"),
        "MulBackward0 sends a gradient to `a`": ask.saves(c),
        "The next_functions of MulBackward0 (c) are `((AccumulateGrad (a), 0), (None, 0))`": ask.choice(
            "How many?", [0, 1], lambda: 1, hint=c
        ),
    }
    assert [said for said, question in hints.items() if said not in question.question.hint] == []


def test_a_hint_names_the_hook_the_cut_and_what_is_kept() -> None:
    def double(g: Any) -> Any:
        return g * 2

    def look(g: Any) -> None:
        pass

    x, z = leaf(2.0), leaf(1.0)
    cut = (x + 1).detach() * (x + 2)
    c = x * 3
    c.register_hook(double)
    c.retain_grad()
    seen = x * 3
    seen.register_hook(look)
    beside = (x * 3).detach()
    turned = av.tensor(2.0) * 3
    turned.requires_grad_()
    said = {
        "No gradient goes through Detach": ask.grad(x, of=cut).answer(7).why,
        "The hook `double` changes the gradient at MulBackward0 (c).": ask.grad(x, of=c * 2).answer(6).why,
        "`c` is not a leaf, but retain_grad() keeps its gradient.": ask.grad(c, of=c * 2).answer("None").why,
        "A gradient arrives at `x`.": ask.grad(x, of=x * 2).answer("None").why,
        "one without a name (4.0)": ask.grad(z, of=x * leaf(4.0)).answer("1").why,
        "Look at its requires_grad, too.": ask.color(turned).answer("brown").why,
        "Detach gives `beside` without the graph": ask.color(beside).answer("yellow").why,
    }
    assert [hint for hint, whole in said.items() if hint not in whole] == []
    quiet = [
        ask.grad(x, of=seen).answer(6).why,
        ask.grad(x, of=x * z.detach()).answer(1).why,
        ask.color(x * 2).answer("green").why,
    ]
    assert not [hint for hint in quiet for word in ("look", "hook", "Detach", "too") if word in hint]


def test_one_number_answers_for_a_tensor_of_one_element() -> None:
    x = av.tensor([2.0], requires_grad=True)
    question = ask.grad(x, of=(x * 100).sum())
    assert question.answer("2").why.startswith("MulBackward0") and question.answer("100").state == "right"


def test_earlier_gradients_are_in_the_hint() -> None:
    w = leaf(1.0)
    (2 * w).backward()
    assert "Before this pass, `w.grad` is already 2.0." in ask.grad(w, of=2 * w).answer(3).why


def test_answers_are_a_table_of_what_was_given() -> None:
    a = leaf(2.0)
    question, before = ask.color(a), len(answers())
    for given in ("yellow", "", "brown"):
        question.answer(given)
    question.show()
    rows = answers()[before:]
    assert [(r["attempt"], r["given"], r["right"], r["state"]) for r in rows] == [
        (1, "yellow", False, "again"),
        (2, "brown", False, "wrong"),
        (3, "", False, "shown"),
    ]
    assert {r["question"] for r in rows} == {"What colour is the box of `a`?"}
    rows.clear()
    assert len(answers()) == before + 3


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_saved_page_judges_as_the_kernel_does() -> None:
    x = leaf(2.0)
    a = x * 3.0
    d = a * a * (a + 1.0)
    ask_d = ask.order(d)
    rows = (ask.grad(x, of=d), ask.grad(a, of=d), ask.grad(leaf([1.0, 2.0]), of=d), ask.grad(x, of=x * x))
    texts = ("None", "0", "2", "[0, 0]", "4", "4.0005", "tensor(180.)", "x", "nan", "[1, 2]", "684", "")
    cases = [(q, text) for q in rows for text in texts]
    cases += [(ask.color(a), [i]) for i in range(4)] + [(ask.saves(a), given) for given in ([], [0], [1], [0, 1])]
    cases += [(ask_d, [0]), *((ask_d, list(given)) for given in permutations(range(len(ask_d.question.options))))]
    asked = [(q.question, given, failed) for q, given in cases for failed in (0, 1)]
    found = in_node([({"asked": {"kind": q.kind, "options": q.options}, "judging": judging(q)}, g, f) for q, g, f in asked])
    assert found == [asdict(judge(*case)) for case in asked]


def in_node(cases: Any) -> Any:
    """What the page's own model makes of each answer."""
    script = """import { QuestionModel } from "./autograd_viz/widget/static/question/model.js";
let text = "";
for await (const part of process.stdin) text += part;
const judged = JSON.parse(text).map(([data, given, failed]) => Object.assign(new QuestionModel(data), { failed }).judge(given));
console.log(JSON.stringify(judged));"""
    command, given = ["node", "--input-type=module", "-e", script], json.dumps(cases, default=asdict)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    return json.loads(done.stdout)


def test_a_gradient_may_be_given_for_many_elements() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * x
    question = ask.grad(x, of=y, gradient=av.tensor([1.0, 0.0, 10.0]))
    assert "`y.backward([1.0, 0.0, 10.0])`" in question.question.text
    assert states(question, "[2, 0, 60]", "[2, 4, 6]") == ["right", "wrong"]


def test_the_colour_is_that_of_the_document() -> None:
    a, b = leaf(2.0), av.tensor(3.0)
    c, d = a * b, b * b
    for t, colour in ((a, "green"), (b, "yellow"), (c, "brown"), (d, "yellow")):
        wrong = {"green", "yellow", "brown", "blue"} - {colour}
        assert states(ask.color(t), colour, *sorted(wrong)) == ["right", "wrong", "wrong", "wrong"]
    assert "did not record" in ask.color(d).show().why and "Blue boxes are" in ask.color(d).answer("blue").why


def test_a_row_is_read_from_the_graph() -> None:
    a = leaf(2.0)
    c = a.exp()
    assert states(ask.row(c, "is_leaf"), "True", "False") == ["wrong", "right"]
    assert states(ask.row(c, "grad_fn"), "None", "ExpBackward0") == ["wrong", "right"]
    with pytest.raises(av.UnknownChoiceError, match="unknown row"):
        ask.row(c, "data")


def test_the_order_is_the_engines_and_a_wrong_place_shows_the_queue() -> None:
    x = leaf(2.0)
    a = x * 3.0
    b = a * a
    c = a + 1.0
    d = b * c
    right = ["MulBackward0 (d)", "AddBackward0 (c)", "MulBackward0 (b)", "MulBackward0 (a)", "AccumulateGrad (x)"]
    question = ask.order(d)
    assert [o.text for o in question.question.options] != right
    assert question.answer(right).state == "right" and x.grad is None
    early = [right[0], right[1], right[3], right[2], right[4]]
    hint = question.answer(early).why
    assert hint.startswith("2 right so far. After AddBackward0 (c) these are ready: MulBackward0 (b).")
    assert hint.endswith("MulBackward0 (a) is not ready then: 1 of 3 gradients have arrived.")
    assert ask.order(d).answer(right[::-1]).why == "The pass starts at the grad_fn of `d`."
    assert question.answer(right[:2]) == question.answer(right[1:3]) and question.right is None


def test_what_is_saved_is_what_the_rules_name() -> None:
    x, w = leaf(2.0), av.tensor(3.0)
    y, e, s = x * w, x.exp(), x + w
    assert states(ask.saves(y), ["w"], ["x", "w"], []) == ["right", "wrong", "wrong"]
    assert states(ask.saves(e), "e", "x") == ["right", "wrong"]
    assert states(ask.saves(s), []) == ["right"] and "none of them" in ask.saves(s).show().said
    with pytest.raises(av.NotDrawableError, match="needs a tensor with a grad_fn"):
        ask.saves(x)


def test_a_choice_is_answered_by_running_it() -> None:
    x = leaf(2.0)
    y = x * x
    y.backward()
    question = ask.choice("Again?", ["fine", "RuntimeError"], lambda: y.backward())
    assert states(question, "RuntimeError", "fine") == ["right", "wrong"] and "retain_graph=True" in question.verdict["why"]
    with pytest.raises(ValueError, match=r"is '4\.0', which is not one of the options: 1, 2"):
        ask.choice("How much?", [1, 2], lambda: y.item())


def test_only_tensors_are_asked_about() -> None:
    for asking in (ask.color, ask.order, ask.saves):
        with pytest.raises(av.NotDrawableError, match="got str"):
            asking("c")


def test_what_a_reader_writes_is_read_or_refused() -> None:
    for text, shape, numbers in json.loads((Path(__file__).parent / "widget" / "question_readings.json").read_text()):
        found = read(text)
        said = found and found.numbers and [str(n).replace("inf", "Infinity") for n in found.numbers]
        assert (found and list(found.shape), said or None) == (shape, numbers), text


def test_the_page_is_judged_by_the_kernel() -> None:
    a = leaf(2.0)
    question = ask.grad(a, of=a * a)
    for given, state in (("4", "right"), ("4", "right"), ("5", "again"), ("", "unread"), ("5", "wrong")):
        before = question.verdict.get("count", 0)
        question._heard(question, {"kind": "answer", "given": given}, [])
        assert (question.verdict["state"], question.verdict["count"]) == (state, before + 1)
    question._heard(question, {"kind": "show"}, [])
    assert question.verdict["state"] == "shown"
    for odd in ([True, 7], [], {}, None, ["a"]):
        ask.color(a)._heard(None, {"kind": "answer", "given": odd}, [])


def test_hostile_names_stay_text_in_what_is_stored() -> None:
    still = ask.choice("<b>`<script>`</b>", ["<i>", "b"], lambda: "b").still()
    assert "<script>" not in still["text/html"] and "<code>&lt;script&gt;</code>" in still["text/html"]


def test_questions_are_asked_in_the_chosen_language() -> None:
    av.set_language("zh")
    a = leaf(2.0)
    c = a * a
    assert ask.color(c).answer("棕色").state == "right"
    question = ask.grad(a, of=c)
    assert [question.answer(0).said for _ in range(2)] == ["还不对，再试一次。", "不对，答案是 `4.0`。"]


@pytest.mark.torch
def test_questions_about_torch_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    assert states(ask.grad(x, of=y), 6, 3) == ["right", "wrong"] and x.grad is None
    assert states(ask.color(y), "brown") == ["right"]
    assert states(ask.order(y), ["MulBackward0 (y)", "AccumulateGrad (x)"]) == ["right"]
    assert states(ask.saves(y), "x") == ["right"]


def test_a_factor_of_ten_is_the_same_height_everywhere_in_a_plot() -> None:
    drawn = plot({"a": [1e-3, 1e-2, 1e-1], "<b>": [2.0]}, across="layer", up="norm")
    heights = [float(y) for y in re.findall(r'<circle [^>]*cy="([^"]*)"', drawn.svg)]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.01) and heights[3] < heights[2] < heights[0]
    assert "&lt;b&gt;" in drawn.svg and repr(drawn).split("\n") == ["a: 0.001, 0.01, 0.1", "<b>: 2.0"]


class Number:
    """A reader's value, with gradients that are given."""

    def __init__(self, data: float, parents: tuple[Number, ...] = ()) -> None:
        self.data, self.parents, self.grad = data, parents, 0.0

    def backward(self) -> None: ...


def test_a_readers_engine_is_held_against_ours_number_by_number() -> None:
    a, b = leaf(2.0), leaf(3.0)
    c = a * b
    end = c * c
    mine = [Number(2.0), Number(3.0)]
    square = Number(36.0, (half := Number(6.0, tuple(mine)), half))
    for value, grad in ((square, 1.0), (half, 12.0), (mine[0], 36.0), (mine[1], 24.0)):
        value.grad = grad
    same = beside(square, end)
    assert same.right and same.sentence == "All the same: 4 values, 4 gradients."
    half.grad = 6.0
    differs = beside(square, end)
    assert differs.sentence == "The gradient of `c` is 6.0 in yours and 12.0 in ours. 2 gradients arrive there: 6.0 + 6.0."
    assert not differs.right and differs.svg.count('class="f-canvas"') == 2 and "12.0" in differs.svg
    half.data = 7.0
    assert beside(square, end).sentence == "`c` is 7.0 in yours and 6.0 in ours."
    square.parents = (half,)
    assert beside(square, end).sentence == "Parents of `end`: 1 in yours, 2 in ours."
    assert a.grad is None


def of_leaves(make: Any) -> Any:
    a, b = make(2.0), make(3.0)
    c = a * b
    return c * c + c


class Mine(Number):
    """An engine that multiplies and adds; each fault below breaks one of its parts."""

    def __mul__(self, other: Any) -> Any:
        return type(self)(self.data * other.data, (self, other))

    def __add__(self, other: Any) -> Any:
        return type(self)(self.data + other.data, (self, other))


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"__add__": lambda a, b: a.data + b.data}, "`c * c + c` is 42.0 (float) in yours, and not a value"),
        ({"__add__": lambda a, b: None}, "`c * c + c` is None in yours"),
        (
            {"__add__": lambda a, b: type(a)(a.data + b.data, (a.data, b.data))},
            "`c` is 6.0 (float) in yours, and not a value with `data` and `parents`. It is among the parents of `c * c + c`.",
        ),
        ({"__add__": lambda a, b: type(a)(a.data + b.data)}, "Parents of `c * c + c`: 0 in yours, 2 in ours."),
    ],
)
def test_a_fault_of_the_readers_engine_is_told_in_its_terms(broken: dict[str, Any], said: str) -> None:
    found = beside(of_leaves(type("Broken", (Mine,), broken)), of_leaves(leaf))
    assert found.sentence.startswith(said) and not found.right and found.first is not None
    assert found.svg.count('class="f-canvas"') == 1  # the reader's graph cannot be paired with ours


def test_swapped_arguments_are_told() -> None:
    with pytest.raises(av.NotDrawableError, match="swap them: yours comes first"):
        beside(of_leaves(leaf), of_leaves(Mine))
    with pytest.raises(av.NotDrawableError, match="takes our tensor second, got function"):
        beside(of_leaves, of_leaves)


def test_every_value_has_a_box_with_its_name_or_code_and_letters_are_large_in_a_notebook() -> None:
    found = beside(of_leaves(Mine), of_leaves(leaf))
    shown = found._repr_mimebundle_()
    for text in ("a = 2.0", "c = 6.0", "c * c = 36.0", "c * c + c = 42.0"):
        assert found.svg.count(text) == 2, text
    widths = [float(w) for w in re.findall(r'viewBox="\S+ \S+ (\S+) ', found.svg)][1:]
    assert sum(widths) + 24 < 899 and min(map(float, re.findall(r'font-size="([0-9.]+)"', found.svg))) >= 11
    assert shown["text/html"].count("<img") == 2 and "flex-wrap:wrap" in shown["text/html"] and "`" not in shown["text/html"]
    assert "The gradient of <code>c * c + c</code> is 0.0 in yours" in shown["text/html"]


def test_two_passes_are_told_from_one_and_from_a_wrong_slope() -> None:
    end = of_leaves(Mine)
    end.grad = 2.0
    assert "2 passes would add that; ours ran one. The gradient of `a` is 0.0" in beside(end, of_leaves(leaf)).sentence
    end.grad = 1.5
    assert "passes" not in beside(end, of_leaves(leaf)).sentence


def test_numbers_of_any_library_are_numbers_of_an_engine() -> None:
    for number in (6, np.float32(6.0), np.float64(6.0), av.tensor(6.0)):
        value: Any = Number(2.0)
        double: Any = Number(0.0, (value,))
        double.data, double.grad, value.grad = number, np.float32(1.0), np.int64(3)
        assert beside(double, leaf(2.0) * 3.0).right
    value.grad = "three"
    assert "is three in yours" in beside(double, leaf(2.0) * 3.0).sentence


def test_a_gradient_by_hand_is_compared_element_by_element() -> None:
    assert heat(av.tensor([1.0, 2.0]), [1.0, 2.0]).right
    wrong = heat(av.tensor([[1.0, 2.0], [3.0, 4.0]]), av.tensor([[1.0, 2.0], [3.0, 5.0]]))
    assert str(wrong) == "1 of 4 elements differ, most at [1, 1]: 4.0 by hand, 5.0 by autograd." and not wrong.right
    with pytest.raises(ValueError, match=r"by hand has the shape \(2,\), autograd's has \(3,\)"):
        heat([1.0, 2.0], [1.0, 2.0, 3.0])


FILE = """
[arrive]
answer = "y.grad_fn.next_functions.__len__()"
edges_of = "y"
[arrive.en]
question = "How many?"
options = ["1", "2"]
[arrive.zh]
question = "几个？"
options = ["一个", "两个"]
[bare]
answer = "1"
"""


def test_a_question_stands_in_a_file_and_its_cell_does_not_show_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "own.toml").write_text(FILE, encoding="utf-8")
    (tmp_path / "zh").mkdir()
    monkeypatch.chdir(tmp_path / "zh")
    y = leaf(2.0) * leaf(3.0)
    question = ask.choice("own.arrive")
    assert (question.question.text, question.question.answer) == (
        "How many?",
        (1,),
    ) and "MulBackward0" in question.question.hint
    av.set_language("zh")
    assert ask.choice("own.arrive").question.options[1].text == "两个"
    for name, said in (
        ("no.file", "no questions/no.toml"),
        ("own.no", "it has arrive, bare"),
        ("own.bare", "has no 'question'"),
    ):
        with pytest.raises(ValueError, match=said):
            ask.choice(name)
    assert y.grad_fn is not None


def test_every_question_of_the_notebooks_has_one_answer_in_each_language() -> None:
    for path in sorted((Path(__file__).parent.parent / "notebooks" / "questions").glob("*.toml")):
        for key, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            texts = [v for v in entry.values() if isinstance(v, dict)]
            assert {len(t["options"]) for t in texts} == {len(entry["en"]["options"])}, (path.name, key)
