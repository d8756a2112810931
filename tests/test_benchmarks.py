"""What the benchmark of pictures compares, and that it says so; its times are nobody's test."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

pytestmark = pytest.mark.torch


@pytest.fixture
def pictures() -> Any:
    pytest.importorskip("torch")
    from benchmarks import pictures

    return pictures


def test_whole_graphs_are_compared_with_whole_graphs_and_maps_with_maps(pictures: Any) -> None:
    tools = {table.title: (*table.bases, *table.tools) for table in pictures.TABLES}
    assert {t for all in tools.values() for t in all} == set(pictures.RUNS), "each run stands in a table"
    whole = tools["the whole backward graph, every node drawn"]
    assert whole == ("torchviz", "torchviz with show_saved", "show, whole")
    assert "recorded and map" in tools["a map of modules, with the forward pass"]


def test_a_whole_graph_has_every_node_and_a_first_picture_may_be_a_map(pictures: Any) -> None:
    """Three large pictures are drawn."""
    for tool, how in (("show, whole", "each drawn"), ("show", "as a map"), ("recorded and show, whole", "each drawn")):
        found = pictures.RUNS[tool](*pictures.MODELS["cnn"]())
        assert found["shows"].startswith("130 nodes, 58 ops, ") and found["shows"].endswith(how)


def test_what_is_not_installed_is_said_and_left_out(
    pictures: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(pictures, "in_a_process", lambda model, tool: (0.5, "said"))
    pictures.show_table(pictures.TABLES[0], "mlp")
    assert capsys.readouterr().out.splitlines()[2:] == [
        "- torchviz: not installed",
        "- torchviz with show_saved: not installed",
        "- show, whole: 500 ms; said",
    ]


def test_ours_is_told_in_parts_of_both_torchviz_pictures(
    pictures: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = {"torchviz": 1.0, "torchviz with show_saved": 2.0, "show, whole": 0.5}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(pictures, "in_a_process", lambda model, tool: (times[tool], "said"))
    pictures.show_table(pictures.TABLES[0], "mlp")
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "- show, whole: 500 ms; 0.50 of torchviz; 0.25 of torchviz with show_saved; said"
