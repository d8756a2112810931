"""A pass as slides: a page for each step, its picture with the sentence under it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import MissingLibraryError
from ..graph.trace import Step
from ..pictures.files.image import check_resvg, pdf_bytes, png_bytes, size_of
from ..pictures.maps.drawing import MapDrawing
from ..pictures.render.drawing import Drawing
from .formats import FINAL, Subject, Wishes, at_step, drawn

WIDE, HIGH, MARGIN, SAID = 13.333, 7.5, 0.3, 1.3  # inches: of a slide, and of the sentence under its picture
MOST_SCALE = 1.6  # of a picture on a slide: small figures do not fill it
LETTERS = 22  # points


class Slide(NamedTuple):
    """One step: the picture without its sentence and with it, the sentence, and the formulas."""

    svg: str
    captioned: str
    sentence: str
    formulas: Sequence[str]


def slides_of(subject: Subject, wishes: Wishes) -> list[Slide]:
    """The slides of the chosen steps; of True, of the start and of all steps. ValueError: there is no such step."""
    stepper, drawing = subject.stepper(), drawn(subject, wishes)
    with at_step(stepper, FINAL):
        steps = stepper.trace.steps
        chosen = range(len(steps) + 1) if wishes.steps is True else [int(k) for k in wishes.steps or ()]
        if missing := [k for k in chosen if not 0 <= k <= len(steps)]:
            raise ValueError(f"there is no step {missing[0]}: the pass has {len(steps)}")
        return [_slide(drawing, stepper, k, steps, wishes) for k in chosen]


def _slide(drawing: Drawing | MapDrawing, stepper: Any, k: int, steps: Sequence[Step], wishes: Wishes) -> Slide:
    stepper.goto(k)
    state, sentence = stepper.state, stepper.sentence_at(k)
    caption = f"{k} / {len(steps)}  {sentence}"
    svg, captioned = (drawing.svg(state, wishes.palette, said) for said in ("", caption))
    return Slide(svg, captioned, caption, [rule.text for rule in steps[k - 1].named] if k else [])


def slides_pdf(subject: Subject, wishes: Wishes) -> bytes:
    """A page for each step."""
    return pdf_bytes(*(slide.captioned for slide in slides_of(subject, wishes)))


def slides_pptx(subject: Subject, wishes: Wishes) -> bytes:
    """A slide for each step: a picture, the sentence as text, and the formulas as notes."""
    try:
        from pptx import Presentation
        from pptx.util import Inches, Pt
    except ModuleNotFoundError:
        raise MissingLibraryError(".pptx needs python-pptx", "python-pptx", "save .html") from None
    check_resvg()
    made = Presentation()
    made.slide_width, made.slide_height = Inches(WIDE), Inches(HIGH)
    for slide in slides_of(subject, wishes):
        page = made.slides.add_slide(made.slide_layouts[6])  # an empty one
        (width, height), room = size_of(slide.svg), (WIDE - 2 * MARGIN, HIGH - SAID - MARGIN)
        scale = min(room[0] * 96 / width, room[1] * 96 / height, MOST_SCALE) / 96
        left, top = (WIDE - width * scale) / 2, MARGIN + (room[1] - height * scale) / 2
        place = (Inches(inches) for inches in (left, top, width * scale, height * scale))
        picture = page.shapes.add_picture(io.BytesIO(png_bytes(slide.svg, wishes.scale)), *place)
        picture.name = slide.sentence
        box = page.shapes.add_textbox(*(Inches(n) for n in (MARGIN, HIGH - SAID, WIDE - 2 * MARGIN, SAID - MARGIN)))
        box.text_frame.word_wrap = True
        box.text_frame.text = slide.sentence
        box.text_frame.paragraphs[0].font.size = Pt(LETTERS)
        if slide.formulas:
            page.notes_slide.notes_text_frame.text = "\n".join(slide.formulas)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()
