"""Nothing listens, nothing phones home: no verb opens a socket, and no file of the package names another machine."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import autograd_viz

PACKAGE = Path(autograd_viz.__file__).parent
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/XML/1998/namespace"}  # names, which nobody asks for

# in a process of its own: an audit hook cannot be taken away
EVERYTHING = """
import sys
opened = []
reaching = ("socket.", "urllib.", "http.")
sys.addaudithook(lambda event, args: opened.append((event, args)) if event.startswith(reaching) else None)
import pathlib, tempfile
import autograd_viz as av

a = av.tensor([2.0, 3.0], requires_grad=True)
loss = (a * 2).relu().sum()
folder = pathlib.Path(tempfile.mkdtemp())
av.show(loss)._repr_mimebundle_()
s = av.step(loss)
s._repr_mimebundle_()
s.finish()
s.goto(0)
print(av.explain(a))
for suffix in ("svg", "png", "html", "gif", "json", "dot", "mmd"):
    av.save(loss, folder / f"x.{suffix}", duration=0.01)
av.step(av.load(folder / "x.json")).finish()
av.iframe(loss)
assert not opened, opened
import socket
socket.socket().close()
assert opened, "the hook sees nothing"
"""


def test_no_verb_opens_a_socket() -> None:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(EVERYTHING)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_static_file_names_another_machine() -> None:
    files = [p for p in PACKAGE.rglob("*") if p.suffix in (".js", ".css", ".html", ".typ", ".json")]
    assert len(files) > 40
    found = {m for p in files for m in re.findall(r"(?:https?:|wss?:)?//[\w.-]+\.[a-z]{2,}[^\s\"'`)]*", p.read_text("utf-8"))}
    assert found <= NAMESPACES
    calls = re.compile(
        r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|eval|innerHTML|document\.write)\b"
    )
    code = {
        p.name: calls.findall(re.sub(r"/\*.*?\*/|//.*", "", p.read_text("utf-8"), flags=re.DOTALL))
        for p in files
        if p.suffix == ".js"
    }
    assert not {name: found for name, found in code.items() if found}


def test_no_python_file_imports_what_reaches_the_network() -> None:
    reaching = re.compile(r"^\s*(?:import|from) (socket|urllib|http|ssl|requests|ftplib|smtplib|asyncio)\b", re.MULTILINE)
    reached = {p.name: set(reaching.findall(p.read_text("utf-8"))) for p in PACKAGE.rglob("*.py")}
    reached["program.py"] -= {"asyncio"}  # the event loop of a notebook that awaits
    reached["libraries.py"] -= {"urllib"}  # `autograd-viz site` fetches Python for pages, and checks it
    reached["lab.py"] -= {"urllib"}  # takes apart the address of the folder that pip installed
    reached["serve.py"] -= {"http"}  # and shows the site to this machine alone
    assert not {name: found for name, found in reached.items() if found}
