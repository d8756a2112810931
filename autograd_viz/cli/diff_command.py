"""The command `diff`: two scripts side by side, or what they have saved.

Each script runs in a process of its own, so that both find their own modules and the same random numbers. It writes the run of
the model that it trains, or else its last pass, and the two files are compared.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import autograd_viz as av

from ..verbs.formats import PAGED, check_among
from ..verbs.watch import NamedRun, each_run
from .program import ProgramError, UsageError, evaluate, read
from .says import tell
from .tensor_commands import begun, on_root


def diff(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Compare two scripts, or .json files that `save` wrote, and say where they part first."""
    if arguments.side is not None:
        _side(arguments, rest)
        return
    if arguments.b is None:
        raise UsageError("diff compares two scripts, or two .json files, and the second is missing")
    if arguments.output is not None:
        check_among(PAGED, arguments.output)
    given = (arguments.a, arguments.b)
    for path in given:
        if path.suffix != ".json":
            read(path)  # before the other runs, which may take long
    with tempfile.TemporaryDirectory(prefix="autograd_viz_") as folder:
        sides = [_written(path, arguments.name, rest, Path(folder) / str(k)) for k, path in enumerate(given)]
        try:
            found = av.diff(*sides)
        except TypeError:
            raise UsageError("one of the two trains a model, and the other does not: they have nothing to compare") from None
        tell(found, "\n".join(found.sentences), arguments)


def _written(path: Path, name: str | None, rest: list[str], folder: Path) -> str:
    """The file of a side. ProgramError: its script has failed, and has said why."""
    if path.suffix == ".json":
        return str(path)
    folder.mkdir()
    side = folder / f"{path.stem}.json"
    named = [] if name is None else ["--name", name]
    command = [sys.executable, "-m", __package__, "diff", str(path), "--side", str(side), *named, "--", *rest]
    code = subprocess.run(command, stdout=sys.stderr.fileno(), check=False).returncode
    if code or not side.exists():
        raise ProgramError(f"autograd-viz: {path} gave nothing to compare", code or 1)
    return str(side)


def _side(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Run a script, and write its run, or its last pass."""
    arguments.script, arguments.is_module, name = arguments.a, False, arguments.name

    def trained() -> list[NamedRun]:
        there = [named for named in runs if named.run.history.steps]
        return [named for named in there if named.name == name] or ([] if name is not None else there)

    def act(namespace: dict[str, Any], root: Any, gradient: Any) -> None:
        if not trained():
            evaluate(namespace, "av.save($root, $path)", root=begun(namespace, root, gradient), path=arguments.side)

    with each_run(stop=False) as runs:
        try:
            on_root(arguments, rest, act)
        except UsageError:  # a model is trained, and no tensor is left
            if not trained():
                raise
    for named in trained()[:1]:
        av.save(named.run, arguments.side)
