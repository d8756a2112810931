"""A web server for one folder, on this machine alone."""

from __future__ import annotations

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder under a path, without a line for each file."""

    def __init__(self, *args: Any, base: str, **options: Any) -> None:
        self.base = base
        super().__init__(*args, **options)

    def translate_path(self, path: str) -> str:
        """The file of an address; one that is not there for an address outside of the path."""
        return super().translate_path("/" + path.removeprefix(self.base) if path.startswith(self.base) else "/ ")

    def end_headers(self) -> None:
        """Let pages of others load `embed.js`, as GitHub Pages does."""
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server that says nothing of a browser that stops listening."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, unless the browser went."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server(folder: Path, port: int = 0, base: str = "/") -> ThreadingHTTPServer:
    """A server of a folder, under a path that begins and ends with "/"; port 0 is any that is free."""
    return Server(("127.0.0.1", port), partial(Quiet, base=base, directory=str(folder)))
