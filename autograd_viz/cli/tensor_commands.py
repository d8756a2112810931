"""The commands that run a program and show one of its tensors: render, step, term, memory, time, explain, check."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO

import autograd_viz as av

from ..pictures.render import text_picture
from ..pictures.times.report import share_text, time_text
from ..sources.asking import ran_before
from ..sources.programs import LastRun, last_run
from ..stepper.stepper import Stepper
from ..verbs.check import explained
from ..verbs.formats import PAGED, Wishes, check, check_among
from ..verbs.options import bytes_of
from ..verbs.watch import each_run
from .program import FREED, SECOND, ProgramError, UsageError, evaluate, read, root_of, run_program, watch_of
from .says import progress, say, tell

HELP = "n next · b back · f finish · r start · q quit"


def term(stepper: Stepper, keys: Iterator[str], out: TextIO, clear: str = "") -> None:
    """Show the pass and obey keys, one letter each, until `q` or their end. `clear` clears the screen before each picture."""
    moves: dict[str, Callable[[], Any]] = {"n": stepper.next, "b": stepper.back, "f": stepper.finish}
    moves |= {" ": stepper.next, "r": lambda: stepper.goto(0)}
    _show(stepper, out, clear)
    for key in keys:
        if key == "q":
            return
        if key not in moves:
            continue
        error = ""
        try:
            moves[key]()
        except Exception as raised:  # any error of a node is shown, and the stepper stays usable
            error = "\n".join(filter(None, (f"{type(raised).__name__}: {raised}", stepper.explain(raised))))
        _show(stepper, out, clear, error)


def _show(stepper: Stepper, out: TextIO, clear: str, error: str = "") -> None:
    parts = [text_picture(stepper.document, stepper.state, stepper.next_node), stepper.sentence, error, HELP]
    out.write(clear)
    say("\n\n".join(p for p in parts if p), out)


def keys_of(stream: TextIO) -> Iterator[str]:
    """Keys as they are pressed in a terminal. From other streams, single letters."""
    if not stream.isatty():
        yield from (key for line in stream for key in line.strip() or " ")
        return
    try:
        import termios
        import tty
    except ModuleNotFoundError:  # Windows: a letter and Enter
        yield from (line.strip()[:1] or " " for line in stream)
        return
    old = termios.tcgetattr(stream)
    try:
        while True:
            tty.setcbreak(stream)
            if (key := stream.read(1)) in ("", "\x04"):
                return
            yield key
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, old)


CLEAR = "\x1b[2J\x1b[H"
WITH_STEPS = (".html", ".json", ".gif", ".apng", ".webp")
LAST = "autograd-viz: the graph of {name} was freed; this is the last backward pass of the program"
RAN = "autograd-viz: the picture shows what ran before the error"
NO_ERROR = "{script} raised no error; name the tensor to explain: autograd-viz explain {script} model.weight"

Act = Callable[[dict[str, Any], Any, Any], None]  # what is done with the program's variables, a root and its first gradient


def render(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Draw a tensor into a file."""
    path, step, theme = arguments.output, arguments.step, arguments.theme
    check(Wishes(step, theme), path)  # before the program runs, which may take long
    takes_steps = step is not None or path.suffix.lower() in WITH_STEPS

    def act(namespace: dict[str, Any], root: Any, gradient: Any) -> None:
        given = begun(namespace, root, gradient)
        evaluate(namespace, "av.save($root, $path, step=$step, theme=$theme)", root=given, path=path, step=step, theme=theme)

    on_root(arguments, rest, act, takes_steps)
    say(str(path))


