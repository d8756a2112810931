"""Files: written whole or not at all, and read up to a size."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import tempfile
from pathlib import Path

from ..errors import NO_FILES, CannotReadError, CannotWriteError
from .interrupts import whole


def in_utf8(text: str) -> bytes:
    """The bytes of a text file. A lone surrogate, which a name may have, is written as JSON escapes it."""
    return text.encode("utf-8", "backslashreplace")


def write_file(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file, or keep the old one. Ctrl-C waits for it. CannotWriteError: as `check_place`, or the disk is full."""
    check_place(path)
    target = Path(os.path.realpath(path))  # the target of a link is replaced, not the link
    try:
        with whole():
            replace_file(target, data)
    except OSError as error:
        raise CannotWriteError(f"cannot write {target}: {error.strerror or error}") from error
    return target


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before any work is done. For a link, its target is checked.
    CannotWriteError: the folder is missing, or the path is invalid, a folder, a pipe, a device or a read-only file.
    """
    try:
        reason = _obstacle(Path(os.path.realpath(path)))
    except OSError as error:  # the folder is not readable, the name is too long
        raise CannotWriteError(f"cannot write {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise CannotWriteError(f"cannot write {os.fspath(path)!r}: {error}") from None
    if reason:
        raise CannotWriteError(f"cannot write {path}: {reason}")


def _obstacle(target: Path) -> str:
    if not target.parent.is_dir():
        return f"the folder {target.parent} does not exist"
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return ""
    if kind := NO_FILES.get(stat.S_IFMT(mode)):
        return f"it is {kind}"
    return "" if os.access(target, os.W_OK) else "it is there already, and may not be written to"


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """The text of a file of at most `most` bytes.
    CannotReadError: it cannot be read, is too large, or is not a text. A pipe or a device, which may never end, is refused.
    """
    try:
        found = os.stat(path)
        kind = NO_FILES.get(stat.S_IFMT(found.st_mode))
        if kind is None and found.st_size <= most:
            return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CannotReadError(f"cannot read {path}: it is not a text file") from None
    except OSError as error:
        raise CannotReadError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:  # the path contains an invalid character
        raise CannotReadError(f"cannot read {os.fspath(path)!r}: {error}") from None
    raise CannotReadError(f"cannot read {path}: it {f'is {kind}' if kind else f'has more than {most:,} bytes'}")


OWNERS = 0o600  # a browser's Python takes every right away from new files


def replace_file(target: Path, data: bytes) -> None:
    """Write a new file next to the target, then rename it, so that the target is always complete."""
    beginning = target.name[:40]  # the name may already have the largest length
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{beginning}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, stat.S_IMODE(target.stat().st_mode) if target.exists() else OWNERS | (0o666 & ~_umask()))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@functools.cache
def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
