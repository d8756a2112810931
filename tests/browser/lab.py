"""A real JupyterLab on a free port, apart from the user's own settings, and what a test does in it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

CHROMIUM = (
    os.environ.get("AUTOGRAD_VIZ_CHROMIUM")
    or shutil.which("chromium-headless-shell")  # the same without windows of its own: a fifth less CPU time
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
    or shutil.which("google-chrome")
)
# all stored pages of a notebook share one process; what Python compiles to runs once, so that it is not compiled better
CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--force-color-profile=srgb",
    "--font-render-hinting=none", "--disable-features=IsolateSandboxedIframes,LazyFrameLoading", "--js-flags=--no-wasm-tier-up",
]  # fmt: skip
VIEWPORT = {"width": 1800, "height": 1300}  # room for the panel beside the picture
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
}


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@contextlib.contextmanager
def jupyterlab(root: Path | None, timeout: float = 90) -> Iterator[tuple[str, str]]:
    """Yields (address, token) of a JupyterLab, which serves Notebook 7 too, whose files are those of `root`.
    None: the one that `autograd-viz lab` starts, on our notebooks.
    """
    home = Path(tempfile.mkdtemp(prefix="jupyter-"))
    for name, values in SETTINGS.items():
        file = home / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    places = {
        "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "run", "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }  # fmt: skip
    environment = {**os.environ, **{k: str(home / v) for k, v in places.items()}, "JUPYTER_PREFER_ENV_PATH": "1"}
    token, port = secrets.token_hex(16), _free_port()
    command = [
        sys.executable, "-m", *(["autograd_viz", "lab"] if root is None else ["jupyterlab", f"--ServerApp.root_dir={root}"]),
        "--no-browser", *(["--allow-root"] if root else []), f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={token}",
        "--KernelManager.transport=ipc", f"--FileCheckpoints.checkpoint_dir={home}",  # two servers would choose the same ports
        *(f"--{name}.expose_app_in_browser=True" for name in ("LabApp", "JupyterNotebookApp")),
    ]  # fmt: skip
    log = (home / "server.log").open("wb")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        _wait_for(f"http://127.0.0.1:{port}/api/status?token={token}", process, time.monotonic() + timeout, home / "server.log")
        yield f"http://127.0.0.1:{port}", token
    finally:
        _stop(process)
        log.close()
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def marimo(program: Path, timeout: float = 60) -> Iterator[str]:
    """Yields the address of a marimo app."""
    port = _free_port()
    command = [sys.executable, "-m", "marimo", "run", str(program), "--headless", "--port", str(port), "--host", "127.0.0.1"]
    file = program.with_suffix(".log")
    with file.open("wb") as log:
        process = subprocess.Popen([*command, "--no-token"], cwd=program.parent, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait_for(f"http://127.0.0.1:{port}/", process, time.monotonic() + timeout, file)
            yield f"http://127.0.0.1:{port}/"
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def _wait_for(address: str, process: subprocess.Popen[bytes], deadline: float, log: Path) -> None:
    while True:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{log.read_text()[-3000:]}") from None
            time.sleep(0.1)


def write_notebook(path: Path, *cells: str) -> None:
    """A notebook of these code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


READY = """() => {
  const session = window.jupyterapp?.shell?.currentWidget?.sessionContext;
  return session?.isReady && session.session?.kernel?.status === 'idle';
}"""
ALL_RAN = """() => {
  const panel = window.jupyterapp.shell.currentWidget;
  return panel.sessionContext.session.kernel.status === 'idle' && [...panel.content.widgets].every(
    c => c.model.type !== 'code' || c.model.executionCount !== null || !c.model.sharedModel.getSource().trim());
}"""
ERRORS = """() => [...window.jupyterapp.shell.currentWidget.content.widgets]
  .flatMap(c => c.model.type === 'code' ? c.model.outputs.toJSON() : [])
  .filter(o => o.output_type === 'error').map(o => o.ename + ': ' + o.evalue)"""
