"""The command `autograd-viz`: its arguments and commands."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import autograd_viz as av

from ..errors import AutogradVizError
from ..verbs.formats import FINAL, Wishes, check
from .ending import Ended
from .gallery import gallery
from .lab import lab
from .merging import merge
from .program import FREED, ProgramError, UsageError, asked, is_second_pass, root_of, run_program, watched
from .says import say
from .term import is_terminal, keys_of, term
from .training import watch_script

CLEAR = "\x1b[2J\x1b[H"
EXAMPLES = """examples:
  autograd-viz lab                                   the notebooks in JupyterLab
  autograd-viz render train.py -o loss.svg           run a script and draw the tensor called loss
  autograd-viz render train.ipynb -o y.png --name y --step 3 --theme dark
  autograd-viz step train.py                         step its backward pass in a browser, without a server
  autograd-viz term train.py                         step it in the terminal, with the keys n b f r q
  autograd-viz explain train.py w                    explain w.grad
  autograd-viz watch train.py                        the training run over time, in run.html
  autograd-viz merge runs -o job.csv                 the runs of all ranks of a job, from one .json each
  autograd-viz render train.py -o x.gif -- --lr 0.1  arguments after -- go to the script
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        its exit code: 0, 1 (the program raised, a file could not be written), 2 (wrong usage), 130 (Ctrl-C),
        143 (SIGTERM). A program that
        calls exit decides its own.
    """
    given = [*(sys.argv[1:] if argv is None else argv)]
    end = given.index("--") if "--" in given else len(given)
    arguments, rest = _parser().parse_known_args(given[:end])
    if arguments.command is None:
        _parser().print_help(sys.stderr)
        return 2
    if rest and arguments.command != "lab":
        hint = " (arguments of the script go after --)" if hasattr(arguments, "script") else ""
        _parser().error(f"unrecognized arguments: {' '.join(rest)}{hint}")
    rest += given[end + 1 :]
    try:
        return int(COMMANDS[arguments.command](arguments, rest))
    except (KeyboardInterrupt, Ended) as end:
        return int(getattr(end, "code", 130))
    except ProgramError as error:
        say(error.text.rstrip("\n"), sys.stderr)
        return error.code
    except BrokenPipeError:  # the reader of the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (AutogradVizError, UsageError, OSError, RuntimeError, ValueError) as error:
        told = FREED.format(script=arguments.script) if is_second_pass(error) else error
        say(f"autograd-viz: {' '.join(str(told).split())}", sys.stderr)
        return 2 if told is not error or isinstance(error, UsageError | av.UnknownChoiceError) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograd-viz",
        description="See autograd: step a backward pass one grad_fn call at a time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"autograd-viz {version('autograd-viz')}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("lab", help="open the notebooks in JupyterLab (further options go to JupyterLab)", add_help=False)
    render = _of_script(commands, "render", "run a script or notebook and draw one of its tensors")
    render.add_argument(
        "-o", "--output", type=Path, required=True, help="the output file; its suffix sets the format: .svg, .png, ..."
    )
    render.add_argument("--step", type=_step_named, help='draw the state after this step: a number, or "final"')
    render.add_argument("--theme", default="auto", help="light, dark or waite")
    _of_script(commands, "step", "run it and step its backward pass in a browser")
    _of_script(commands, "term", "run it and step its backward pass in the terminal")
    explain = _of_script(commands, "explain", "run it and explain a tensor's grad")
    explain.add_argument("tensor", help="the name of the tensor, or an expression: model.fc1.weight")
    _training(commands)
    merging = commands.add_parser("merge", help="join the runs that the ranks of a job have written")
    merging.add_argument("folder", type=Path, help="where each rank has written a .json: av.save(run, 'run.rank3.json')")
    merging.add_argument("-o", "--output", type=Path, help="a table: .csv or .json")
    pictures = commands.add_parser("gallery", help="draw the pictures of the README and of docs")
    pictures.add_argument("folder", type=Path, nargs="?", default=Path("autograd_viz_gallery"))
    usage = commands.add_parser("help", help="show how to use a command")
    usage.add_argument("topic", nargs="?", choices=[*commands.choices], metavar="command", help="one of the above")
    usage.set_defaults(whole=parser, parsers=commands.choices)
    return parser


def _training(commands: Any) -> None:
    training = commands.add_parser("watch", help="run a script and watch the models that it trains")
    training.add_argument("script", type=Path, help="a .py or .ipynb file; arguments after -- go to it")
    training.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("run.html"),
        help="the picture: .html (default), .svg, .png, .json, .csv",
    )
    training.add_argument("--no-stop", dest="stop", action="store_false", help="go on when a gradient is nan or inf")


def _step_named(text: str) -> int | str:
    """The value of an option: a position, or "final"."""
    return text if text == FINAL else int(text)


_step_named.__name__ = "step"  # argparse shows this name in errors


def _of_script(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    examples = "".join(line for line in EXAMPLES.splitlines(True) if f" {name} " in line)
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text, epilog=f"examples:\n{examples}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("script", type=Path, help="a .py or .ipynb file; arguments after -- go to it")
    parser.add_argument("--name", help="the root tensor (default: loss, or the last tensor with a grad_fn)")
    return parser


def _run(arguments: argparse.Namespace, rest: list[str]) -> tuple[dict[str, Any], Any]:
    """The program's variables, and its root."""
    namespace = run_program(arguments.script, rest)
    return namespace, root_of(namespace, arguments.name, arguments.script)


