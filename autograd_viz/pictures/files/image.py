"""SVG text -> PNG and PDF. resvg draws both, with a font from a dependency. System fonts add missing letters to a PNG."""

from __future__ import annotations

import contextlib
import functools
import html
import importlib.util
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import AutogradVizError, MissingLibraryError
from ..render.svg import size_of

# letters that the font lacks (Chinese, Japanese, Korean, emoji); a system font may have them
FOREIGN = "[\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0003ffff]"
MOST_PIXELS = 60_000_000  # of a PNG; while it is drawn it takes 240 MB
SCALE = 2.0  # default pixels per px


@functools.cache
def font_file() -> Path:
    """DejaVu Sans Mono, from the data of python-barcode: the smallest package with this font. It is not imported."""
    spec = importlib.util.find_spec("barcode")
    file = Path(next(iter(spec.submodule_search_locations or []), ""), "fonts", "DejaVuSansMono.ttf") if spec else None
    if file is None or not file.is_file():
        raise AutogradVizError("PNG pictures need the font of python-barcode; install it with: pip install python-barcode")
    return file


def png_bytes(svg: str, scale: float | None = None) -> bytes:
    """One of our pictures as PNG. `scale`: pixels per px; None for `SCALE`, or for a large picture the largest that fits.
    ValueError: scale is not positive. AutogradVizError: the picture would be too large.
    """
    width, height = size_of(svg)
    most = (MOST_PIXELS / width / height) ** 0.5
    digit = 10.0 ** (math.floor(math.log10(most)) - 1)
    most = float(f"{math.floor(most / digit) * digit:.2g}")  # two digits, rounded down so that the suggested scale fits
    scale = min(SCALE, most) if scale is None else scale
    if not scale > 0:
        raise ValueError(f"scale must be positive, got {scale}")
    if width * height * scale**2 > MOST_PIXELS:
        raise AutogradVizError(
            f"a PNG of {width * scale:.0f} x {height * scale:.0f} pixels is too large; choose a scale of {most:g} or less, "
            "or .svg, which has no limit"
        )
    check_resvg()
    from resvg import render, usvg

    with no_panic():
        tree = usvg.Tree.from_str(svg, fonts_for(svg))
        columns, rows = (max(1, math.floor(px * scale + 0.5)) for px in tree.int_size())
        return render(tree, (scale, 0.0, 0.0, 0.0, scale, 0.0), bg_size=(columns, rows))


def check_resvg() -> None:
    """MissingLibraryError: pictures of pixels cannot be drawn here."""
    try:
        importlib.import_module("resvg")
    except ModuleNotFoundError:
        raise MissingLibraryError(".png, .gif, .apng and .webp need resvg", "resvg", "save .svg or .html") from None


@contextlib.contextmanager
def no_panic() -> Iterator[None]:
    """Turn any exception of a Rust library into our error. A panic is not an `Exception`, so it is caught too."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, RuntimeError | OverflowError) or type(error).__module__ == "pyo3_runtime":
            raise AutogradVizError(f"the picture cannot be drawn: {error}") from error
        raise


def fonts_for(svg: str) -> Any:
    """The font of all pictures, plus system fonts if it lacks letters of this one. Loading those takes a while."""
    from resvg import usvg

    options = usvg.Options.default()
    options.load_font_file(str(font_file()))
    if re.search(FOREIGN, svg):
        options.load_system_fonts()
    return options


POINT = 0.75  # of a px
LARGEST = 14_400  # points; the largest page that every reader shows


def pdf_bytes(*svgs: str) -> bytes:
    """Each picture on a page of its size, or smaller if it is too large for a page. Equal SVGs give equal bytes.
    MissingLibraryError: Typst is not installed. AutogradVizError: Typst refuses the picture.
    """
    try:
        import typst
    except ModuleNotFoundError:
        raise MissingLibraryError("PDF pictures need Typst", "typst") from None
    sizes = [(w * (scale := min(POINT, LARGEST / max(w, h))), h * scale) for w, h in map(size_of, svgs)]
    title = re.search(r"<title>(.*?)</title>", svgs[0])
    inputs = {"title": html.unescape(title[1]) if title else "", "sizes": ";".join(f"{w!r},{h!r}" for w, h in sizes)}
    files = {"main.typ": (Path(__file__).parent / "picture.typ").read_bytes()}
    files |= {f"picture{place}.svg": svg.encode() for place, svg in enumerate(svgs)}
    try:
        compiled: Any = typst.compile  # its type hints lack documented arguments: files by name
        with no_panic():
            return bytes(compiled(files, font_paths=[font_file().parent], sys_inputs=inputs, pdf_standards="1.7"))
    except typst.TypstError as error:
        raise AutogradVizError(f"cannot convert the picture to PDF: {error}") from error
