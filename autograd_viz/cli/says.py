"""The output of the command, in characters that the terminal has."""

from __future__ import annotations

import codecs
import sys
import unicodedata
from typing import TextIO

from ..pictures.render.escape import printable

PLAIN = {"→": "->", "←": "<-", "…": "...", "×": "x", "·": ".", "−": "-", "–": "-", "∞": "inf", "\ufffd": "?"}


def say(text: str, stream: TextIO | None = None) -> None:
    """Write lines to a stream (default: stdout). A terminal without arrows gets ->."""
    stream = sys.stdout if stream is None else stream
    encoding = stream.encoding or "utf-8"
    stream.write(printable(text).encode(encoding, "autograd_viz.plain").decode(encoding) + "\n")
    stream.flush()


def _plain(error: UnicodeError) -> tuple[str, int]:
    """A replacement for characters that an encoding lacks. Every encoding has the replacement, which is ASCII."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_letter, error.object[error.start : error.end])), error.end


def _letter(letter: str) -> str:
    plain = PLAIN.get(letter) or unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return plain or letter.encode("ascii", "backslashreplace").decode()


codecs.register_error("autograd_viz.plain", _plain)
