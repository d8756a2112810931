"""SVG text -> files. resvg draws the PNG, with a font from a dependency. System fonts add missing letters."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import math
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import NO_FILES, AutogradVizError, CannotReadError, CannotWriteError
from ..runtime.interrupts import whole

# letters that the font lacks (Chinese, Japanese, Korean, emoji); a system font may have them
FOREIGN = re.compile("[\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0003ffff]")
MOST_PIXELS = 60_000_000  # of a PNG; while it is drawn it takes 240 MB
SCALE = 2.0  # default pixels per px


@functools.cache
def font_file() -> Path:
    """DejaVu Sans Mono, from the data of python-barcode. It is the smallest package with this font, and is not imported.

    Raises:
        AutogradVizError: python-barcode is not installed.
    """
    spec = importlib.util.find_spec("barcode")
    file = Path(next(iter(spec.submodule_search_locations or []), ""), "fonts", "DejaVuSansMono.ttf") if spec else None
    if file is None or not file.is_file():
        raise AutogradVizError("PNG pictures need the font of python-barcode; install it with: pip install python-barcode")
    return file


def size_of(svg: str) -> tuple[float, float]:
    """Width and height of one of our pictures, in px."""
    width, height = re.findall(r'viewBox="\S+ \S+ (\S+) (\S+)"', svg)[0]
    return float(width), float(height)


def png_bytes(svg: str, scale: float | None = None) -> bytes:
    """The picture as PNG.

    Args:
        svg: one of our pictures.
        scale: pixels per px; None for `SCALE`, or for a large picture the largest scale that fits.

    Raises:
        ValueError: scale is not positive.
        AutogradVizError: the picture would be too large.
    """
    width, height = size_of(svg)
    most = _rounded_down((MOST_PIXELS / width / height) ** 0.5)
    scale = min(SCALE, most) if scale is None else scale
    if not scale > 0:
        raise ValueError(f"scale must be positive, got {scale}")
    if width * height * scale**2 > MOST_PIXELS:
        raise AutogradVizError(
            f"a PNG of {width * scale:.0f} x {height * scale:.0f} pixels is too large; choose a scale of {most:g} or less, "
            "or .svg, which has no limit"
        )
    from resvg import render, usvg

    with no_panic():
        tree = usvg.Tree.from_str(svg, fonts_for(svg))
        columns, rows = (max(1, math.floor(px * scale + 0.5)) for px in tree.int_size())
        return render(tree, (scale, 0.0, 0.0, 0.0, scale, 0.0), bg_size=(columns, rows))


@contextlib.contextmanager
def no_panic() -> Iterator[None]:
    """Turn any exception of a Rust library into our error. A panic is not an `Exception`, so it is caught too.

    Raises:
        AutogradVizError: the picture could not be drawn.
    """
    try:
        yield
    except BaseException as error:
        if isinstance(error, RuntimeError | OverflowError) or type(error).__module__ == "pyo3_runtime":
            raise AutogradVizError(f"the picture cannot be drawn: {error}") from error
        raise


def _rounded_down(number: float) -> float:
    """Two significant digits, rounded down so that the suggested scale fits."""
    digit = 10.0 ** (math.floor(math.log10(number)) - 1)
    return float(f"{math.floor(number / digit) * digit:.2g}")


def fonts_for(svg: str) -> Any:
    """The font of all pictures, plus system fonts if it lacks letters of this one. Loading those takes a while."""
    from resvg import usvg

    options = usvg.Options.default()
    options.load_font_file(str(font_file()))
    if FOREIGN.search(svg):
        options.load_system_fonts()
    return options


def in_utf8(text: str) -> bytes:
    """The bytes of a text file. A lone surrogate, which a name may have, is written as JSON escapes it."""
    return text.encode("utf-8", "backslashreplace")


def write_file(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file, or keep the old one. Ctrl-C waits for it.

    Raises:
        CannotWriteError: as `check_place`, or the disk is full.
    """
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

    Raises:
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
    """The reason why no file can be written there, or ""."""
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
    """The text of a file.

    Args:
        path: where it is.
        most: the largest size in bytes.

    Raises:
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
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name[:40]}."
    )  # the name may already have the largest length
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
