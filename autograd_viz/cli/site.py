"""`autograd-viz site`: the folder of the playground, and a server for it."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from ..site.build import build
from ..site.serve import server
from .says import say


def site(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Build the site; with `--serve`, serve it until Ctrl-C."""
    with tempfile.TemporaryDirectory(prefix="autograd_viz_") as beside:
        out = arguments.folder or Path(beside)
        page = build(out, arguments.pyodide)
        if not arguments.serve:
            say(str(page))
            return 0
        with server(out, arguments.port) as serving:
            say(f"http://127.0.0.1:{serving.server_address[1]}/")
            serving.serve_forever()
    return 0
