"""`save` by suffix: each format is a function of a subject and wishes that gives the bytes of the file."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UnknownChoiceError
from ..graph import Document, State, Trace
from ..graph.codec import recording_to_json
from ..pictures.files.dot import digraph, mermaid
from ..pictures.files.image import check_resvg, pdf_bytes, png_bytes
from ..pictures.files.slides import Slide, slides_pdf, slides_pptx
from ..pictures.maps.drawing import MapDrawing
from ..pictures.maps.numbers import Place
from ..pictures.maps.outline import map_json, map_mermaid
from ..pictures.render import Theme, theme_named
from ..pictures.render.drawing import AUTO, Drawing, drawing_of
from ..pictures.runs.table import run_csv, run_json
from ..runtime.files import check_place, in_utf8, write_file
from ..runtime.interrupts import breakable, whole
from ..stepper.recorded import Recording
from ..stepper.stepper import Stepper
from ..widget.html import diff_html, html_page, run_html
from .picture import first_drawing, whole_in

if TYPE_CHECKING:
    from graphviz import Digraph

FINAL = "final"


@dataclass(frozen=True)
class Subject:
    """What is saved."""

    document: Document  # the graph
    now: State  # what a picture shows if no step is given
    stepper: Callable[[], Stepper]  # gives the cursor over its backward pass
    can_step: bool = True  # such a pass exists: the tensor requires grad, and its graph is not freed
    # runs a whole pass that leaves no trace, and gives the norms at some places. Empty if no pass can run.
    norms: Callable[[Collection[Place]], Mapping[Place, float]] = lambda places: {}
    drawing: Drawing | MapDrawing | None = None  # the drawing that already exists


SLIDE = (1000, 480)  # px of a figure whose letters and sentence are read from the last row


@dataclass(frozen=True)
class Wishes:
    """How it is saved."""

    step: int | str | None = None  # a position, "final", or None for the current state
    theme: str = "auto"  # "light", "dark", "waite", or "auto"
    scale: float | None = None  # pixels per px, or None for the default of the format
    duration: float = 1.5  # of a step of an animation, in seconds
    collapse: bool | None = None  # as for `drawing_of`; None leaves a drawing as it is
    detail: str = AUTO  # as for `drawing_of`; "auto" leaves a drawing as it is
    steps: bool | Sequence[int] = False  # of slides: True for all

    @property
    def palette(self) -> Theme:
        """The theme of a file that has only one."""
        return theme_named("light" if self.theme == "auto" else self.theme)


@contextlib.contextmanager
def at_step(stepper: Stepper, step: int | str) -> Iterator[None]:
    """Move the cursor to a step inside the block, and restore everything after it. ValueError if there is no such step."""
    here = stepper.step
    with whole(), stepper.untouched():
        try:
            with breakable():
                if step == FINAL:
                    stepper.finish()
                else:
                    if step != int(step):
                        raise ValueError(f"step must be a whole number or {FINAL!r}, got {step}")
                    stepper.goto(int(step))
                    if stepper.step != step:
                        raise ValueError(f"there is no step {step}: the pass has {len(stepper.trace.steps)}")
                yield
        finally:
            stepper.goto(here)


def state_of(subject: Subject, wishes: Wishes) -> State:
    """The state at the given step."""
    if wishes.step is None:
        return subject.now
    stepper = subject.stepper()
    with at_step(stepper, wishes.step):
        return stepper.state


def drawn(subject: Subject, wishes: Wishes) -> Drawing | MapDrawing:
    """The drawing of the subject."""
    if subject.drawing is None or wishes.collapse is not None:
        return drawing_of(subject.document, wishes.collapse, wishes.detail)
    if wishes.detail == AUTO or isinstance(subject.drawing, MapDrawing):
        return subject.drawing
    return replace(subject.drawing, detail=wishes.detail)


def picture(subject: Subject, wishes: Wishes) -> str:
    """The figure at the given step, as SVG."""
    return drawn(subject, wishes).svg(state_of(subject, wishes), wishes.palette)


def to_digraph(subject: Subject, wishes: Wishes) -> Digraph:
    """The graph at the given step, as a graphviz.Digraph."""
    return digraph(subject.document, state_of(subject, wishes), wishes.palette)


def html_text(subject: Subject, wishes: Wishes) -> str:
    """The page that steps without a kernel; it opens at the given step."""
    stepper = subject.stepper()
    with at_step(stepper, stepper.step if wishes.step is None else wishes.step):
        begin = stepper.step
    with at_step(stepper, FINAL):
        is_new = subject.drawing is None  # then the page shows what `show` does
        drawing = first_drawing(subject.document, wishes.collapse, wishes.detail) if is_new else drawn(subject, wishes)
        return html_page(stepper, wishes.theme, begin, drawing)


def _animation(format: str) -> Callable[[Subject, Wishes], bytes]:
    def written(subject: Subject, wishes: Wishes) -> bytes:
        check_resvg()
        stepper = subject.stepper()
        with at_step(stepper, FINAL if wishes.step is None else wishes.step):
            trace = Trace(stepper.trace.steps[: max(0, stepper.step)])
            said = tuple(stepper.sentence_at(i) for i in range(len(trace.steps) + 1))
        drawing = drawn(subject, wishes)
        if isinstance(drawing, MapDrawing):  # an animation shows the figure
            drawing = drawing_of(subject.document)
        shown = Trace(tuple(drawing.shown.step(s) for s in trace.steps))
        from ..pictures.files.animation import Story, animation_bytes

        story = Story(drawing.shown.document, drawing.geometry, shown, said)
        return animation_bytes(story, format, wishes.palette, wishes.duration, 1.0 if wishes.scale is None else wishes.scale)

    return written


def _json(subject: Subject, wishes: Wishes) -> bytes:
    """Document and trace. A graph that cannot be stepped gives only the document."""
    if not subject.can_step:
        return in_utf8(recording_to_json(subject.document, Trace()))
    stepper = subject.stepper()
    with at_step(stepper, FINAL):
        return in_utf8(recording_to_json(subject.document, stepper.trace))


def _slides(subject: Subject, wishes: Wishes) -> list[Slide]:
    """The chosen steps, or the start and all steps. ValueError: there is no such step."""
    stepper, drawing = subject.stepper(), drawn(subject, wishes)
    if isinstance(drawing, Drawing) and drawing.detail == wishes.detail == AUTO and drawing.opened is None:
        drawing = whole_in(SLIDE, subject.document).without_code
    with at_step(stepper, FINAL):
        steps = stepper.trace.steps
        chosen = [*range(len(steps) + 1)] if isinstance(wishes.steps, bool) else [int(k) for k in wishes.steps]
        if missing := [k for k in chosen if not 0 <= k <= len(steps)]:
            raise ValueError(f"there is no step {missing[0]}: the pass has {len(steps)}")
        slides = []
        for k in chosen:
            stepper.goto(k)
            said = f"{k} / {len(steps)}  {stepper.sentence_at(k)}"
            svg, captioned = (drawing.svg(stepper.state, wishes.palette, caption) for caption in ("", said))
            slides.append(Slide(svg, captioned, said, [rule.text for rule in steps[k - 1].named] if k else []))
        return slides


def _pdf(subject: Subject, wishes: Wishes) -> bytes:
    return pdf_bytes(picture(subject, wishes)) if wishes.steps is False else slides_pdf(_slides(subject, wishes))


Writers = Mapping[str, Callable[[Any, Wishes], bytes]]  # by suffix
WRITERS: Writers = {
    ".svg": lambda subject, wishes: in_utf8(picture(subject, wishes)),
    ".png": lambda subject, wishes: png_bytes(picture(subject, wishes), wishes.scale),
    ".pdf": _pdf,
    ".pptx": lambda subject, wishes: slides_pptx(_slides(subject, wishes), wishes.scale),
    ".html": lambda subject, wishes: in_utf8(html_text(subject, wishes)),
    ".gif": _animation("GIF"),
    ".apng": _animation("PNG"),
    ".webp": _animation("WEBP"),
    ".dot": lambda subject, wishes: in_utf8(to_digraph(subject, wishes).source),
    ".mmd": lambda subject, wishes: in_utf8(mermaid(subject.document, wishes.palette)),
    ".json": _json,
}


def _still(x: Any, wishes: Wishes) -> str:
    """The picture that has been drawn, or the same in another theme."""
    return str(x.svg if wishes.theme == "auto" or not hasattr(x, "svg_in") else x.svg_in(wishes.theme))


STILL: Writers = {
    ".svg": lambda x, wishes: in_utf8(_still(x, wishes)),
    ".png": lambda x, wishes: png_bytes(_still(x, wishes), wishes.scale),
    ".pdf": lambda x, wishes: pdf_bytes(_still(x, wishes)),
}
MAPS: Writers = {
    **STILL,
    ".html": lambda x, wishes: in_utf8(html_page(Recording(x.drawing.document, Trace()).stepper(), wishes.theme, 0, x.drawing)),
    ".json": lambda x, wishes: in_utf8(map_json(x.drawing)),
    ".mmd": lambda x, wishes: in_utf8(map_mermaid(x.drawing)),
}
PAGED: Writers = {
    **STILL,
    ".html": lambda x, wishes: in_utf8(diff_html(x.page(wishes.theme), _still(x, wishes))),
    ".json": lambda x, wishes: in_utf8(x.to_json()),
}
SLIDERS: Writers = {**STILL, ".html": lambda x, wishes: in_utf8(x.to_html(wishes.theme))}
MEMORIES: Writers = {**PAGED, **SLIDERS}
RUNS: Writers = {
    **STILL,
    ".html": lambda x, wishes: in_utf8(run_html(x.page(wishes.theme), _still(x, wishes))),
    ".json": lambda x, wishes: in_utf8(run_json(x.flushed())),
    ".csv": lambda x, wishes: in_utf8(run_csv(x.flushed())),
}
FLAMES = ".speedscope.json"


def save_still(x: Any, path: Any, wishes: Wishes) -> None:
    """Write a picture that has been drawn: the result of `show`, `map`, `memory`, `diff` or `gather`, or a run.
    UnknownChoiceError: a picture has no such format. CannotWriteError: the folder is missing, or the path is a folder.
    """
    if hasattr(x, "to_speedscope") and str(path).lower().endswith(FLAMES):
        check_place(path)
        write_file(path, in_utf8(x.to_speedscope()))
        return
    if isinstance(getattr(x, "drawing", None), MapDrawing):
        writers = MAPS
    elif getattr(x, "kind", "") == "explorer":
        writers = SLIDERS
    else:
        of_verbs = ((MEMORIES, "to_html"), (RUNS, "history"), (PAGED, "partners"))
        writers = next((writers for writers, name in of_verbs if hasattr(x, name)), STILL)
    check_among(writers, path)
    write_file(path, writers[suffix_of(path)](x, wishes))


def check_among(writers: Writers, path: Any) -> None:
    """Check the file of a picture before what it shows is made. It raises what `save_still` raises."""
    if suffix_of(path) not in writers:
        raise UnknownChoiceError("file suffix of a picture", Path(path).suffix, writers)
    check_place(path)


def suffix_of(path: Any) -> str:
    """The suffix in lower case; a name like ".svg" is one."""
    name = Path(path)
    return (name.suffix or name.name).lower()


def check(wishes: Wishes, path: Any = None) -> None:
    """Check the arguments before any work is done.
    UnknownChoiceError: the suffix, theme or word for a step does not exist. CannotWriteError: the folder is missing, or the
    path is a folder.
    """
    if path is not None and suffix_of(path) not in WRITERS:
        raise UnknownChoiceError("file suffix", Path(path).suffix, WRITERS)
    if wishes.steps is not False and path is not None and suffix_of(path) not in (".pdf", ".pptx"):
        raise ValueError(f"steps= makes slides, a .pdf or a .pptx; got {Path(path).suffix or path!r}")
    if isinstance(wishes.step, str) and wishes.step != FINAL:
        raise UnknownChoiceError("step", wishes.step, ["a number", FINAL])
    if wishes.theme != "auto":
        theme_named(wishes.theme)
    if path is not None:
        check_place(path)
