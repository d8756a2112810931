"""`autograd-viz lab`: JupyterLab on the notebooks."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ..errors import CannotReadError
from .says import say
from .trust import trust_ours

FIRST = "01_one_multiplication.ipynb"


def notebooks_folder(start: Path) -> Path:
    """The notebooks of the clone that the package lies in, or was installed from, or that `start` is.

    CannotReadError: there is none. The wheel has no notebooks: they are three times as large as the package.
    """
    for clone in (Path(__file__).resolve().parents[2], *_installed_from(), start):
        if (clone / "notebooks" / FIRST).is_file():
            return clone / "notebooks"
    raise CannotReadError(
        "no notebooks are installed with the package: call autograd-viz lab in a clone, or in the unpacked source distribution"
    )


def _installed_from() -> Iterator[Path]:
    """The folder that pip installed, if it was one: `pip install .` in a clone."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        origin = json.loads(metadata.distribution("autograd-viz").read_text("direct_url.json") or "{}")
        if "dir_info" in origin:
            yield Path(url2pathname(urlsplit(origin["url"]).path))


def lab(arguments: Sequence[str]) -> int:
    """Open JupyterLab on the first notebook. JupyterLab gets `arguments`."""
    if importlib.util.find_spec("jupyterlab") is None:
        say("JupyterLab is not installed: pip install jupyterlab", sys.stderr)
        return 1
    folder = notebooks_folder(Path.cwd())
    say(f"notebooks: {folder}")
    with contextlib.suppress(OSError):  # their pages are still pictures then
        trust_ours(folder)
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}"]
    command.append(f"--LabApp.default_url=/lab/tree/{FIRST}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return _waited_for(subprocess.Popen([*command, *arguments]))


def _waited_for(process: subprocess.Popen[bytes]) -> int:
    """The exit code of the process. Ctrl-C does not kill it, because JupyterLab gets it too and asks for confirmation."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
