"""What benchmarks compare, and that they say so; their times are nobody's test."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from pathlib import Path
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


def test_these_files_and_a_commit_are_measured_side_by_side_and_the_commit_is_removed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The package and PyTorch are NumPy here, which imports at once."""
    from benchmarks import against

    root, package, ran, temporary = (tmp_path / name for name in ("root", "root/autograd_viz", "ran", "temporary"))
    package.mkdir(parents=True)
    temporary.mkdir()
    (root / "benchmarks").symlink_to(against.ROOT / "benchmarks")
    (root / "torch.py").write_text("from numpy import zeros\nfrom numpy.random import randn\nset_num_threads = int\n")
    text = "import os\nfrom torch import *\nwith open(os.environ['RAN'], 'a') as file:\n    file.write('{} ')\n"
    (package / "__init__.py").write_text(text.format("committed"))
    for command in ("init -q", "add autograd_viz", "-c user.name=a -c user.email=a@b.example commit -q -m m"):
        subprocess.run(["git", *command.split()], cwd=root, check=True)
    (package / "__init__.py").write_text(text.format("present"))
    monkeypatch.setenv("RAN", str(ran))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(against, "ROOT", root)
    monkeypatch.setattr(against, "PROCESSES", 1)
    against.compare("HEAD", ["scalar_writes"])
    assert sorted(ran.read_text().split()) == ["committed", "present"]
    assert not os.listdir(temporary)
    header, row = capsys.readouterr().out.splitlines()
    assert header.split()[-2:] == ["HEAD", "quotient"]
    assert row.split()[0] == "scalar_writes" and len(row.split()) == 4
    with pytest.raises(SystemExit, match="git archive nothing"):
        against.compare("nothing", ["scalar_writes"])
