"""A layout in a process of its own: the same picture, and an end to it."""

from __future__ import annotations

import re
import sys

import pytest

import autograd_viz as av
from autograd_viz.errors import LayoutError
from autograd_viz.graph.model import Document
from autograd_viz.pictures.layout import layout, layout_apart
from autograd_viz.pictures.render import drawing
from autograd_viz.sources.twin.graph import CoreGraph


def chain(length: int) -> tuple[av.Tensor, Document]:
    h = w = av.tensor(0.5, requires_grad=True)
    for _ in range(length):
        h = h * w
    return h, CoreGraph([h], {"w": w, "h": h}).document


def test_it_is_the_layout_that_is_made_here() -> None:
    document = chain(20)[1]
    assert layout_apart(document) == layout(document)


def test_it_is_given_up_after_the_limit() -> None:
    with pytest.raises(LayoutError, match=r"the layout of 62 boxes took more than 0 s and was stopped"):
        layout_apart(chain(20)[1], limit=0)


def test_a_process_that_dies_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["autograd_viz.pictures.layout.apart"], "PROGRAM", "import os; os.kill(os.getpid(), 11)")
    with pytest.raises(LayoutError, match=r"the layout of 62 boxes failed: the process ended with -11"):
        layout_apart(chain(20)[1])


def test_what_is_too_large_to_be_drawn_whole_is_drawn_in_groups_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "NEAR", 10)
    monkeypatch.setattr(layout_apart, "__defaults__", (0.0,))
    with pytest.warns(UserWarning, match=r"took more than 0 s and was stopped; the picture shows groups instead"):
        figure = av.show(chain(20)[0], collapse=False)
    assert "1 group collapsed" in repr(figure) and re.search(r"Mul · (\w+, )?line \d+ × 20", figure.svg)
