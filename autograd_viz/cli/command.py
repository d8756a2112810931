"""The command `autograd-viz`: its arguments and commands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import autograd_viz as av

from ..errors import AutogradVizError
from ..verbs.formats import FINAL
from .diff_command import diff
from .gallery import gallery
from .lab import lab
from .program import ProgramError, SignalInterrupt, UsageError
from .run_commands import merge, watch
from .says import say
from .site import site
from .tensor_commands import check_program, explain, memory, render, step, step_in_terminal, time

EXAMPLES = """examples:
  autograd-viz lab                                   the notebooks in JupyterLab
  autograd-viz render train.py -o loss.svg           run a script and draw the tensor called loss
  autograd-viz render train.ipynb -o y.png --name y --step 3 --theme dark
  autograd-viz step train.py                         step its backward pass in a browser, without a server
  autograd-viz term train.py                         step it in the terminal, with the keys n b f r q
  autograd-viz explain train.py w                    explain w.grad, or the error that ends the script
  autograd-viz check train.py                        its faults of the usual kinds, as a linter tells them
  autograd-viz memory train.py                       what autograd holds for its loss, by tensor, module and line
  autograd-viz memory train.py --budget "8 GB"       which modules to checkpoint so that it fits, as code to paste
  autograd-viz time train.py                         where its last backward pass spends its time, by module and line
  autograd-viz diff a.py b.py                        where two scripts part: their training runs, or their last passes
  autograd-viz watch train.py                        the training run over time, in run.html
  autograd-viz watch -m package.train                a module of a package, as with python -m
  autograd-viz merge runs -o job.csv                 the runs of all ranks of a job, from one .json each
  autograd-viz render train.py -o x.gif -- --lr 0.1  arguments after -- go to the script
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        its exit code: 0, 1 (the program raised, a file could not be written), 2 (wrong usage), 130 (Ctrl-C), 143 (SIGTERM);
        of a program that calls exit its own.
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
        return int(arguments.act(arguments, rest) or 0)
    except (KeyboardInterrupt, SignalInterrupt) as end:
        return int(getattr(end, "code", 130))
    except ProgramError as error:
        say(error.text.rstrip("\n"), sys.stderr)
        return error.code
    except BrokenPipeError:  # the reader of the output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (AutogradVizError, UsageError, OSError, RuntimeError, ValueError) as error:
        say(f"autograd-viz: {' '.join(str(error).split())}", sys.stderr)
        return 2 if isinstance(error, UsageError | av.UnknownChoiceError) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="autograd-viz",
        description="See autograd: step a backward pass one grad_fn call at a time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"autograd-viz {version('autograd-viz')}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    opened = commands.add_parser(
        "lab", help="open the notebooks in JupyterLab (further options go to JupyterLab)", add_help=False
    )
    opened.set_defaults(act=lambda arguments, rest: lab(rest))
    rendered = _of_script(commands, "render", render, "run a script or notebook and draw one of its tensors")
    file = "the output file; its suffix sets the format: .svg, .png, ..."
    rendered.add_argument("-o", "--output", type=Path, required=True, help=file)
    rendered.add_argument("--step", type=_step_named, help='draw the state after this step: a number, or "final"')
    rendered.add_argument("--theme", default="auto", help="light, dark or waite")
    _of_script(commands, "step", step, "run it and step its backward pass in a browser")
    _of_script(commands, "term", step_in_terminal, "run it and step its backward pass in the terminal")
    _asking(commands)
    _measuring(commands)
    _training(commands)
    pictures = commands.add_parser("gallery", help="draw the pictures of the README and of docs")
    pictures.add_argument("folder", type=Path, nargs="?", default=Path("autograd_viz_gallery"))
    pictures.set_defaults(act=lambda arguments, rest: say("\n".join(map(str, gallery(arguments.folder)))))
    _site(commands)
    usage = commands.add_parser("help", help="show how to use a command")
    usage.add_argument("topic", nargs="?", choices=[*commands.choices], metavar="command", help="one of the above")
    usage.set_defaults(act=lambda arguments, rest: commands.choices.get(arguments.topic, parser).print_help())
    return parser


