"""New processes in which PyTorch is already imported: one process imports it, and each program forks from that one."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILER = ("torch", "torch._dynamo")  # optimizers, checkpoints and DDP import it: as long as PyTorch itself
HERE = Path(__file__).parent


def python(*imported: str) -> list[str]:
    """The beginning of a command, as `[sys.executable]` is: with streams, arguments, folder, environment and exit status.

    Args:
        imported: the modules that are there when the program begins; `torch` if none are named. Of the options of Python,
            `-c`, `-m` and `-W` may follow.
    """
    return [sys.executable, "-IS", str(HERE / "client.py"), _server(imported or ("torch",))]


@functools.cache
def _server(imported: tuple[str, ...]) -> str:
    """The socket of a process that has imported these; it ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="fresh-"))
    start = python(*imported[:-1]) if imported[1:] else [sys.executable]  # one that has imported less serves it
    command = [*start, "-m", "tests.fresh.server", str(folder / "socket"), *imported]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=HERE.parents[1])
    assert server.stdin and server.stdout

    @atexit.register
    def end() -> None:
        server.communicate()
        shutil.rmtree(folder, ignore_errors=True)

    assert server.stdout.readline() == b"ready\n"
    return str(folder / "socket")