def memory(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Measure what autograd holds for a tensor."""
    if arguments.output is not None:
        check_among(PAGED, arguments.output)
    if arguments.budget is not None:
        bytes_of(arguments.budget, "--budget")  # before the program runs, which may take long

    def act(namespace: dict[str, Any], root: Any, gradient: Any) -> None:
        measured = evaluate(namespace, "av.memory($root, budget=$budget)", root=root, budget=arguments.budget)
        text = [str(measured.report), *measured.largest(), *(["", measured.code] if measured.code else [])]
        tell(measured, "\n".join(text), arguments)

    on_root(arguments, rest, act)


def begun(namespace: dict[str, Any], root: Any, gradient: Any) -> Any:
    """A root, or the stepper of its pass if that begins with another gradient."""
    return root if gradient is None else evaluate(namespace, "av.step($root, $gradient)", root=root, gradient=gradient)


MOST_ROWS = 8  # of a table


def time(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Time the backward pass of a tensor."""
    if arguments.output is not None:
        check_among(PAGED, arguments.output)

    def act(namespace: dict[str, Any], root: Any, gradient: Any) -> None:
        timed = evaluate(namespace, "av.time($root)", root=root)
        rows = [row for row in timed.table() if row["module"]] or timed.table("op")
        named = ((row.get("module") or row["op"], row) for row in rows[:MOST_ROWS])
        lines = [f"  {time_text(row['seconds'])}  {share_text(row['share'])}  {name}" for name, row in named]
        tell(timed, "\n".join([str(timed), *lines]), arguments)

    on_root(arguments, rest, act)


def step(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Open a page that steps."""
    page = Path(tempfile.mkdtemp(prefix="autograd_viz_")) / f"{arguments.script.stem}.html"

    def act(namespace: dict[str, Any], root: Any, gradient: Any) -> None:
        stepper = evaluate(namespace, "av.step($root, $gradient)", root=root, gradient=gradient)
        evaluate(namespace, "av.save($stepper, $path)", stepper=stepper, path=page)

    on_root(arguments, rest, act)
    say(str(page))
    webbrowser.open(page.as_uri())


def step_in_terminal(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Step in the terminal."""

    def act(namespace: dict[str, Any], root: Any, gradient: Any) -> None:
        stepper = evaluate(namespace, "av.step($root, $gradient)", root=root, gradient=gradient).stepper
        if stepper.document.is_freed:
            raise RuntimeError(SECOND)
        term(stepper, keys_of(sys.stdin), sys.stdout, CLEAR if sys.stdin.isatty() and sys.stdout.isatty() else "")

    on_root(arguments, rest, act)


def on_root(arguments: argparse.Namespace, rest: list[str], act: Act, takes_steps: bool = True) -> None:
    """Run the program, and act on its tensor. If its last pass has freed that graph, everything is put back as it was."""
    program = read(arguments.script, arguments.is_module)
    with watch_of(program), last_run(program.uses_torch) as last:
        try:
            namespace = run_program(program, rest)
        except ProgramError as failed:  # draw what ran
            ran = None if takes_steps or failed.error is None else ran_before(failed.error.__traceback__)
            if ran is not None:
                act({}, ran, None)
                failed.text = f"{failed.text.rstrip()}\n{RAN}"
            raise
        try:
            root = root_of(namespace, arguments.name, arguments.script)
        except UsageError:  # it is inside a function
            if arguments.name is not None or last.root is None:
                raise
            root = last.root
        if takes_steps and arguments.name is None and last.has(root):
            root = last.root  # of a scaled loss, the scaled one
        try:
            if takes_steps and last.is_emptied(root):
                raise RuntimeError(SECOND)
            _act_on(namespace, root, act, last if takes_steps else None)
        except RuntimeError as error:
            if SECOND not in str(error):  # the program's own backward pass has freed the saved tensors
                raise
            if arguments.name is not None or last.root is None or last.has(root):
                raise UsageError(FREED.format(script=arguments.script)) from None
            say(LAST.format(name=next((n for n, v in namespace.items() if v is root), "the loss")), sys.stderr)
            _act_on(namespace, last.root, act, last)


def _act_on(namespace: dict[str, Any], root: Any, act: Act, last: LastRun | None) -> None:
    is_last = last is not None and last.has(root)
    with last.as_it_was() if last is not None and is_last else nullcontext():
        act(namespace, root, last.gradient if last is not None and root is last.root else None)


def explain(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Explain the grad of a tensor, or the error that ended the program."""
    program = read(arguments.script, arguments.is_module)
    with watch_of(program), each_run(stop=True):
        try:
            namespace = run_program(program, rest)
        except ProgramError as failed:
            if failed.error is not None:
                say(_failure(failed), sys.stderr)
                found = av.explain(failed.error)
                tell(found, str(found), arguments)
                return failed.code
            raise
        if arguments.tensor is None:
            found, others = explained({name: value for name, value in namespace.items() if name[:1] != "_"})
            if found.causes[0].kind == "no_error":  # and no pass has run
                raise UsageError(NO_ERROR.format(script=arguments.script))
            data = {**json.loads(found.to_json()), "others": json.loads(others.to_json())}
            text = "\n".join([str(found), *map(str, others)])
            say(json.dumps(data, ensure_ascii=False, indent=1) if arguments.is_json else text)
            return 0
        try:
            tensor = eval(arguments.tensor, dict(namespace))
        except Exception as error:
            raise UsageError(f"cannot evaluate {arguments.tensor!r} in {arguments.script}: {error}") from None
        try:
            root = root_of(namespace, arguments.name, arguments.script) if arguments.name else None
            found = evaluate(namespace, "av.explain($tensor, $root)", tensor=tensor, root=root)
            tell(found, str(found), arguments)
        except av.NotDrawableError as error:
            raise UsageError(str(error)) from None
    return 0


def _failure(failed: ProgramError) -> str:
    """The traceback of an error; of a run that was stopped what has happened."""
    return str(failed.error).partition("\n")[0] if isinstance(failed.error, av.NotFiniteError) else failed.text.rstrip("\n")


def check_program(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Run all checks over the run of a program. Exit code: 1 if a fault is certain, or of the program if it raised."""
    chosen = {"select": arguments.select, "ignore": arguments.ignore}
    av.check(select=chosen["select"], ignore=chosen["ignore"])  # a name that no check has is refused before the program runs
    program, code = read(arguments.script, arguments.is_module), 0
    with watch_of(program), each_run(stop=True):  # after the first nan in a weight, only its remains are left
        try:
            with progress(program.name):
                namespace = run_program(program, rest, is_recorded=False)
            root = root_of(namespace, arguments.name, arguments.script) if arguments.name else None
            found = evaluate(namespace, "av.check($root, **$chosen)", root=root, chosen=chosen)
        except ProgramError as failed:
            if failed.error is None:
                raise
            say(_failure(failed), sys.stderr)
            found, code = av.check(failed.error, **chosen), failed.code
    tell(found, str(found), arguments)
    return code or int(found.is_so)
