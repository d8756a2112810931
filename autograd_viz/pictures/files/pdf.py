"""SVG -> PDF with Typst: vectors, and text with an embedded font. Typst reads SVG with resvg, as the PNG does."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from ...errors import AutogradVizError, MissingLibraryError
from .image import font_file, no_panic, size_of

POINT = 0.75  # of a px
LARGEST = 14_400  # points; the largest page that every reader shows


def pdf_bytes(svg: str) -> bytes:
    """The picture on a page of its size, or smaller if it is too large for a page. Equal SVGs give equal bytes.

    Raises:
        MissingLibraryError: Typst is not installed.
        AutogradVizError: Typst refuses the picture.
    """
    try:
        import typst
    except ModuleNotFoundError:
        raise MissingLibraryError("PDF pictures need Typst", "typst") from None
    width, height = size_of(svg)
    scale = min(POINT, LARGEST / max(width, height))
    title = re.search(r"<title>(.*?)</title>", svg)
    inputs = {
        "title": html.unescape(title[1]) if title else "",
        "width": repr(width * scale),
        "height": repr(height * scale),
    }
    files = {"main.typ": (Path(__file__).parent / "picture.typ").read_bytes(), "picture.svg": svg.encode()}
    try:
        compiled: Any = typst.compile  # its type hints lack documented arguments: files by name
        with no_panic():
            return bytes(compiled(files, font_paths=[font_file().parent], sys_inputs=inputs, pdf_standards="1.7"))
    except typst.TypstError as error:
        raise AutogradVizError(f"cannot convert the picture to PDF: {error}") from error
