"""The code blocks of a Markdown page: Python runs and prints what it promises, shell lines are run.

A page is one program: its Python blocks share their variables. A line that begins with "# " is what the block prints there. A
block that begins with ``import torch`` is left out where PyTorch is not installed. A block after a line that ends in "as
`name.py`:" is that file.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"as `([\w.]+)`:\s*$")
HAS_TORCH = importlib.util.find_spec("torch") is not None
KEYS = "n\nn\nb\nq\n"  # what is typed into a command that asks


class Block(NamedTuple):
    """A fenced block; `file` is the name under which the page says to keep it, or ""."""

    language: str
    text: str
    file: str = ""


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        named = FILE.search(text[: match.start()])
        yield Block(match[1], match[2], named[1] if named else "")


def promised(code: str) -> list[str]:
    """What a block says that it prints."""
    return [line.removeprefix("# ") for line in code.split("\n") if line.startswith("# ")]


def run_python(page: Path) -> dict[str, object]:
    """Run a page in the current folder; returns its variables.

    Raises:
        AssertionError: a block prints something else than it says.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    for language, code, file in blocks(page):
        if file:
            Path(file).write_text(code, encoding="utf-8")
        elif language == "python" and (HAS_TORCH or not code.startswith("import torch\n")):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(code, page.name, "exec"), names)
            assert said.getvalue().splitlines() == promised(code), f"{code}\nprinted:\n{said.getvalue()}"
    return names


def run_shell(page: Path, environment: dict[str, str]) -> list[str]:
    """Run the lines that call our command, in the current folder; returns what each printed.

    Raises:
        AssertionError: one failed.
    """
    printed = []
    for language, text, _ in blocks(page):
        for line in text.splitlines() if language == "sh" else ():
            words = shlex.split(line, comments=True)
            if words[:1] == ["autograd-viz"]:
                command = [sys.executable, "-m", "autograd_viz.cli", *words[1:]]
                done = subprocess.run(command, input=KEYS, capture_output=True, text=True, env=environment, check=False)
                assert done.returncode == 0, (line, done.stderr)
                printed.append(done.stdout)
    return printed
