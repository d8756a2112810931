"""Programs that end in a question to all checks, run as if they stood in a file."""

from __future__ import annotations

import itertools
import linecache
import warnings
from contextlib import nullcontext
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.twin.core.base import events
from autograd_viz.verbs.check import Findings

_numbers = itertools.count()
BEGIN = "import copy\nnn, F, optim = torch.nn, torch.nn.functional, torch.optim\n"  # of programs of PyTorch
STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"
CLASSES = (
    """
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3){0})
opt = optim.SGD(net.parameters(), 0.1)
for i in range(4):
    x, y = torch.randn(24, 4), torch.arange(24) % 3
    loss = {1}
"""
    + STEP
)
HAND = """
x, y = torch.randn(24, 1), torch.randn(24)
w, b = torch.randn(1, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
opt = optim.Adam([w, b], 0.05)
for i in range(40):
    out = {0}
    loss = torch.mean(({1}) ** 2)
    opt.zero_grad(); loss.backward(); opt.step()
"""
LIBRARIES = ["core", pytest.param("torch", marks=pytest.mark.torch)]


def found(program: str, library: str, is_watched: bool = True, **options: Any) -> Findings:
    """What all checks find in a program, as if it stood in a file. One of PyTorch runs under `av.watch()`, or as it is."""
    torch: Any = av if library == "core" else pytest.importorskip("torch")
    torch.manual_seed(0)
    events.passes.clear()
    file, names = f"<checked {next(_numbers)}>", {"torch": torch, "av": av}
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    with av.watch() if library == "torch" and is_watched else nullcontext() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(program, file, "exec"), names)
        except RuntimeError as error:
            return av.check(error, **options)
        answer: Findings = eval("check(**options)", {**names, "check": av.check, "options": options})
        assert watch is None or not watch.faults, watch.faults
    return answer


def assert_told_apart(fault: str, twin: str, said: str) -> None:
    """Words are said of a program of PyTorch, and not of its twin."""
    assert said in str(found(BEGIN + fault, "torch"))
    assert said not in str(found(BEGIN + twin, "torch"))
