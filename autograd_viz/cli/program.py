"""Runs a user's script or notebook, and calls the verbs on its variables."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import autograd_viz as av

from ..sources.anything import is_drawable
from .runnable import NoShell, Program, program_at, program_of_module

ASKING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class SignalInterrupt(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number  # the exit code that a shell sees: 143 for SIGTERM


@contextmanager
def end_on_signal() -> Iterator[None]:
    """Inside, a signal that would end this process raises `SignalInterrupt` once. The next ends it, as one to a child does."""
    process = os.getpid()

    def ends(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() != process:
            os.kill(os.getpid(), number)
        else:
            raise SignalInterrupt(number)

    is_main = threading.current_thread() is threading.main_thread()
    ours = [number for number in ASKING if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, ends)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is ends:  # the program may have set its own
                signal.signal(number, signal.SIG_DFL)


HIDDEN = "variables inside functions are not visible: return the loss and assign it at the end of the script"
FREED = (
    "{script} already called backward(), which freed the graph. To step that pass, "
    "put the line `raise SystemExit` above the call"
)
SECOND = "backward through the graph a second time"
OURS = (str(Path(av.__file__).parent) + os.sep, "<autograd_viz")  # files whose frames a user need not see
HEADER = "Traceback (most recent call last):\n"
RECORDING = tuple(os.path.join("torch", *file) for file in (("_compile.py",), ("_dynamo", "eval_frame.py"), ("_ops.py",)))
VERB = "__autograd_viz__"  # the name of the package in the namespace during a verb


class ProgramError(Exception):
    """The user's program raised `error`, or called exit (None). `text`: its traceback without our frames, or exit message."""

    def __init__(self, text: str, code: int = 1, error: BaseException | None = None) -> None:
        super().__init__(text)
        self.text, self.code, self.error = text, code, error


class UsageError(Exception):
    """An argument names something that does not exist."""


def run_program(program: Program | Path, arguments: list[str], is_recorded: bool = True) -> dict[str, Any]:
    """The variables of a program after its run, with PyTorch's ops recorded if it `is_recorded`; `arguments`: ``sys.argv[1:]``.

    The program runs as Python runs it: from then on `__main__`, `sys.argv` and `sys.path` of this process belong to it.
    UsageError: it cannot be read. ProgramError: it raised, or called exit with an error code.
    """
    program = read(program) if isinstance(program, Path) else program
    main, folder, process = ModuleType("__main__"), os.getcwd(), os.getpid()
    vars(main).update(program.facts)
    if program.is_notebook:
        vars(main).update(_notebook_names(vars(main)))
    sys.modules["__main__"] = main
    if "__mp_main__" in sys.modules:  # what multiprocessing took for it when it was imported
        sys.modules["__mp_main__"] = main
    sys.argv, sys.path[:0] = [program.first, *arguments], [program.folder]
    try:
        with av.record() if is_recorded and program.uses_torch else nullcontext():
            run_cells(program, vars(main))
    except SystemExit as end:
        if os.getpid() != process:
            raise  # the exit of a child process that the program forked
        if end.code not in (None, 0):
            if isinstance(end.code, int):
                raise ProgramError(f"autograd-viz: {program.name} ended with exit code {end.code}", end.code) from None
            raise ProgramError(str(end.code)) from None
    except (KeyboardInterrupt, SignalInterrupt):
        raise
    except BaseException as error:
        raise ProgramError(traceback_text(error) + _package_hint(error, program), error=error) from None
    finally:
        with suppress(OSError):  # the program may have removed the folder
            os.chdir(folder)  # output files go to the user's folder
    if os.getpid() != process:
        raise SystemExit
    return vars(main)


def _notebook_names(variables: dict[str, Any]) -> dict[str, Any]:
    """What a notebook has besides its own names."""
    from IPython.display import display

    shell = NoShell(variables)
    return {"get_ipython": lambda: shell, "display": display}


