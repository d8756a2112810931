"""The programs of the six figures, run as a user would: from source text that can be seen, in their own namespace."""

from __future__ import annotations

import linecache
from typing import Any

import autograd_viz
from autograd_viz.cli import gallery

FIGURES = {
    1: ("c", "one_multiplication"),
    2: ("c", "one_gradient"),
    3: ("e", "chain_rule"),
    4: ("e", "retained"),
    5: ("e", "several_outputs"),
    6: ("k", "fan_in"),
}


def _text(program: str) -> str:
    """A program of the gallery without its head, for either library."""
    whole = (gallery.PROGRAMS / f"{program}.py").read_text(encoding="utf-8")
    return whole.partition("import autograd_viz as av\n\n")[2].replace("av.", "torch.")


PROGRAMS = {number: (root, _text(program)) for number, (root, program) in FIGURES.items()}


def run(code: str) -> dict[str, Any]:
    """The namespace after running `code` with autograd_viz as torch."""
    name = f"<program {abs(hash(code))}>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    namespace: dict[str, Any] = {"torch": autograd_viz, "__name__": "program"}
    exec(compile(code, name, "exec"), namespace)
    return namespace


def figure(number: int, before: bool = False) -> tuple[Any, dict[str, Any]]:
    """The root tensor and the namespace of a figure, before or after its backward()."""
    root, code = PROGRAMS[number]
    if before:
        code = code.replace(f"{root}.backward()\n", "")
    namespace = run(code)
    return namespace[root], namespace
