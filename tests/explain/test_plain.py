"""What explain says of values can be read at once: one short sentence a cause, one short advice, in both languages."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import autograd_viz as av
from autograd_viz.answers import checks
from autograd_viz.answers.causes.answer import sentence
from autograd_viz.answers.causes.cause import Cause
from autograd_viz.words import en, zh

from .explained import of_expression
from .test_nan_and_inf import BAD
from .test_zero import ZERO

VALUE_RULES = ("zeros", "blocking", "bad_numbers", "forward_birth", "nan_sources", "sizes", "hooks")
MOST_WORDS = {"CAUSE": 18, "DO": 14}


def kinds() -> set[str]:
    """What the value rules can find, in capitals."""
    found = set()
    for name in VALUE_RULES:
        tree = ast.parse((Path(checks.__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
        found |= {n.value.upper() for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return {k for k in found if hasattr(en, f"CAUSE_{k}")}


def test_the_kinds_are_found() -> None:
    assert {"ZERO_RELU", "BORN_SQRT", "FORWARD_OVERFLOW", "GREW", "ZERO_NORMED", "HOOK_ON_WAY"} <= kinds()
    assert len(kinds()) > 80


@pytest.mark.parametrize("prefix", MOST_WORDS)
def test_sentences_are_short(prefix: str) -> None:
    said = {k: getattr(en, f"{prefix}_{k}", "") for k in kinds()}
    assert {k: text for k, text in said.items() if len(text.split()) > MOST_WORDS[prefix]} == {}


def test_a_cause_is_one_sentence_that_reads_on_from_its_head() -> None:
    whole = {"NOT_RECORDED", "LOSS_BAD_FINITE"}  # they stand alone
    said = {k: getattr(en, f"CAUSE_{k}") for k in kinds() - whole}
    assert [k for k, text in said.items() if text[0].isupper() or not text.endswith(".") or ". " in text] == []
    placed = {
        k: getattr(language, f"CAUSE_{k}") for k in kinds() - {"ZERO_OF_NONE"} for language in (en, zh)
    }  # goes on after it
    assert [k for k, text in placed.items() if "{line}" in text and not re.search(r"[(（]\{line\}[)）][.。]$", text)] == []


def test_advice_never_silences_an_error() -> None:
    said = [getattr(language, f"DO_{k}", "") for k in kinds() for language in (en, zh)]
    assert not [text for text in said if "requires_grad_()" in text or "requires_grad = True" in text]


@pytest.mark.parametrize("expression", [*ZERO, *BAD])
def test_whatever_is_found_fills_its_sentences(expression: str) -> None:
    for cause in of_expression(expression, "core").causes:
        said = {**cause.said, "name": "x", "line": "line 3"}
        for language in (en, zh):
            for prefix in ("CAUSE", "DO", "MORE"):
                text = getattr(language, f"{prefix}_{cause.kind.upper()}", "").format(**said)
                assert "{" not in text and (text or prefix != "CAUSE")


def test_a_line_that_is_not_known_is_not_mentioned() -> None:
    cause, said = Cause("cut_no_grad"), {}
    for language in ("en", "zh"):
        av.set_language(language)
        try:
            said[language] = sentence(cause, "x")
        finally:
            av.set_language("en")
    assert said == {"en": "It was computed under no_grad().", "zh": "它是在 no_grad() 中计算的。"}