def read(path: Path, is_module: bool = False) -> Program:
    """The program in a file, or of a module. UsageError: there is none. ProgramError: a package around the module raised."""
    if is_module:
        try:
            return program_of_module(str(path))
        except LookupError as error:
            raise UsageError(str(error.args[0])) from None
        except Exception as error:
            raise ProgramError(traceback_text(error), error=error) from None
    try:
        return program_at(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, TypeError, LookupError, SyntaxError, RecursionError) as error:
        script = f"it is not a Python script ({error})" if isinstance(error, SyntaxError) else "it is not a text file"
        notebook = f"it is not a Jupyter notebook{f' ({error})' if isinstance(error, ValueError) else ''}"
        raise UsageError(f"cannot read {path}: {notebook if path.suffix == '.ipynb' else script}") from error


def watch_of(program: Program) -> AbstractContextManager[Any]:
    """A context in which a PyTorch program is watched, as `explain` needs it."""
    return av.watch() if program.uses_torch else nullcontext()


def _package_hint(error: BaseException, program: Program) -> str:
    """What to do if a script is a part of a package."""
    is_part = isinstance(error, ImportError) and str(error).startswith("attempted relative import with no known parent package")
    name = Path(program.first).stem
    return f"autograd-viz: a part of a package is run by the name of its module: -m package.{name}\n" if is_part else ""


def traceback_text(error: BaseException) -> str:
    """The traceback as Python prints it, without frames of this package and of PyTorch's recording."""
    told = traceback.TracebackException.from_exception(error)
    stack = [f for f in told.stack if not f.filename.startswith(OURS) and not f.filename.endswith(RECORDING)]
    told.stack = traceback.StackSummary.from_list(stack)
    text = "".join(told.format())
    return text if stack else text.removeprefix(HEADER)  # a syntax error has no frame


def root_of(namespace: dict[str, Any], name: str | None, path: Path) -> Any:
    """The tensor to draw: `name`, or `loss`, or the last one that has a grad_fn. UsageError if there is none."""
    there = [n for n, v in namespace.items() if is_drawable(v) and not n.startswith("_")]
    if name is not None:
        if name not in there:
            raise UsageError(f"{path} has no tensor called {name!r}; it has: {', '.join(there) or 'none'}")
        return namespace[name]
    found = [n for n in there if namespace[n].grad_fn is not None]
    if not found:
        else_ = f"choose one with --name; it has: {', '.join(there)}" if there else HIDDEN
        raise UsageError(f"{path} has no tensor with a grad_fn; {else_}")
    return namespace["loss" if "loss" in found else found[-1]]


def evaluate(namespace: dict[str, Any], expression: str, **values: Any) -> Any:
    """The result of a verb called from the program's namespace: "av.step(loss)" sees its variables. `values`: more names."""
    names = {VERB: av, **{f"__{k}__": v for k, v in values.items()}}
    for name in values:
        expression = expression.replace(f"${name}", f"__{name}__")
    namespace.update(names)
    try:
        return eval(expression.replace("av.", f"{VERB}."), namespace)
    finally:
        for name in names:
            namespace.pop(name, None)


AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def run_cells(program: Program, namespace: dict[str, Any]) -> None:
    """Run each cell in the namespace."""
    if not (program.is_notebook and any(_awaits(text) for _, text in program.cells)):
        for name, text in program.cells:
            exec(compile(text, name, "exec", dont_inherit=True), namespace)
        return
    with asyncio.Runner() as runner:  # it cancels at its end what still runs; its own `run` would take Ctrl-C
        error = runner.get_loop().run_until_complete(_awaited(program, namespace))
    if error is not None:
        raise error


def _awaits(text: str) -> bool:
    try:
        code = compile(text, "", "exec", AWAITS, dont_inherit=True)
    except SyntaxError:
        return False
    return bool(code.co_flags & inspect.CO_COROUTINE)


async def _awaited(program: Program, namespace: dict[str, Any]) -> BaseException | None:
    """Run them. An error is returned, so that its traceback has no lines of the event loop."""
    try:
        for name, text in program.cells:
            result = eval(compile(text, name, "exec", AWAITS, dont_inherit=True), namespace)
            if inspect.iscoroutine(result):
                await result
    except BaseException as error:
        return error
    return None
