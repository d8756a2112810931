"""The output of the command, in characters that the terminal has."""

from __future__ import annotations

import argparse
import codecs
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import autograd_viz as av

from ..pictures.render.escape import printable

PLAIN = {"→": "->", "←": "<-", "…": "...", "×": "x", "·": ".", "−": "-", "–": "-", "∞": "inf", "\ufffd": "?"}


def say(text: str, stream: TextIO | None = None) -> None:
    """Write lines to a stream (default: stdout). A terminal without arrows gets ->."""
    stream = sys.stdout if stream is None else stream
    encoding = stream.encoding or "utf-8"
    stream.write(printable(text).encode(encoding, "autograd_viz.plain").decode(encoding) + "\n")
    stream.flush()


def tell(found: Any, text: str, arguments: argparse.Namespace) -> None:
    """Say what a verb has found, as JSON if that is asked for, and write its picture where one is wanted."""
    say(found.to_json().rstrip() if arguments.is_json else text)
    if getattr(arguments, "output", None) is not None:
        av.save(found, arguments.output)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """A replacement for characters that an encoding lacks. Every encoding has the replacement, which is ASCII."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_letter, error.object[error.start : error.end])), error.end


def _letter(letter: str) -> str:
    plain = PLAIN.get(letter) or unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return plain or letter.encode("ascii", "backslashreplace").decode()


codecs.register_error("autograd_viz.plain", _plain)


@contextmanager
def progress(name: str, every: float = 1.0) -> Iterator[None]:
    """Inside, a terminal shows on stderr for how long a program has been running."""
    if not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()

    def tell_time() -> None:
        began = time.monotonic()
        while not ended.wait(every):
            sys.stderr.write(f"\r{name} has been running for {time.monotonic() - began:.0f} s\x1b[K")
            sys.stderr.flush()

    teller = threading.Thread(target=tell_time, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        sys.stderr.write("\r\x1b[K")
