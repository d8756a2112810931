"""Programs as teachers write them, which begin with `import torch`: the playground runs and steps them with PyTorch's numbers.

`foreign/printed.json` has what each prints with PyTorch 2.13.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOREIGN = Path(__file__).parent / "foreign"
PROGRAMS = {file.stem: file.read_text(encoding="utf-8") for file in sorted(FOREIGN.glob("*.txt"))}
PRINTED: dict[str, str] = json.loads((FOREIGN / "printed.json").read_text(encoding="utf-8"))
NOT_STEPPED = {"second_derivative"}  # it ends with grad(), which frees its graph: the page says so beside the figure
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
# as a page runs them: one process, where `torch` is the twin
RUNS = """
import json, sys
from autograd_viz.cli import tab
tab.start()
for program in json.load(sys.stdin):
    printed = []
    result = json.loads(tab.run(program, printed.append))
    print(json.dumps([result["error"], [shown["kind"] for shown in result["shown"]], result["said"], "".join(printed)]))
"""


def numbers(printed: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(printed)]


WITHOUT_A_PASS = {
    "forward": "import torch\na = torch.tensor(2.0)\nb = a * 3 + 1",
    "vector": "import torch\nx = torch.ones(3, requires_grad=True)\ny = x * 2",
    "nothing": "x = 3",
}


@pytest.fixture(scope="module")
def results() -> dict[str, tuple[Any, list[str], str, str]]:
    """Of each program: its error, what is shown, what is said about it, and what it printed."""
    programs = {**PROGRAMS, **WITHOUT_A_PASS}
    given = json.dumps(list(programs.values()))
    done = subprocess.run([sys.executable, "-c", RUNS], input=given, capture_output=True, text=True, check=True)
    return dict(zip(programs, map(json.loads, done.stdout.splitlines()), strict=True))


def test_they_print_pytorchs_numbers_and_are_stepped(results: dict[str, tuple[Any, list[str], str, str]]) -> None:
    assert len(PROGRAMS) == 20
    for name in PROGRAMS:
        error, shown, said, printed = results[name]
        assert error is None, (name, error)
        assert shown == ["picture"] and "freed its graph" in said if name in NOT_STEPPED else shown == ["stepper"], name
        assert NUMBER.sub("#", printed) == NUMBER.sub("#", PRINTED[name]), name
        assert numbers(printed) == pytest.approx(numbers(PRINTED[name]), rel=1e-6, abs=1e-7), name


def test_a_program_without_a_backward_pass_is_drawn_too(results: dict[str, tuple[Any, list[str], str, str]]) -> None:
    shown = {name: results[name][1] for name in WITHOUT_A_PASS}
    assert shown == {"forward": ["stepper"], "vector": ["picture"], "nothing": []}
    assert results["forward"][2] == "No tensor requires grad: this steps the forward pass alone."
    assert "sum() it first" in results["vector"][2]


@pytest.mark.torch
def test_pytorch_prints_what_is_kept() -> None:
    torch = pytest.importorskip("torch")
    for name, program in PROGRAMS.items():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, name, "exec"), {"__name__": "__main__"})
        torch.set_printoptions(profile="default")
        assert numbers(printed.getvalue()) == pytest.approx(numbers(PRINTED[name]), rel=1e-5, abs=1e-6), name
