"""The pictures of README and docs. Each shows a program in the folder `programs`."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any, NamedTuple

import autograd_viz as av

from .program import evaluate

PROGRAMS = Path(__file__).parent / "programs"


class Picture(NamedTuple):
    """A file, the program that it shows, and the call that draws it."""

    file: str
    program: str
    call: str


PICTURES = (
    # the six programs of Elliot Waite's diagrams, each after its backward pass
    Picture("1_one_multiplication.svg", "one_multiplication", "av.save(c, $path)"),
    Picture("2_one_gradient.svg", "one_gradient", "av.save(c, $path)"),
    Picture("3_chain_rule.svg", "chain_rule", "av.save(e, $path)"),
    Picture("4_retained.svg", "retained", "av.save(e, $path)"),
    Picture("5_several_outputs.svg", "several_outputs", "av.save(e, $path)"),
    Picture("6_fan_in.svg", "fan_in", "av.save(k, $path)"),
    # more pictures; the animation is small, because every reader of the README downloads it
    Picture("stepping.gif", "before_backward", "av.save(e, $path, scale=0.75, duration=2.0)"),
    Picture("stepping.svg", "before_backward", "av.save(e, $path, step=3, theme='dark')"),
    Picture("map.svg", "vanishing", "av.save(av.map(loss), $path)"),
    Picture("groups.svg", "twelve_layers", "av.save(loss, $path)"),
    Picture("explained.svg", "dead_relu", "$path.write_text(av.explain(x, show=True).svg, encoding='utf-8')"),
)


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
    for picture in PICTURES:
        evaluate(variables_of(picture.program), picture.call, path=folder / picture.file)
    return [folder / picture.file for picture in PICTURES]
