"""Runs a user's script or notebook, and asks the verbs about its variables."""

from __future__ import annotations

import ast
import os
import sys
import traceback
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import autograd_viz as av

from .cells import NoShell, cells_of

HIDDEN = "variables inside of functions are not seen: return the loss, and assign it at the end of the script"
HERE = str(Path(__file__).resolve().parent)
VERB = "__autograd_viz__"  # under which the package stands in the namespace while a verb is asked


class ProgramError(Exception):
    """The user's program raised; `text` is its traceback, without our frames."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class UsageError(Exception):
    """What was asked for is not there."""


def run_program(path: Path, arguments: list[str]) -> dict[str, Any]:
    """The variables of a script (.py) or notebook (.ipynb) after it has run; PyTorch programs are recorded.

    Args:
        path: the file.
        arguments: its ``sys.argv[1:]``.

    Raises:
        UsageError: it cannot be read.
        ProgramError: it raised.
    """
    try:
        cells = cells_of(path)
    except (OSError, ValueError, KeyError, SyntaxError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    if path.suffix == ".ipynb":
        shell = NoShell(namespace)
        namespace["get_ipython"] = lambda: shell
    before, folder = (sys.argv, sys.path[:]), os.getcwd()
    sys.argv, sys.path[:] = [str(path), *arguments], [str(path.resolve().parent), *sys.path]
    try:
        with av.record() if any(_uses_torch(text) for _, text in cells) else nullcontext():
            for name, text in cells:
                exec(compile(text, name, "exec"), namespace)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise ProgramError(f"{path} has ended with exit code {end.code}\n") from None
    except BaseException as error:
        raise ProgramError(_traceback(error)) from None
    finally:
        sys.argv, sys.path[:] = before
        with suppress(OSError):  # the program may have removed it
            os.chdir(folder)  # what is written next stands where the user is
    return namespace


def _uses_torch(text: str) -> bool:
    """Does it import PyTorch? (That takes a second: programs that do not are not made to.)"""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    names = [n.module or "" if isinstance(n, ast.ImportFrom) else a.name for n in imports for a in n.names]
    return any(name.split(".")[0] == "torch" for name in names)


def _traceback(error: BaseException) -> str:
    told = traceback.TracebackException.from_exception(error)
    told.stack = traceback.StackSummary.from_list([f for f in told.stack if not f.filename.startswith(HERE)])
    return "".join(told.format())


def root_of(namespace: dict[str, Any], name: str | None, path: Path) -> str:
    """The name of the tensor that is drawn: `name`, or `loss`, or the last one that has a grad_fn.

    Raises:
        UsageError: there is none.
    """
    there = [n for n, v in namespace.items() if _is_tensor(v) and not n.startswith("_")]
    if name is not None:
        if name not in there:
            raise UsageError(f"{path} has no tensor called {name!r}; it has: {', '.join(there) or 'none'}")
        return name
    found = [n for n in there if namespace[n].grad_fn is not None]
    if not found:
        else_ = f"say which one with --name; it has: {', '.join(there)}" if there else HIDDEN
        raise UsageError(f"{path} has no tensor with a grad_fn; {else_}")
    return "loss" if "loss" in found else found[-1]


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return isinstance(value, av.Tensor) or (torch is not None and isinstance(value, torch.Tensor))


def asked(namespace: dict[str, Any], expression: str, **values: Any) -> Any:
    """A verb as the program itself would call it, so that it sees the program's variables.

    Args:
        namespace: the program's variables.
        expression: Python code in which `av` is this package: "av.step(loss)".
        values: further names in it.
    """
    names = {VERB: av, **{f"__{k}__": v for k, v in values.items()}}
    for name in values:
        expression = expression.replace(f"${name}", f"__{name}__")
    namespace.update(names)
    try:
        return eval(expression.replace("av.", f"{VERB}."), namespace)
    finally:
        for name in names:
            namespace.pop(name, None)
