"""The verb explain: what it takes, what it gives, in which languages, and that it never fails."""

from __future__ import annotations

import ast
import gc
import re
import sys
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import autograd_viz as av
from autograd_viz import reasons, words
from autograd_viz.reasons import Facts, NothingLive, causes_of, sentences
from autograd_viz.sources.from_core import CoreGraph
from autograd_viz.words import en

from .. import wild
from ..effort import examples
from .explained import X, after_backward, kinds, lines, told


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    av.set_language("en")


CAUGHT = "try:\n    {0}\nexcept (RuntimeError, ZeroDivisionError) as e:\n    error = e"
ERRORS = {  # program, what is run, kinds, line of the first cause, words
    "freed": (
        "x = torch.ones(2, requires_grad=True)\nloss = (x * x).sum()\nloss.backward()\n", "loss.backward()", ["freed"], 3,
        "MulBackward0 (line 2) gave up its saved tensors in an earlier pass: line 3: loss.backward().",
    ),
    "freed by another loss": (
        "x = torch.ones(2, requires_grad=True)\nh = x * x\none = h.sum()\none.backward()\n", "h.mean().backward()",
        ["freed"], 4, "MulBackward0 (line 2)",
    ),
    "freed, and then a pass of another graph": (
        "x = torch.ones(2, requires_grad=True)\nloss = (x * x).sum()\nloss.backward()\nz = (x + 1).sum()\nz.backward()\n",
        "loss.backward()", ["freed"], 3, "line 3: loss.backward().",
    ),
    "freed in a function": (
        "w = torch.ones(2, requires_grad=True)\ndef train():\n    h = w * w\n    loss = h.sum()\n    loss.backward()\n"
        "    h.sum().backward()\n", "train()", ["freed"], 5, "MulBackward0 (line 3)",
    ),
    "a result changed": (
        "w = torch.ones(2, requires_grad=True)\nh = w.exp()\nh += 1\nloss = h.sum()\n", "loss.backward()", ["modified"], 3,
        "ExpBackward0 (line 2) saved h at version 0; this changed it in place, and it is at version 1 now: line 3: h += 1.",
    ),
    "a part of a result changed": (
        "w = torch.ones(2, requires_grad=True)\nh = w.exp()\nh[0] = 3\nloss = h.sum()\n", "loss.backward()", ["modified"], 3,
        "line 3: h[0] = 3",
    ),
    "changed through detach": (
        "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nw.detach().zero_()\n", "loss.backward()", ["modified"], 3,
        "saved w at version 0",
    ),
    "changed by an optimizer": (
        "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nloss = (w * w).sum()\n"
        "loss.backward(retain_graph=True)\nopt.step()\n", "loss.backward()", ["modified_by_step"], 5, "line 5: opt.step()",
    ),
    "a leaf changed": ("w = torch.ones(2, requires_grad=True)\n", "w += 1", ["error"], 3, "A leaf that requires grad was"),
    "no graph": (
        "w = torch.ones(2)\nloss = (w * 2).sum()\n", "loss.backward()", ["error", "made_of_constants"], 4,
        "loss.requires_grad is False: it was computed from w",
    ),
    "not a scalar": ("w = torch.ones(2, requires_grad=True)\n", "(w * 2).backward()", ["error"], 3, "sum() first"),
    "something else": ("", "1 / 0", ["unknown_error"], None, "No more is known of this error"),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_is_explained_with_its_lines(case: str) -> None:
    program, run, expected, line, words = ERRORS[case]
    answer = told(program + CAUGHT.format(run), "error")
    assert (kinds(answer), lines(answer)[0]) == (expected, line), answer
    assert words in str(answer) and ".grad is" not in str(answer)


def test_the_first_change_after_the_save_is_named_among_several() -> None:
    program = "w = torch.ones(2, requires_grad=True)\nw0 = w.exp()\nw0 += 1\nw0 += 2\nloss = w0.sum()\n"
    answer = told(program + CAUGHT.format("loss.backward()"), "error")
    assert lines(answer) == [3] and "version 2 now" in str(answer)


def test_a_change_in_somebody_elses_function_is_found() -> None:
    """The code around the question does not show it: the memory remembers the line."""
    spoil = "def spoil(t):\n    with torch.no_grad():\n        t.mul_(2)\n"
    program = f"{spoil}w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nspoil(w)\n"
    answer = told(program + CAUGHT.format("loss.backward()"), "error")
    assert (kinds(answer), lines(answer)) == (["modified"], [3])


def test_many_changes_keep_flat_memory() -> None:
    buffer = av.ones(2)
    with av.no_grad():
        for _ in range(1000):
            buffer.add_(1)
    assert buffer._version == 1000 and len(buffer._counter or ()) <= 9


def test_without_a_tensor_the_error_being_handled_is_explained() -> None:
    w = av.ones(2, requires_grad=True)
    try:
        w += 1
    except RuntimeError:
        assert kinds(av.explain()) == ["error"]
    assert kinds(av.explain()) == ["no_error"] or getattr(sys, "last_value", None) is not None


def test_it_takes_tensors_and_exceptions_only() -> None:
    for wrong in (3, "x", np.ones(2)):
        with pytest.raises(
            av.NotDrawableError, match=r"explain\(x\) takes a tensor of autograd_viz or of PyTorch, or an exception, got"
        ):
            av.explain(wrong)
    with pytest.raises(av.NotDrawableError, match="got int"):
        av.explain(av.ones(2), 3)
    with pytest.raises(av.UnknownChoiceError):
        av.explain(av.ones(2), theme="blue")


def test_the_answer_is_text_first_and_data_too() -> None:
    answer = after_backward("(-x).relu()")
    assert repr(answer) == str(answer)
    assert answer._repr_mimebundle_() == {"text/plain": str(answer)}
    cause = answer.causes[0]
    node = next(n for n in answer.document.nodes if n.id == cause.nodes[0])
    assert node.name == "ReluBackward0" and cause.source.text == "y = (-x).relu()"


def test_with_show_comes_the_picture_with_the_culprit_lit() -> None:
    program = X + "y = (-x).relu()\nloss = y.sum()\nloss.backward()"
    figure = told(program, "x, show=True")
    assert figure.svg != told(program, "x, show=True, theme='dark'").svg
    assert str(figure) == str(told(program)) and figure.causes[0].kind == "zero_relu"
    assert lit(figure.svg) == [figure.causes[0].nodes[0]]
    caption = " ".join(re.findall(r"<text[^>]*f-text[^>]*>([^<]*)</text>", figure.svg))
    assert "ReluBackward0 passes nothing" in caption
    assert set(figure._repr_mimebundle_()) >= {"image/svg+xml", "text/plain"}


def test_where_no_node_is_to_blame_the_op_or_the_tensor_is_lit() -> None:
    cut = told(X + "h = x.detach()\nw = torch.ones(3, requires_grad=True)\nloss = (h * w).sum()", "x, show=True")
    ops = {o.id: o.name for o in cut.explanation.document.ops}
    assert [ops[id] for id in lit(cut.svg)] == ["Detach"]
    alone = told("x = torch.ones(2)", "x, show=True")
    assert lit(alone.svg) == ["t0"]


def lit(svg: str) -> list[str]:
    """The ids of the boxes that are lit."""
    return re.findall(r'class="[a-z ]* lit" data-at="(\w+)"', svg)


def test_an_error_without_a_graph_has_no_picture() -> None:
    with pytest.raises(av.NotDrawableError, match="no graph to draw"):
        av.explain(ValueError("?"), show=True)


def test_it_speaks_chinese() -> None:
    answer = after_backward("(-x).relu()")
    av.set_language("zh")
    assert str(answer).split("\n")[:2] == [
        "x.grad 全为零。",
        "ReluBackward0 在输入不为正的位置不传递梯度，而这里的输入是 -3.0 … -1.0（第 2 行：y = (-x).relu()）。",
    ]


def test_every_kind_of_cause_has_its_sentence() -> None:
    named = set()
    for path in Path(reasons.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Cause", "Wall", "Hazard"):
                values = [a for b in node.args[:2] for a in ast.walk(b)]
                named |= {v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)}
    named = {n for n in named if n.islower() and "_" in n and not n.endswith("_")}
    assert len(named) > 60 and {n for n in named if not hasattr(en, f"CAUSE_{n.upper()}")} == set()


HOSTILE = ("<script>alert(1)</script>", "{node}", "{0}", "a`b", "line\nbreak", "名字", "\x1b[31m", "]]>", "%s")


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_nothing_but_text(name: str) -> None:
    xs = {name: av.tensor([1.0, -1.0], requires_grad=True)}
    loss = (xs[name] * 0).sum()
    loss.backward()
    answer = av.explain(xs[name])
    assert repr(name) in str(answer) and kinds(answer) == ["zero_number"]
    svg = av.explain(xs[name], show=True).svg
    assert "<script" not in svg


def test_nothing_is_kept_alive_by_an_answer() -> None:
    def asked() -> tuple[Any, Any]:
        x = av.tensor([1.0], requires_grad=True)
        loss = (x * 2).sum()
        return weakref.ref(loss), av.explain(x)

    there, answer = asked()
    gc.collect()
    assert there() is None and kinds(answer) == ["not_run"]


def test_nothing_is_changed_by_the_question() -> None:
    x = av.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    av.explain(x, show=True)
    av.explain(loss)
    loss.backward(retain_graph=True)
    av.explain(x, loss)
    loss.backward()
    assert x.grad is not None and x.grad.tolist() == [4.0, 8.0] and loss._version == x._version == 0


def test_a_document_alone_is_enough() -> None:
    """Nothing live behind it, as for a document from a file or from another framework."""
    x = av.tensor([-1.0, -2.0], requires_grad=True)
    y = x.relu()
    loss = y.sum()
    loss.backward()
    graph = CoreGraph([loss], {"x": x, "y": y, "loss": loss})
    f = Facts(graph.document, graph.tensor_id(x) or "", {}, NothingLive(), graph.document.roots)
    assert [c.kind for c in causes_of(f)] == ["zero_relu"]
    assert sentences(f.subject, causes_of(f))[0] == "x.grad is all zero."
    f = Facts(graph.document, graph.tensor_id(y) or "", graph.past().values, NothingLive(), graph.document.roots)
    assert [c.kind for c in causes_of(f)] == ["not_leaf_passed"]


@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
@given(wild.wild_programs())
def test_every_tensor_of_every_program_has_an_answer(program: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool, _ = program.run(av)
        roots = [t for t in pool if t._requires_grad and t._grad_fn is not None]
        before = [str(av.explain(t)) for t in pool]
        for root in roots[-1:]:
            try:
                root.backward(av.ones(root.shape, dtype=root.dtype))
            except RuntimeError as error:
                assert str(av.explain(error))
        after = [str(av.explain(t)) for t in pool] + [str(av.explain(t, pool[-1])) for t in pool]
    assert all(said.split("\n")[0] for said in before + after)
    assert all(len(said.split("\n")) > 1 for said in before + after)


def test_words_of_reasons_are_there_in_the_chosen_language() -> None:
    av.set_language("zh")
    assert words.CAUSE_ZERO_FLAT != en.CAUSE_ZERO_FLAT  # type: ignore[attr-defined]


def test_asked_in_a_comprehension_it_sees_the_variables_around() -> None:
    ps = [av.ones(1, requires_grad=True)]
    mine = (ps[0] * 2).sum()
    answers = [*[av.explain(p) for p in ps], next(av.explain(p) for p in ps)]
    assert all("mine depends on p" in str(a) for a in answers) and mine.requires_grad, answers
