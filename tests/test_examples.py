"""The examples in the docstrings of the verbs run, and print what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import autograd_viz as av

OF_PYTORCH = {"gather", "record", "time"}
NO_EXAMPLE = {"load_ipython_extension", "unload_ipython_extension"}  # %load_ext calls them
VERBS = sorted(set(av._HOME) - NO_EXAMPLE)


@pytest.mark.parametrize("verb", [pytest.param(v, marks=[pytest.mark.torch] * (v in OF_PYTORCH)) for v in VERBS])
def test_the_example_of_a_verb_runs(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(av, verb), verb, globs={"av": av})
    assert example.examples, "no example"
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert not said, "".join(said)
