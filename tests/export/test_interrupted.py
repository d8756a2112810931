"""A save that is killed, interrupted or runs out of room leaves what was there before, and takes the pass back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import autograd_viz as av
from autograd_viz.pictures.files import animation

from ..figures import figure

PROGRAM = """
import sys
import autograd_viz as av
from autograd_viz.runtime.files import replace_file
from pathlib import Path
x = av.tensor(2.0, requires_grad=True)
y = x * x
av.save(y, sys.argv[1])
print("saved", flush=True)
"""
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    av.save(y, sys.argv[1])
except av.CannotWriteError as error:
    print(error)
print(x.grad)
"""
KILLED = """
while True:
    replace_file(Path(sys.argv[1]), bytes(30_000_000))
"""


def program(code: str, target: Path) -> subprocess.Popen[str]:
    """Runs beside the test."""
    return subprocess.Popen([sys.executable, "-c", PROGRAM + code, str(target)], stdout=subprocess.PIPE, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX")
@pytest.mark.parametrize("name", ["y.html", "y.png"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    said, _ = program(LIMITED, tmp_path / name).communicate(timeout=60)
    assert f"cannot write {tmp_path / name}: File too large" in said and said.splitlines()[-1] == "None"
    assert (tmp_path / name).stat().st_size > 1000 and [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of POSIX")
def test_a_killed_program_leaves_a_whole_file(tmp_path: Path) -> None:
    target = tmp_path / "y.html"
    process = program(KILLED, target)
    assert process.stdout is not None and process.stdout.readline() == "saved\n"
    while target.stat().st_size != 30_000_000:
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert target.stat().st_size == 30_000_000


@pytest.mark.parametrize("suffix", ["gif", "apng", "webp"])
def test_an_interrupted_animation_is_none(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    e, names = figure(3, before=True)
    steps: list[Any] = []
    real = animation.Reel._shot

    def interrupted(self: Any, caption: Image.Image) -> Image.Image:
        steps.append(caption)
        if len(steps) == 4:
            raise KeyboardInterrupt
        return real(self, caption)

    monkeypatch.setattr(animation.Reel, "_shot", interrupted)
    with pytest.raises(KeyboardInterrupt):
        av.save(e, tmp_path / f"e.{suffix}")
    assert len(steps) == 4 and not list(tmp_path.iterdir()) and names["a"].grad is None


def test_what_a_link_points_to_is_replaced_with_its_permissions(tmp_path: Path) -> None:
    target, link = tmp_path / "private.svg", tmp_path / "link.svg"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    av.save(figure(3)[0], link)
    assert link.is_symlink() and target.read_text().startswith("<svg") and target.stat().st_mode & 0o777 == 0o600


def test_a_file_that_may_not_be_written_to_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "e.svg"
    target.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == target and mode == os.W_OK))  # root may write
    with pytest.raises(av.CannotWriteError, match="may not be written to"):
        av.save(figure(3)[0], target)
    assert target.read_text() == "old"
