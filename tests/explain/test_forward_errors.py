"""An error of a forward pass: what had run is named, and drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz import cli

from .explained import LIBRARIES

PROGRAM = "{imported}w = torch.ones(2, 3, requires_grad=True)\nh = w * 2\nloss = h @ torch.ones(4, 1)\n"


def failed(library: str) -> BaseException:
    """The error of a product of shapes that do not match."""
    torch: Any = av if library == "core" else pytest.importorskip("torch")
    try:
        exec(PROGRAM.format(imported=""), {"torch": torch})
    except Exception as error:
        return error
    raise AssertionError


@LIBRARIES
def test_explain_names_what_ran_before_the_error_and_show_draws_it(library: str) -> None:
    error = failed(library)
    said = str(av.explain(error))
    assert said.startswith("Before the error, ") and "made a tensor of shape (2, 3)" in said and "av.show(error)" in said
    assert "Mul" in av.show(error).svg and "Mul" in av.explain(error, show=True).svg


def test_an_error_without_any_tensor_has_no_picture() -> None:
    error = ValueError("no")
    assert str(av.explain(error)) == "explain() knows no more about this error than its message."
    with pytest.raises(av.NotDrawableError, match="expected a tensor"):
        av.show(error)


@LIBRARIES
def test_the_command_draws_what_ran(library: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    script = tmp_path / "train.py"
    imported = "import torch\n" if library == "torch" else "import autograd_viz as torch\n"
    script.write_text(PROGRAM.format(imported=imported), encoding="utf-8")
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert cli.main(["render", str(script), "-o", str(tmp_path / "what.svg")]) == 1
    assert "Mul" in (tmp_path / "what.svg").read_text("utf-8")
    assert "the picture shows what ran before the error" in capsys.readouterr().err
