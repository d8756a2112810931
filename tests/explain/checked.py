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
LIBRARIES = ["core", pytest.param("torch", marks=pytest.mark.torch)]


def found(program: str, library: str, **options: Any) -> Findings:
    """What all checks find in a program, as if it stood in a file."""
    torch: Any = av if library == "core" else pytest.importorskip("torch")
    torch.manual_seed(0)
    events.passes.clear()
    file, names = f"<checked {next(_numbers)}>", {"torch": torch}
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    with av.watch() if library == "torch" else nullcontext() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(program, file, "exec"), names)
        except RuntimeError as error:
            return av.check(error, **options)
        answer: Findings = eval("check(**options)", {**names, "check": av.check, "options": options})
        assert watch is None or not watch.faults, watch.faults
    return answer