def _site(commands: Any) -> None:
    built = commands.add_parser("site", help="build the playground: a folder for a web server, which runs Python in the page")
    built.add_argument("folder", type=Path, nargs="?", help="the folder to write (default: serve it, and keep nothing)")
    built.add_argument(
        "--pyodide", metavar="DIR|URL", help="where NumPy and SciPy for Pyodide come from (default: its own address)"
    )
    built.add_argument("--without", action="append", default=[], choices=["notebooks", "docs"], help="leave a part out")
    built.add_argument("--serve", action="store_true", help="serve it on this machine")
    built.add_argument("--base", default="/", metavar="/PATH/", help="serve it under this path, as GitHub Pages does")
    built.add_argument("--port", type=int, default=0, help="of the server (default: any that is free)")
    built.set_defaults(act=site)


def _asking(commands: Any) -> None:
    explained = _of_script(commands, "explain", explain, "run it and explain a tensor's grad, or the error that ends it")
    explained.add_argument("tensor", nargs="?", help="the name of the tensor, or an expression: model.fc1.weight")
    explained.add_argument("--json", dest="is_json", action="store_true", help="tell it as JSON")
    told = "run it and tell its faults of the usual kinds; exit code 1 if one is certain"
    checked = _of_script(commands, "check", check_program, told)
    checked.add_argument("--select", type=_listed, default=[], help="only these checks: AV203,AV3")
    checked.add_argument("--ignore", type=_listed, default=[], help="all but these (for one line: # av: ignore[AV203])")
    checked.add_argument("--json", dest="is_json", action="store_true", help="tell them as JSON")


def _measuring(commands: Any) -> None:
    held = _of_script(commands, "memory", memory, "run it and measure what autograd holds for one of its tensors")
    held.add_argument("--budget", help='what its peak may take, such as "8 GB": which modules to checkpoint, as code')
    timed = _of_script(commands, "time", time, "run it and time the backward pass of one of its tensors (of PyTorch)")
    compared = commands.add_parser("diff", help="run two scripts, or read what they saved, and find where they part")
    compared.add_argument(
        "a", type=Path, help="a script or notebook; arguments after -- go to both. Or a .json: a run, or a pass"
    )
    compared.add_argument("b", type=Path, nargs="?", help="the same: what it is compared with")
    compared.add_argument("--name", help="the root tensor, or the model, if there are several")
    compared.add_argument("--side", type=Path, help=argparse.SUPPRESS)  # in a process of its own: write what is compared
    compared.set_defaults(act=diff)
    for parser in (held, timed, compared):
        parser.add_argument("-o", "--output", type=Path, help="also write it: .html, .svg, .png, .json, ...")
        parser.add_argument("--json", dest="is_json", action="store_true", help="tell it as JSON")


def _training(commands: Any) -> None:
    training = commands.add_parser("watch", help="run a script and watch the models that it trains")
    _add_script(training)
    formats = "the picture: .html (default), .svg, .png, .json, .csv"
    training.add_argument("-o", "--output", type=Path, default=Path("run.html"), help=formats)
    training.add_argument("--json", dest="is_json", action="store_true", help="tell what is odd as JSON, a line for each model")
    training.add_argument("--no-stop", dest="stop", action="store_false", help="go on when a gradient is nan or inf")
    training.set_defaults(act=watch)
    merging = commands.add_parser("merge", help="join the runs that the ranks of a job have written")
    merging.add_argument("folder", type=Path, help="where each rank has written a .json: av.save(run, 'run.rank3.json')")
    merging.add_argument("-o", "--output", type=Path, help="a table: .csv or .json")
    merging.set_defaults(act=merge)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _step_named(text: str) -> int | str:
    """The value of an option: a position, or "final"."""
    return text if text == FINAL else int(text)


_step_named.__name__ = "step"  # argparse shows this name in errors


def _of_script(commands: Any, name: str, act: Callable[[argparse.Namespace, list[str]], int | None], text: str) -> Any:
    examples = "".join(line for line in EXAMPLES.splitlines(True) if f" {name} " in line)
    parser = commands.add_parser(
        name, help=text, description=text, epilog=f"examples:\n{examples}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(act=act)
    _add_script(parser)
    parser.add_argument("--name", help="the root tensor (default: loss, or the last tensor with a grad_fn)")
    return parser


def _add_script(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", type=Path, help="a .py or .ipynb file; arguments after -- go to it")
    parser.add_argument("-m", dest="is_module", action="store_true", help="SCRIPT is the name of a module: package.train")
