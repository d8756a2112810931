"""Each check sees its own fault, and is silent about the innocent twins of that program."""

from __future__ import annotations

import itertools
import linecache
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
