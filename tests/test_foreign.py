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


def test_they_print_pytorchs_numbers_and_are_stepped() -> None:
    programs = json.dumps(list(PROGRAMS.values()))
    done = subprocess.run([sys.executable, "-c", RUNS], input=programs, capture_output=True, text=True, check=True)
    results = dict(zip(PROGRAMS, map(json.loads, done.stdout.splitlines()), strict=True))
    assert len(PROGRAMS) == 20
    for name, (error, shown, said, printed) in results.items():
        assert error is None, (name, error)
        assert shown == ["picture"] and "freed its graph" in said if name in NOT_STEPPED else shown == ["stepper"], name
        assert NUMBER.sub("#", printed) == NUMBER.sub("#", PRINTED[name]), name
        assert numbers(printed) == pytest.approx(numbers(PRINTED[name]), rel=1e-6, abs=1e-7), name


def test_a_program_without_a_backward_pass_is_drawn_too() -> None:
    forward = "import torch\na = torch.tensor(2.0)\nb = a * 3 + 1"
    vector = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x * 2"
    programs = json.dumps([forward, vector, "x = 3"])
    done = subprocess.run([sys.executable, "-c", RUNS], input=programs, capture_output=True, text=True, check=True)
    (_, steps, said, _), (_, picture, why, _), (_, nothing, _, _) = map(json.loads, done.stdout.splitlines())
    assert (steps, picture, nothing) == (["stepper"], ["picture"], [])
    assert said == "No tensor requires grad: this steps the forward pass alone." and "sum() it first" in why


@pytest.mark.torch
def test_pytorch_prints_what_is_kept() -> None:
    torch = pytest.importorskip("torch")
    for name, program in PROGRAMS.items():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, name, "exec"), {"__name__": "__main__"})
        torch.set_printoptions(profile="default")
        assert numbers(printed.getvalue()) == pytest.approx(numbers(PRINTED[name]), rel=1e-5, abs=1e-6), name
