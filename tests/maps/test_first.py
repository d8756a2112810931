"""Which picture a program has at first: the figure if it is read at once, else the map, else groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz import nn
from autograd_viz.pictures.render import drawing

MODELS = {layers: nn.Sequential(*[x for _ in range(layers) for x in (nn.Linear(4, 4), nn.ReLU())]) for layers in (2, 6)}


def mlp(layers: int) -> av.Tensor:
    return MODELS[layers](av.ones(3, 4)).pow(2).mean()


def chain(ops: int) -> av.Tensor:
    x = av.tensor(1.0, requires_grad=True)
    for _ in range(ops):
        x = x * 2.0
    return x


def in_scopes() -> av.Tensor:
    x = av.tensor(1.0, requires_grad=True)
    for turn in range(4):
        with av.scope(f"turn {turn}"):
            for _ in range(6):
                x = x * 2.0
    return x


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (lambda: mlp(2), "Figure"),
        (lambda: mlp(6), "Map"),
        (lambda: chain(8), "Figure"),
        (lambda: chain(30), "Figure"),
        (in_scopes, "Map"),
    ],
    ids=["small", "deep", "short chain", "chain without cards", "scopes"],
)
def test_the_figure_if_it_is_read_at_once_else_cards_if_there_are_any(program: Callable[[], av.Tensor], kind: str) -> None:
    loss = program()
    models = {f"m{layers}": model for layers, model in MODELS.items()}
    params = {f"{name}.{of}": p for name, model in models.items() for of, p in model.named_parameters()}
    assert type(av.show(loss, params=params)).__name__ == kind
    assert ("map" in av.step(loss, params=params).picture) == (kind == "Map")
    assert type(av.show(loss, detail="full")).__name__ == type(av.show(loss, collapse=True)).__name__ == "Figure"


def test_a_saved_page_has_the_picture_that_show_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from autograd_viz.verbs import formats

    written = []
    monkeypatch.setattr(formats, "html_page", lambda *a: written.append(type(a[-1]).__name__) or "")
    for layers, model in MODELS.items():
        av.save(mlp(layers), tmp_path / "x.html", params=model)
    assert written == ["Drawing", "MapDrawing"]


def test_a_large_graph_is_grouped_and_laid_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def counted(name: str, work: Callable[..., Any]) -> None:
        monkeypatch.setattr(drawing, name, lambda *args: done.append(name) or work(*args))

    counted("group_tree", drawing.group_tree)
    counted("layout", drawing.layout)
    assert "collapsed" in repr(av.show(chain(200)))
    assert done == ["group_tree", "layout"]
