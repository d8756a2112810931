"""The pictures of README and docs. Each shows a program in the folder `programs`."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import autograd_viz as av

from .program import evaluate

PROGRAMS = Path(__file__).parent / "programs"
# by file: the program that it shows, and the call that draws it
PICTURES = {
    # the six programs of Elliot Waite's diagrams, each after its backward pass
    "1_one_multiplication.svg": ("one_multiplication", "av.save(c, $path)"),
    "2_one_gradient.svg": ("one_gradient", "av.save(c, $path)"),
    "3_chain_rule.svg": ("chain_rule", "av.save(e, $path)"),
    "4_retained.svg": ("retained", "av.save(e, $path)"),
    "5_several_outputs.svg": ("several_outputs", "av.save(e, $path)"),
    "6_fan_in.svg": ("fan_in", "av.save(k, $path)"),
    # more pictures; the animation is small, because every reader of the README downloads it
    "stepping.gif": ("before_backward", "av.save(e, $path, scale=0.75, duration=2.0)"),
    "stepping.svg": ("before_backward", "av.save(e, $path, step=3, theme='dark')"),
    "map.svg": ("vanishing", "av.save(av.map(loss), $path)"),
    "groups.svg": ("twelve_layers", "av.save(loss, $path)"),
    "explained.svg": ("dead_relu", "$path.write_text(av.explain(x, show=True).svg, encoding='utf-8')"),
}


def variables_of(program: str) -> dict[str, Any]:
    """The variables of one of our programs after it has run as a user's program, so that pictures show its lines."""
    name, text = f"{program}.py", (PROGRAMS / f"{program}.py").read_text(encoding="utf-8")
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    variables: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, name, "exec", dont_inherit=True), variables)
    return variables


def gallery(folder: Path) -> list[Path]:
    """Draw the pictures into a folder, which is created if it is missing. CannotWriteError if it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise av.CannotWriteError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    for file, (program, call) in PICTURES.items():
        evaluate(variables_of(program), call, path=folder / file)
    return [folder / file for file in PICTURES]