def _render(arguments: argparse.Namespace, rest: list[str]) -> int:
    check(Wishes(arguments.step, arguments.theme), arguments.output)  # before the script runs, which may take long
    namespace, root = _run(arguments, rest)
    wishes = {"path": arguments.output, "step": arguments.step, "theme": arguments.theme}
    asked(namespace, "av.save($root, $path, step=$step, theme=$theme)", root=root, **wishes)
    say(str(arguments.output))
    return 0


def _step(arguments: argparse.Namespace, rest: list[str]) -> int:
    namespace, root = _run(arguments, rest)
    page = Path(tempfile.mkdtemp(prefix="autograd_viz_")) / f"{arguments.script.stem}.html"
    asked(namespace, "av.save($root, $path)", root=root, path=page)
    say(str(page))
    webbrowser.open(page.as_uri())
    return 0


def _term(arguments: argparse.Namespace, rest: list[str]) -> int:
    namespace, root = _run(arguments, rest)
    stepper = asked(namespace, "av.step($root)", root=root).stepper
    if stepper.document.is_freed:
        raise UsageError(FREED.format(script=arguments.script))
    term(stepper, keys_of(sys.stdin), sys.stdout, CLEAR if is_terminal() else "")
    return 0


def _explain(arguments: argparse.Namespace, rest: list[str]) -> int:
    with watched(arguments.script):
        namespace = run_program(arguments.script, rest)
        try:
            tensor = eval(arguments.tensor, dict(namespace))
        except Exception as error:
            raise UsageError(f"cannot evaluate {arguments.tensor!r} in {arguments.script}: {error}") from None
        try:
            root = root_of(namespace, arguments.name, arguments.script) if arguments.name else None
            say(str(asked(namespace, "av.explain($tensor, $root)", tensor=tensor, root=root)))
        except av.NotDrawableError as error:
            raise UsageError(str(error)) from None
    return 0


def _watch(arguments: argparse.Namespace, rest: list[str]) -> int:
    def program() -> None:
        run_program(arguments.script, rest, is_recorded=False)

    return watch_script(arguments.script, program, arguments.output, arguments.stop)


def _lab(arguments: argparse.Namespace, rest: list[str]) -> int:
    return lab(rest)


def _gallery(arguments: argparse.Namespace, rest: list[str]) -> int:
    for path in gallery(arguments.folder):
        say(str(path))
    return 0


def _help(arguments: argparse.Namespace, rest: list[str]) -> int:
    arguments.parsers.get(arguments.topic, arguments.whole).print_help()
    return 0


COMMANDS = {
    "lab": _lab,
    "render": _render,
    "step": _step,
    "term": _term,
    "explain": _explain,
    "watch": _watch,
    "merge": lambda arguments, rest: merge(arguments.folder, arguments.output),
    "gallery": _gallery,
    "help": _help,
}
