"""PDF: the picture as vectors with its font, the same as the PNG."""

from __future__ import annotations

import builtins
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageStat

import autograd_viz as av
from autograd_viz.pictures.files.image import pdf_bytes
from autograd_viz.pictures.render.svg import size_of
from autograd_viz.verbs.formats import Wishes, _slides
from autograd_viz.verbs.save import subject_of

from ..figures import figure


def pages(data: bytes) -> int:
    return data.count(b"/Type /Page\n") + data.count(b"/Type/Page/")


def test_a_page_a_step_and_steps_can_be_chosen(tmp_path: Path) -> None:
    pytest.importorskip("typst")
    e, _ = figure(3, before=True)
    av.save(e, tmp_path / "all.pdf", steps=True)
    with pytest.raises(ValueError, match="there is no step 99"):
        av.save(e, tmp_path / "none.pdf", steps=[99])
    stepper = av.step(e).stepper
    stepper.finish()
    av.save(stepper, tmp_path / "some.pdf", steps=[0, 3])
    assert pages((tmp_path / "all.pdf").read_bytes()) == len(stepper.trace.steps) + 1
    assert pages((tmp_path / "some.pdf").read_bytes()) == 2 and stepper.is_complete
    with pytest.raises(ValueError, match="steps= makes slides"):
        av.save(e, tmp_path / "all.svg", steps=True)
    with pytest.raises(TypeError, match="steps must be True, False or a list"):
        av.save(e, tmp_path / "all.pdf", steps="all")  # type: ignore[arg-type]


def test_slides_are_read_from_afar_unless_a_detail_is_asked_for() -> None:
    stepper = av.step(figure(3, before=True)[0])
    (afar,), (full,) = (_slides(subject_of(stepper, {}), Wishes(steps=[0], detail=detail)) for detail in ("auto", "full"))
    assert size_of(afar.svg)[0] <= 1000 < size_of(full.svg)[0] and "ctx.save_for_backward" not in afar.svg


def test_slides_have_the_sentence_as_text_and_the_formula_in_the_notes(tmp_path: Path) -> None:
    pptx = pytest.importorskip("pptx")
    x = av.tensor(2.0, requires_grad=True)
    av.save(x * 3.0, tmp_path / "lesson.pptx")
    slides = list(pptx.Presentation(tmp_path / "lesson.pptx").slides)
    said = [shape.text_frame.text for slide in slides for shape in slide.shapes if shape.has_text_frame]
    assert len(slides) == 3 and said[1].startswith("1 / 2  MulBackward0 receives 1.0.")
    assert "× 3.0" in slides[1].notes_slide.notes_text_frame.text
    assert all(any(shape.shape_type == 13 for shape in slide.shapes) for slide in slides)
    assert x.grad is None


def test_it_is_one_page_with_the_font_in_it(tmp_path: Path) -> None:
    pytest.importorskip("typst")
    e, _ = figure(3, before=True)
    for name in ("one.pdf", "two.pdf"):
        av.save(e, tmp_path / name, step=3)
    data = (tmp_path / "one.pdf").read_bytes()
    assert data == (tmp_path / "two.pdf").read_bytes()
    assert data.startswith(b"%PDF-1.7") and data.count(b"/Type /Page\n") + data.count(b"/Type/Page/") == 1
    assert b"DejaVuSansMono" in data and b"/FontFile2" in data and b"/Subtype /Image" not in data


def test_poppler_draws_it_as_resvg_draws_the_png(tmp_path: Path) -> None:
    pytest.importorskip("typst")
    if shutil.which("pdftoppm") is None:
        pytest.skip("poppler is not installed")
    e, _ = figure(4, before=True)
    for suffix in ("pdf", "png"):
        av.save(e, tmp_path / f"e.{suffix}", step="final", scale=1, theme="dark")
    png = Image.open(io.BytesIO((tmp_path / "e.png").read_bytes())).convert("RGB")
    command = ["pdftoppm", "-png", "-singlefile", "-scale-to-x", str(png.width), "-scale-to-y", str(png.height)]
    subprocess.run([*command, tmp_path / "e.pdf", tmp_path / "drawn"], check=True, capture_output=True)
    drawn = Image.open(io.BytesIO((tmp_path / "drawn.png").read_bytes())).convert("RGB")
    assert max(ImageStat.Stat(ImageChops.difference(png, drawn)).mean) < 4
    av.save(e, tmp_path / "e.png", step=0, scale=1, theme="dark")  # and another step is another picture
    other = Image.open(io.BytesIO((tmp_path / "e.png").read_bytes())).convert("RGB")
    assert max(ImageStat.Stat(ImageChops.difference(other, drawn)).mean) > max(
        ImageStat.Stat(ImageChops.difference(png, drawn)).mean
    )


def test_a_name_is_no_markup_of_the_typesetter() -> None:
    pytest.importorskip("typst")
    x = av.tensor(1.0)
    assert pdf_bytes(av.show(x, params={'"#panic()<&$\\': x}).svg).startswith(b"%PDF")


def test_without_typst_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **more: Any) -> Any:
        if name == "typst":
            raise ModuleNotFoundError(name=name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(av.MissingLibraryError, match="install it with: pip install typst"):
        av.save(av.tensor(1.0), tmp_path / "x.pdf")
    assert not list(tmp_path.iterdir())
