"""Programs that end in the question av.explain(...), run as if they stood in a file."""

from __future__ import annotations

import itertools
import linecache
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

_numbers = itertools.count()
X = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"  # line 1 of most programs


def told(program: str, ask: str = "x", watched: bool = True, **names: Any) -> Any:
    """What explain says after a program whose module is called torch; its lines count from 1.

    Args:
        program: the lines.
        ask: the arguments of explain.
        watched: the recorder is on, if the program is one of PyTorch's.
        names: variables of the program: its `torch`, if that is not to be autograd_viz.
    """
    file = f"<program {next(_numbers)}>"
    text = f"{program.strip(chr(10))}\nanswer = explain({ask})\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    framework = names.get("torch", av)
    variables: dict[str, Any] = {"F": framework.nn.functional, "np": np, "explain": av.explain, "torch": framework, **names}
    with av.watch() if watched and framework is not av else nullcontext() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, file, "exec"), variables)
        assert watch is None or not watch.faults, watch.faults
    return variables["answer"]


def kinds(explanation: Any) -> list[str]:
    """The kinds of its causes."""
    return [c.kind for c in explanation.causes]


def lines(explanation: Any) -> list[int | None]:
    """The lines that its causes name."""
    return [None if c.source is None else c.source.line for c in explanation.causes]


LIBRARIES = pytest.mark.parametrize("library", ["core", pytest.param("torch", marks=pytest.mark.torch)])


def run(program: str, library: str, ask: str = "x", watched: bool = False) -> Any:
    """What explain says after a program of the core or of PyTorch.

    Args:
        program: its module is called torch; `with record():` keeps the lines of PyTorch's ops, as the core does by itself.
        library: "core" or "torch".
        ask: what is asked.
        watched: the recorder is on.
    """
    module: Any = av if library == "core" else pytest.importorskip("torch")
    record = nullcontext if library == "core" else av.record
    return told(program, ask, watched, **{"torch": module, "F": module.nn.functional, "av": av, "record": record})


def stepped(program: str, library: str, ask: str = "x") -> Any:
    """The same after its loss was stepped through, so that all numbers of the pass are known."""
    return run(f"{program}\nav.step(loss).finish()", library, ask)


def of_expression(expression: str, library: str, ask: str = "x") -> Any:
    """The same of x = [1, 2, 3] and `loss = (expression).sum()`; the expression is on line 3."""
    return stepped(f"{X}with record():\n    y = {expression}\n    loss = y.sum()", library, ask)


def blamed(explanation: Any) -> list[str]:
    """The op that each cause blames, by the class of its first node: "Relu" for ReluBackward0; "" for none."""
    names = {n.id: n.name for n in explanation.document.nodes}
    return [names[c.nodes[0]].partition("Backward")[0] if c.nodes else "" for c in explanation.causes]
