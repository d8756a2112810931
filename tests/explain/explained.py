"""Programs that end in the question av.explain(...), run as if they stood in a file."""

from __future__ import annotations

import itertools
import linecache
import warnings
from typing import Any

import numpy as np

import autograd_viz as av

_numbers = itertools.count()
X = "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"  # line 1 of most programs


def told(program: str, ask: str = "x", **names: Any) -> Any:
    """What explain says after a program whose module is called torch; its lines count from 1."""
    file = f"<program {next(_numbers)}>"
    text = f"{program.strip(chr(10))}\nanswer = explain({ask})\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    variables: dict[str, Any] = {"torch": av, "F": av.nn.functional, "np": np, "explain": av.explain, **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, file, "exec"), variables)
    return variables["answer"]


def after_backward(expression: str, ask: str = "x") -> Any:
    """What explain says of x = [1, 2, 3] after `loss = (expression).sum(); loss.backward()`: the expression is on line 2."""
    return told(f"{X}y = {expression}\nloss = y.sum()\nloss.backward()", ask)


def kinds(explanation: Any) -> list[str]:
    """The kinds of its causes."""
    return [c.kind for c in explanation.causes]


def lines(explanation: Any) -> list[int | None]:
    """The lines that its causes name."""
    return [None if c.source is None else c.source.line for c in explanation.causes]
