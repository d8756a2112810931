"""A pass as slides: on each a step, its picture with the sentence under it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple

from ...errors import MissingLibraryError
from ..render.svg import size_of
from .image import check_resvg, pdf_bytes, png_bytes

WIDE, HIGH, MARGIN, SAID = 13.333, 7.5, 0.3, 1.3  # inches: of a slide, its margin, and the sentence under its picture
MOST_SCALE = 1.6  # of a picture on a slide: small figures do not fill it
LETTERS = 22  # points
EMPTY = 6  # the layout of a slide without places for text


class Slide(NamedTuple):
    """One step: the picture without its sentence and with it, the sentence, and the formulas."""

    svg: str
    captioned: str
    sentence: str
    formulas: Sequence[str]


def slides_pdf(slides: Sequence[Slide]) -> bytes:
    """A page for each slide."""
    return pdf_bytes(*(slide.captioned for slide in slides))


def slides_pptx(slides: Sequence[Slide], scale: float | None) -> bytes:
    """On each slide a picture of `scale` pixels per px, the sentence as text, and the formulas as notes.
    MissingLibraryError: python-pptx is not installed.
    """
    try:
        from pptx import Presentation
        from pptx.util import Inches, Pt
    except ModuleNotFoundError:
        raise MissingLibraryError(".pptx needs python-pptx", "python-pptx", "save .html") from None
    check_resvg()
    made = Presentation()
    made.slide_width, made.slide_height = Inches(WIDE), Inches(HIGH)
    for slide in slides:
        page = made.slides.add_slide(made.slide_layouts[EMPTY])
        (width, height), room = size_of(slide.svg), (WIDE - 2 * MARGIN, HIGH - SAID - MARGIN)
        inch = min(room[0] * 96 / width, room[1] * 96 / height, MOST_SCALE) / 96  # of a px of the picture
        left, top = (WIDE - width * inch) / 2, MARGIN + (room[1] - height * inch) / 2
        place = (Inches(length) for length in (left, top, width * inch, height * inch))
        page.shapes.add_picture(io.BytesIO(png_bytes(slide.svg, scale)), *place).name = slide.sentence
        below = (Inches(length) for length in (MARGIN, HIGH - SAID, WIDE - 2 * MARGIN, SAID - MARGIN))
        said = page.shapes.add_textbox(*below).text_frame
        said.word_wrap, said.text = True, slide.sentence
        said.paragraphs[0].font.size = Pt(LETTERS)
        if slide.formulas:
            page.notes_slide.notes_text_frame.text = "\n".join(slide.formulas)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()
