"""What the notebooks say about PyTorch is so in PyTorch, and stands in a notebook as it is tested."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

pytest.importorskip("torch")
from .truths import TRUTHS, Truth

pytestmark = pytest.mark.torch
NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))


def prose(number: str) -> str:
    """The text cells of a notebook, with one space between words."""
    path = next(p for p in NOTEBOOKS if p.name.startswith(number))
    cells = nbformat.read(path, as_version=4).cells
    return " ".join(" ".join(c.source.split()) for c in cells if c.cell_type == "markdown")


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: f"{truth.notebook}-{truth.shown.__name__}")
def test_a_sentence_is_true_and_stands_there(truth: Truth) -> None:
    said = prose(truth.notebook)
    assert [sentence for sentence in truth.sentences if sentence not in said] == []
    truth.shown()


def test_every_notebook_that_teaches_autograd_has_such_sentences() -> None:
    """14 and 15 are about our runs and differences, whose numbers are tested where they are made."""
    assert {truth.notebook for truth in TRUTHS} == {p.name[:2] for p in NOTEBOOKS} - {"14", "15"}
