"""An error of a forward pass: what had run is named, and drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz import cli

from .explained import LIBRARIES

PROGRAM = "{imported}w = torch.ones(2, 3, requires_grad=True)\nh = w * 2\nloss = h + torch.ones(4)\n"


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


@LIBRARIES
def test_what_ran_has_the_names_of_its_own_frame(library: str) -> None:
    error = failed(library)
    found = [t.name for t in av.show(error).drawing.document.tensors]  # type: ignore[union-attr]
    assert "h" in found and "w" in found and "tensor" not in found


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


HEAD = "net, w = torch.nn.Linear(4, 2), torch.ones(2, 3, requires_grad=True)\n"
MEANT = {
    "rows of another length": ("net(w * 2)", "net takes 4 columns, and got 3."),
    "an image in another order": (
        "torch.nn.Conv2d(3, 4, 2)((w * 2)[None].expand(5, 2, 3))",
        "Conv2d takes 3 channels, and got 5.",
    ),
    "a class that is not there": ("F.cross_entropy(w * 2, torch.tensor([1, 3]))", "Target 3 is outside of 0 … 2."),
    "targets of whole numbers": (
        "F.binary_cross_entropy_with_logits(w * 2, torch.ones(2, 3, dtype=torch.int64))",
        "The targets are int64, and the predictions float32.",
    ),
    "numbers of NumPy": ("net(torch.ones(2, 4, dtype=torch.float64) * w[0, 0])", "net got Double, and its weight is Float."),
    "an index outside of the table": (
        "torch.nn.Embedding(3, 2)(torch.tensor([3])) * w[0, 0]",
        "An index is negative, or not below 3, the rows of Embedding.",
    ),
    "columns without a layer": ("(w * 2) @ torch.ones(4, 1)", "The first matrix has 3 columns, and the second 4 rows."),
    "channels without a layer": (
        "F.conv1d((w * 2)[None], torch.ones(1, 3, 1))",
        "The input has 2 channels, and the weight takes 3.",
    ),
    "an index without a table": (
        "w.index_select(0, torch.tensor([2]))",
        "An index is negative, or not below the number of rows.",
    ),
    "a result that is no whole number": (
        "torch.ones(2, dtype=torch.int64).mul_(0.5)",
        "The result is Float, and cannot be written into Long.",
    ),
    "class indices that are no whole numbers": (
        "F.cross_entropy(w * 2, torch.ones(2))",
        "The targets are Float, and class indices must be Long.",
    ),
    "rows that do not match": ("F.cross_entropy(w * 2, torch.tensor([1]))", "The predictions have 2 rows, and the targets 1."),
    "targets of another shape": (
        "F.binary_cross_entropy_with_logits(net(torch.ones(2, 4))[:, :1], torch.ones(2))",
        "The targets have shape (2), and the predictions (2, 1).",
    ),
    "class indices with a dimension too many": (
        "F.cross_entropy(w * 2, torch.tensor([[1], [2]]))",
        "Class indices have shape (n,), and these have one more dimension.",
    ),
    "rows of whole numbers": (
        "F.cross_entropy(w * 2, torch.ones(2, 3, dtype=torch.int64))",
        "Targets with the shape of the scores are probabilities, and these are Long.",
    ),
    "indices that are no whole numbers": (
        "torch.nn.Embedding(3, 2)(w[0] * 2)",
        "An embedding takes indices of whole numbers, and got Float.",
    ),
    "features of another layer": ("torch.nn.LSTM(4, 2)((w * 2)[None])", "The layer takes 4 features, and got 3."),
    "a view of a transposed matrix": ("(w * 2).T.view(-1)", "view() needs elements that lie in order in memory."),
    "two parts of different sizes": (
        "torch.cat([w * 2, torch.ones(2, 4)])",
        "All dimensions but 0 must be equal, and 3 meets 4.",
    ),
    "a number of several elements": ("(w * 2).item()", "Only one element becomes a number, and this tensor has 6."),
    "a half and a float": ("(w * 2) @ torch.ones(3, 2, dtype=torch.half)", "One of the two is "),
    "a distribution without width": ("torch.distributions.Normal(w, w * 0)", "scale of Normal must be above 0"),
    "a distribution of nan": ("torch.distributions.Normal(w * float('nan'), torch.ones(2, 3))", "Normal got nan as its loc."),
}


USERS = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        return {0}

Net()(w * 2)
"""
MEANT |= {
    "a layer of a module": (USERS.format("self.head(x)"), "self.head takes 4 columns, and got 3."),
    "a product in a module": (USERS.format("x @ self.head.weight.T"), "The first matrix has 3 columns, and the second 4 rows."),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", MEANT)
def test_what_does_not_fit_in_the_forward_pass_is_said_with_its_numbers(name: str) -> None:
    torch = pytest.importorskip("torch")
    torch.distributions.Distribution.set_default_validate_args(True)  # as it is unless someone has changed it
    program, said = MEANT[name]
    try:
        exec(HEAD + program, {"torch": torch, "F": torch.nn.functional})
    except Exception as error:
        assert str(av.explain(error)).partition(" (")[0].startswith(said.partition(" (")[0].rstrip(".")), av.explain(error)
        return
    raise AssertionError