OPEN = """async ([path, id]) => {
  await window.jupyterapp.commands.execute('docmanager:open', id ? {path, kernel: {id}} : {path});
}"""
OPENED = "(path) => window.jupyterapp.shell.currentWidget?.context?.path === path"
# the kernel of the notebook that is open, as new; null if it has none that answers
KEPT = """async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel;
  if (!kernel || kernel.status !== 'idle') return null;
  await kernel.requestExecute({code, store_history: false}).done;
  return kernel.id;
}"""
FILL = """(sources) => {
  const notebook = window.jupyterapp.shell.currentWidget.content.model.sharedModel;
  const before = notebook.cells.length;
  notebook.transact(() => {
    notebook.insertCells(before, sources.map(source => ({cell_type: 'code', source, metadata: {}, outputs: []})));
    notebook.deleteCellRange(0, before);
  });
}"""
CLOSE = """(kept) => {
  for (const panel of [...window.jupyterapp.shell.widgets('main')]) {
    if (panel.sessionContext?.session?.kernel?.id !== kept) panel.sessionContext?.shutdown();
    panel.dispose();
  }
}"""
AS_NEW = """
def _as_new():
    import gc, linecache, sys
    from ipywidgets import Widget
    import autograd_viz
    Widget.close_all()
    autograd_viz.set_language("en")
    for name in ("last_value", "last_type", "last_traceback", "last_exc"):
        vars(sys).pop(name, None)
    get_ipython().reset(new_session=True)
    linecache.clearcache()  # the code of cells, which explain reads
    get_ipython().compile._filename_map.clear()
    gc.collect()
    gc.freeze()  # the modules, which the next one need not walk through
_as_new()
"""
RUN_CODE = """async (code) => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const future = kernel.requestExecute({code, store_history: false});
  let text = '';
  future.onIOPub = m => {
    if (m.header.msg_type === 'stream') text += m.content.text;
    if (m.header.msg_type === 'error') text += m.content.ename + ': ' + m.content.evalue;
  };
  await future.done;
  return text;
}"""


class LabPage:
    """A notebook open in a browser page."""

    def __init__(self, page: Any, server: tuple[str, str], name: str, app: str = "lab") -> None:
        self.page, self.name = page, name
        self.errors: list[str] = []
        self.kernel: str | None = None  # what the next notebook goes on with
        page.on("pageerror", lambda e: self.heard(str(e)))
        page.on("console", lambda m: self.heard(m.text) if m.type == "error" else None)
        address, token = server
        where = f"lab/workspaces/t{secrets.token_hex(3)}/tree/{name}?reset&" if app == "lab" else f"notebooks/{name}?"
        page.goto(f"{address}/{where}token={token}")
        page.wait_for_function("() => window.jupyterapp?.shell?.currentWidget?.context?.isReady", timeout=60_000)
        page.wait_for_function(READY, timeout=60_000, polling=50)
        page.evaluate("window.jupyterapp.shell.collapseLeft?.()")  # JupyterLab itself does so once a test has made it narrow

    def heard(self, error: str) -> None:
        """An error in the page; JupyterLab's own is left out, which looks for the focus of a notebook that has been closed."""
        if not ("(reading 'footer')" in error and "_ensureFocus" in error):
            self.errors.append(error)

    def open(self, name: str) -> None:
        """Another notebook in the same page and with the kernel that was kept, in a sixth of the time."""
        self.name = name
        self.errors.clear()
        self.page.evaluate(CLOSE, self.kernel)
        self.page.evaluate(OPEN, [name, self.kernel])
        self.page.wait_for_function(OPENED, arg=name, polling=50)
        self.page.wait_for_function(READY, timeout=60_000, polling=50)

    def fill(self, *cells: str) -> None:
        """Other cells in the notebook that is open, with the kernel that was kept, in a third of that time."""
        self.errors.clear()
        self.page.evaluate(FILL, cells)

    def leave(self) -> None:
        """One kernel stays, as new, and the page, as wide and as lively as it was at first."""
        self.page.mouse.move(0, 0)  # off the widget, which tells its kernel while there is one
        self.kernel = self.page.evaluate(KEPT, AS_NEW)
        self.page.set_viewport_size(VIEWPORT)
        self.page.emulate_media(reduced_motion="null")

    @contextlib.contextmanager
    def dark(self) -> Iterator[None]:
        """JupyterLab's dark theme; the light one afterwards, since it is the server's setting."""
        change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
        is_light = "light => document.body.dataset.jpThemeLight === light"
        self.page.evaluate(change, "JupyterLab Dark")
        self.page.wait_for_function(is_light, arg="false")
        try:
            yield
        finally:
            self.page.evaluate(change, "JupyterLab Light")
            self.page.wait_for_function(is_light, arg="true")

    def run_all(self) -> None:
        """Run every cell; fail on an error output."""
        self.page.evaluate("async () => { await window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        self.page.wait_for_function(ALL_RAN, timeout=120_000, polling=50)
        errors = self.page.evaluate(ERRORS)
        assert not errors, errors

    def run_code(self, code: str) -> str:
        """What code prints in the kernel, beside the cells."""
        return str(self.page.evaluate(RUN_CODE, code)).strip()

    def wait_for_code(self, code: str, printed: str) -> None:
        """Code prints this in the kernel, soon: a page tells its kernel of a click a little later."""
        deadline = time.monotonic() + 30
        while (found := self.run_code(code)) != printed:
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
