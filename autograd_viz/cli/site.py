"""`autograd-viz site`: the folder of the playground, and a server for it."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
from pathlib import Path

from ..site.build import build
from ..site.serve import server
from .says import say

ROOT = Path(__file__).resolve().parents[2]  # of a clone
NEEDS_OF_DOCS = ("sphinx", "myst_parser", "furo")


def site(arguments: argparse.Namespace, rest: list[str]) -> None:
    """Build the site; with `--serve`, or without a folder, serve it until Ctrl-C."""
    notebooks = None if "notebooks" in arguments.without or not (ROOT / "notebooks").is_dir() else ROOT / "notebooks"
    docs = None if "docs" in arguments.without else _docs()
    base = f"/{arguments.base.strip('/')}/".replace("//", "/")
    with tempfile.TemporaryDirectory(prefix="autograd_viz_") as beside:
        out = arguments.folder or Path(beside)
        page = build(out, arguments.pyodide, notebooks, docs)
        if arguments.folder and not arguments.serve:
            say(str(page))
            return
        with server(out, arguments.port, base) as serving:
            say(f"http://127.0.0.1:{serving.server_address[1]}{base}")
            serving.serve_forever()


def _docs() -> Path | None:
    """The sources of the docs, which only a clone has. None, with a sentence, where Sphinx or one of its parts is missing."""
    if not (ROOT / "docs" / "conf.py").exists():
        return None
    missing = [name for name in NEEDS_OF_DOCS if importlib.util.find_spec(name) is None]
    if missing:
        say(f"without the docs: {', '.join(missing)} not installed (pip install -e '.[docs]')", sys.stderr)
    return None if missing else ROOT / "docs"
