"""Where `save` writes: to files, through links, and nowhere else; long names are names."""

from __future__ import annotations

import functools
import os
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.runtime import files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # a socket's path may have 100 letters
    return tmp_path


def save(name: str) -> None:
    """A picture, or for .npz a state_dict."""
    x = av.tensor(2.0, requires_grad=True)
    av.save({"x": x.detach()} if name.endswith(".npz") else x * x, name)


def a_pipe(name: str) -> None:
    os.mkfifo(name)


def a_socket(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(name)


@functools.cache
def terminal() -> str:
    """There is one for as long as the process lives."""
    return os.ttyname(os.openpty()[1])


def a_device(name: str) -> None:
    """A terminal of our own: no code that is broken can replace it, as root could /dev/null, for everybody."""
    os.symlink(terminal(), name)


@pytest.mark.parametrize("through_a_link", [False, True])
@pytest.mark.parametrize("suffix", [".svg", ".html", ".npz"])
@pytest.mark.parametrize("make", [a_pipe, a_socket, a_device])
def test_what_is_no_file_is_never_replaced(make: Any, suffix: str, through_a_link: bool) -> None:
    """Nor opened, which would wait for a reader of the pipe."""
    name = f"there{suffix}"
    make(name)
    before = os.stat(name)
    if through_a_link:
        os.symlink(name, f"link{suffix}")
        name = f"link{suffix}"
    with pytest.raises(av.CannotWriteError, match=f"cannot write {name}: it is {make.__name__.replace('_', ' ')}"):
        save(name)
    after = os.stat(name)
    assert (after.st_ino, stat.S_IFMT(after.st_mode)) == (before.st_ino, stat.S_IFMT(before.st_mode))


def test_a_link_to_nothing_is_written_through(folder: Path) -> None:
    (folder / "pictures").mkdir()
    os.symlink("pictures/new.svg", "link.svg")
    save("link.svg")
    assert os.readlink("link.svg") == "pictures/new.svg" and Path("pictures/new.svg").read_text().startswith("<svg")


@pytest.fixture
def no_rights() -> Iterator[None]:
    """New files get none, as in a browser's Python."""
    before = os.umask(0o777)
    files._umask.cache_clear()
    yield
    os.umask(before)
    files._umask.cache_clear()


@pytest.mark.usefixtures("no_rights")
@pytest.mark.parametrize("suffix", [".svg", ".json", ".npz"])
def test_a_new_file_can_be_read_by_its_owner(suffix: str) -> None:
    save(f"x{suffix}")
    assert stat.S_IMODE(os.stat(f"x{suffix}").st_mode) == 0o600


@pytest.mark.parametrize(
    ("link", "words"), [("itself.svg", "symbolic links"), ("no/new.svg", "the folder .*no does not exist")]
)
def test_a_link_that_leads_nowhere_stays(link: str, words: str) -> None:
    os.symlink(link, "itself.svg")
    with pytest.raises(av.CannotWriteError, match=f"cannot write itself.svg: .*{words}"):
        save("itself.svg")
    assert os.readlink("itself.svg") == link


@pytest.mark.parametrize("letter", ["a", "数"])
@pytest.mark.parametrize("suffix", [".svg", ".npz"])
def test_a_name_may_be_as_long_as_the_system_lets_it(letter: str, suffix: str, folder: Path) -> None:
    name = letter * ((255 - len(suffix)) // len(letter.encode())) + suffix
    save(name)
    save(name)  # over it too
    assert [p.name for p in folder.iterdir()] == [name]
    with pytest.raises(av.CannotWriteError, match="too long"):
        save(letter + name)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a\ud800/b", "a\0/b"])
@pytest.mark.parametrize("suffix", [".svg", ".json", ".npz"])
def test_a_path_of_letters_that_no_path_has_is_refused(name: str, suffix: str, folder: Path) -> None:
    with pytest.raises(av.CannotWriteError, match="cannot write 'a") as refused:
        save(name + suffix)
    assert str(refused.value).isascii()  # so that it can be printed
    if suffix != ".svg":
        with pytest.raises(av.CannotReadError, match="cannot read 'a") as unread:
            av.load(name + suffix)
        assert str(unread.value).isascii()
    assert not [*folder.iterdir()]
