"""The layout of a large picture in a process of its own. It can be stopped, and the notebook stays responsive."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from tempfile import TemporaryFile

from ...errors import IN_PAGE, LayoutError
from ...graph.frames import OpenGroup
from ...graph.model import Document
from .bands import layout
from .geometry import Geometry
from .sizes import WAITE, Sizes

LIMIT = 20.0  # seconds
QUIET = 1.0  # seconds before the line with the time is shown
PROGRAM = f"from {__name__} import answer; answer()"


def layout_apart(
    document: Document, groups: tuple[OpenGroup, ...] = (), sizes: Sizes = WAITE, limit: float = LIMIT
) -> Geometry:
    """As `layout`, for at most `limit` seconds; a line shows how long it has taken so far. A page has no processes: there it
    is laid out at once.
    LayoutError: it took longer, or the process died. KeyboardInterrupt: the user has stopped it.
    """
    if IN_PAGE:
        return layout(document, groups, sizes)
    boxes = len(document.tensors) + len(document.ops) + len(document.nodes)
    pipe, path = subprocess.PIPE, os.pathsep.join(filter(None, sys.path))  # it imports from where this process does
    command, places = [sys.executable, "-P", "-c", PROGRAM], {**os.environ, "PYTHONPATH": path}
    with TemporaryFile() as question:
        # safe: both ends of the pipe are ours
        pickle.dump((document, groups, sizes), question)
        question.seek(0)
        with subprocess.Popen(command, stdin=question, stdout=pipe, stderr=pipe, env=places) as process:
            try:
                answer, said = _answered(process, boxes, limit)
            finally:
                process.kill()
    if process.returncode != 0 or not answer:
        last = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise LayoutError(f"the layout of {boxes:,} boxes failed: {last or f'the process ended with {process.returncode}'}")
    geometry: Geometry = pickle.loads(answer)
    return geometry


def _answered(process: subprocess.Popen[bytes], boxes: int, limit: float) -> tuple[bytes, bytes]:
    """The answer and the error output of the process. While it runs, a line shows the time."""
    from tqdm.auto import tqdm

    begin, form = time.monotonic(), "{desc} {elapsed}"
    with tqdm(desc=f"laying out {boxes:,} boxes", bar_format=form, delay=QUIET, leave=False) as line:
        while (left := begin + limit - time.monotonic()) > 0:
            try:
                return process.communicate(timeout=min(0.1, left))
            except subprocess.TimeoutExpired:
                line.update()
    raise LayoutError(f"the layout of {boxes:,} boxes took more than {limit:g} s and was stopped")


def answer() -> None:
    """What the process does: it reads a document and writes its geometry."""
    geometry = layout(*pickle.load(sys.stdin.buffer))
    sys.stdout.buffer.write(pickle.dumps(geometry))
