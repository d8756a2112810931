"""Steps a backward pass in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from ..pictures.render import text_picture
from ..stepper.stepper import Stepper
from .says import say

HELP = "n next · b back · f finish · r start · q quit"


def term(stepper: Stepper, keys: Iterator[str], out: TextIO, clear: str = "") -> None:
    """Show the pass and obey keys, one letter each, until `q` or their end. `clear` clears the screen before each picture."""
    moves: dict[str, Callable[[], Any]] = {
        "n": stepper.next,
        " ": stepper.next,
        "b": stepper.back,
        "f": stepper.finish,
        "r": lambda: stepper.goto(0),
    }
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
        for line in stream:
            yield from line.strip() or " "
        return
    try:
        import termios
        import tty
    except ModuleNotFoundError:  # Windows: a letter and Enter
        for line in stream:
            yield from line.strip()[:1] or " "
        return
    old = termios.tcgetattr(stream)
    try:
        while True:
            tty.setcbreak(stream)
            key = stream.read(1)
            if not key or key == "\x04":
                return
            yield key
    finally:
        termios.tcsetattr(stream, termios.TCSADRAIN, old)


def is_terminal() -> bool:
    """Is this a terminal with keys and a screen?"""
    return sys.stdin.isatty() and sys.stdout.isatty()
