"""Runs a user's script or notebook, and asks the verbs about its variables."""

from __future__ import annotations

import ast
import os
import sys
import traceback
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import autograd_viz as av

from .runnable import NoShell, cells_of

HIDDEN = "variables inside functions are not visible: return the loss and assign it at the end of the script"
FREED = (
    "{script} already called backward(), which freed the graph. To step that pass, "
    "put the line `raise SystemExit` above the call"
)
OURS = (str(Path(av.__file__).parent) + os.sep, "<autograd_viz")  # files of frames that are no concern of the user's
HEADER = "Traceback (most recent call last):\n"
RECORDING = tuple(os.path.join("torch", *file) for file in (("_compile.py",), ("_dynamo", "eval_frame.py"), ("_ops.py",)))
VERB = "__autograd_viz__"  # under which the package stands in the namespace while a verb is asked


class ProgramError(Exception):
    """The user's program raised or has ended itself.

    Attributes:
        text: its traceback, without our frames, or its last words.
        code: its exit code.
    """

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.text, self.code = text, code


class UsageError(Exception):
    """What was asked for is not there."""


def run_program(path: Path, arguments: list[str]) -> dict[str, Any]:
    """The variables of a script (.py) or notebook (.ipynb) after it has run as Python runs it; PyTorch programs are recorded.

    From then on `__main__`, `sys.argv` and `sys.path` are its own: this process is the program's.

    Args:
        path: the file.
        arguments: its ``sys.argv[1:]``.

    Raises:
        UsageError: it cannot be read.
        ProgramError: it raised, or has ended with an exit code.
    """
    cells = _readable_cells(path)
    main, folder, process = ModuleType("__main__"), os.getcwd(), os.getpid()
    if path.suffix == ".ipynb":
        shell = NoShell(vars(main))
        vars(main)["get_ipython"] = lambda: shell
    else:
        main.__file__ = str(path.absolute())
    sys.modules["__main__"] = main
    sys.argv, sys.path[:0] = [str(path), *arguments], [str(path.resolve().parent)]
    try:
        with av.record() if any(_uses_torch(text) for _, text in cells) else nullcontext():
            for name, text in cells:
                exec(compile(text, name, "exec", dont_inherit=True), vars(main))
    except SystemExit as end:
        if os.getpid() != process:
            raise  # the end of a child that the program has forked
        if end.code not in (None, 0):
            raise _ended(path, end.code) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ProgramError(_traceback(error)) from None
    finally:
        with suppress(OSError):  # the program may have removed it
            os.chdir(folder)  # what is written next stands where the user is
    if os.getpid() != process:
        raise SystemExit
    return vars(main)


def _readable_cells(path: Path) -> list[tuple[str, str]]:
    """(name, code) of what is to be run.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return cells_of(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, TypeError, LookupError, SyntaxError, RecursionError) as error:
        raise UsageError(f"cannot read {path}: {_unreadable(path, error)}") from error


def watched(path: Path) -> AbstractContextManager[Any]:
    """Inside, the recorder watches a program of PyTorch's; nothing if it cannot be read."""
    try:
        cells = cells_of(path)
    except Exception:  # run_program says what is wrong with it
        return nullcontext()
    return av.watch() if any(_uses_torch(text) for _, text in cells) else nullcontext()


def _unreadable(path: Path, error: Exception) -> str:
    """Why what is in a file is no program."""
    if path.suffix != ".ipynb":
        return f"it is not a Python script ({error})" if isinstance(error, SyntaxError) else "it is not a text file"
    found = f" ({error})" if isinstance(error, ValueError) else ""
    return f"it is not a Jupyter notebook{found}"


def _ended(path: Path, code: Any) -> ProgramError:
    """What Python makes of ``sys.exit(code)``."""
    if isinstance(code, int):
        return ProgramError(f"autograd-viz: {path} ended with exit code {code}", code)
    return ProgramError(str(code))


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
    """As Python prints it, without the frames of this package and of what PyTorch needs to be recorded."""
    told = traceback.TracebackException.from_exception(error)
    stack = [f for f in told.stack if not f.filename.startswith(OURS) and not f.filename.endswith(RECORDING)]
    told.stack = traceback.StackSummary.from_list(stack)
    text = "".join(told.format())
    return text if stack else text.removeprefix(HEADER)  # without a frame it is a syntax error


def root_of(namespace: dict[str, Any], name: str | None, path: Path) -> Any:
    """The tensor that is drawn: that called `name`, or `loss`, or the last one that has a grad_fn.

    Raises:
        UsageError: there is none.
    """
    there = [n for n, v in namespace.items() if _is_tensor(v) and not n.startswith("_")]
    if name is not None:
        if name not in there:
            raise UsageError(f"{path} has no tensor called {name!r}; it has: {', '.join(there) or 'none'}")
        return namespace[name]
    found = [n for n in there if namespace[n].grad_fn is not None]
    if not found:
        else_ = f"choose one with --name; it has: {', '.join(there)}" if there else HIDDEN
        raise UsageError(f"{path} has no tensor with a grad_fn; {else_}")
    return namespace["loss" if "loss" in found else found[-1]]


def is_second_pass(error: Exception) -> bool:
    """Has the program's own backward pass freed what was asked for?"""
    return "backward through the graph a second time" in str(error)


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
