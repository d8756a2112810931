"""Each check sees its own fault, and is silent about the innocent twins of that program."""

from __future__ import annotations

import itertools
import json
import linecache
import re
import warnings
from contextlib import nullcontext
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.answers.checks.check import SO, Check
from autograd_viz.answers.checks.pages import CHECKS, page_of
from autograd_viz.twin.core.base import happened
from autograd_viz.verbs.check import Findings
from autograd_viz.words import en

from .explained import run

_numbers = itertools.count()
# the twin has no such optimizer or scaler, or does not remember when a tensor was written
ONLY_PYTORCH = {"AV103", "AV407"}
LIBRARIES = ["core", pytest.param("torch", marks=pytest.mark.torch)]
PAGES = pytest.mark.parametrize("page", CHECKS, ids=lambda page: page.code)
TWINS = pytest.mark.parametrize(
    ("page", "program"), [pytest.param(c, p, id=f"{c.code} {i}") for c in CHECKS for i, p in enumerate(c.innocent)]
)


def found(program: str, library: str, **options: Any) -> Findings:
    """What all checks find in a program, as if it stood in a file."""
    torch: Any = av if library == "core" else pytest.importorskip("torch")
    torch.manual_seed(0)
    happened.passes.clear()
    file, names = f"<checked {next(_numbers)}>", {"torch": torch}
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    with av.watch() if library == "torch" else nullcontext() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(program, file, "exec"), names)
        except RuntimeError as error:
            return av.check(error, **options)
        answer: Findings = eval("check(**options)", {**names, "check": av.check, "options": options})
        assert watch is None or not watch.faults, watch.faults
    return answer


@pytest.mark.parametrize("library", LIBRARIES)
@PAGES
def test_a_check_sees_its_own_fault(page: Check, library: str) -> None:
    if library == "core" and page.code in ONLY_PYTORCH:
        pytest.skip("the twin cannot know")
    assert page.code in [f.code for f in found(page.sick, library)]


@pytest.mark.parametrize("library", LIBRARIES)
@TWINS
def test_a_check_is_silent_about_an_innocent_twin(page: Check, program: str, library: str) -> None:
    if library == "core" and page.code in ONLY_PYTORCH:
        pytest.skip("the twin cannot know")
    said = found(program, library)
    assert page.code not in [f.code for f in said], said
    assert not said.is_so, said


def test_a_check_without_an_innocent_twin_does_not_load() -> None:
    with pytest.raises(ValueError, match="a check has a sick program and an innocent twin"):
        Check("AV999", "of-nothing", lambda: (), {}, "x = 1", ())


def test_numbers_and_names_are_each_of_one_check() -> None:
    assert len({c.code for c in CHECKS}) == len({c.name for c in CHECKS}) == len(CHECKS)


def test_every_kind_of_a_check_has_its_words() -> None:
    kinds = [n.removeprefix("CAUSE_").lower() for n in vars(en) if n.startswith("CAUSE_")]
    claimed = {pattern for page in CHECKS for pattern in page.kinds}
    assert {p for p in claimed if "*" not in p} <= {*kinds}
    assert {SO} <= {page[1] for kind in kinds if (page := page_of(kind)) is not None}


PLACES = "net, x = torch.nn.Linear(4, 3), torch.randn(2, 4)\n"
SILENCED = PLACES + "loss = torch.nn.functional.cross_entropy(net(x).softmax(1), {}){}\nloss.backward()"
ROWS = "torch.tensor([0, 2])"


@pytest.mark.parametrize("library", LIBRARIES)
def test_findings_are_lines_of_a_linter_and_data(library: str) -> None:
    said = found(SILENCED.format(ROWS, ""), library)
    assert re.fullmatch(
        r"<checked \d+>:2: AV201 log_softmax, .* softmax\. \[net\.weight, net\.bias\] → Leave softmax out\.", str(said)
    )
    (told,) = json.loads(said.to_json())
    assert (told["code"], told["is_so"], told["line"], told["tensors"]) == ("AV201", True, 2, ["net.weight", "net.bias"])


def test_a_check_is_silenced_at_a_line_by_its_number_by_its_name_and_by_the_beginning_of_its_number() -> None:
    assert not found(SILENCED.format(ROWS, "  # av: ignore[AV201]"), "core")
    assert found(SILENCED.format(ROWS, "  # av: ignore[AV203]"), "core")
    for options in ({"ignore": ["squashed-twice"]}, {"ignore": ["AV2"]}, {"select": ["AV3"]}):
        assert str(found(SILENCED.format(ROWS, ""), "core", **options)) == "Nothing stands out."
    with pytest.raises(av.UnknownChoiceError, match="unknown check 'AV999'; choose one of: AV101 detached"):
        av.check(select=["AV999"])
    with pytest.raises(av.NotDrawableError, match="takes a module, a tensor of autograd_viz or of PyTorch, or an error"):
        av.check(3)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("ask", ["net", ""])
def test_explain_of_a_module_or_of_the_last_pass_tells_what_is_wrong_with_it(library: str, ask: str) -> None:
    program = page_of("cleared_before_step")
    assert program is not None
    answer = run(program[0].sick, library, ask, watched=True)
    assert str(answer).startswith("net.0.weight.grad is None: zero_grad() cleared it") and "net.2.bias" in answer.details
    assert json.loads(answer.to_json())["causes"][0]["check"] == "AV401"
    answer = run(program[0].innocent[0], library, ask, watched=True)
    assert re.fullmatch(r"\d+ tensors: nothing stands out\.", str(answer))
