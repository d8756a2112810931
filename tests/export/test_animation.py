"""Animations: every frame is the picture of its step, the sentence is below, numbers move along their arrows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

import autograd_viz as av
from autograd_viz.graph.history import state_at
from autograd_viz.pictures.files.animation import WINDOW, point_along
from autograd_viz.pictures.files.film import Film, drawn, merged
from autograd_viz.pictures.layout import layout
from autograd_viz.pictures.layout.geometry import Arrow
from autograd_viz.pictures.render import THEMES, render_svg

from ..figures import figure

FORMATS = {".gif": "GIF", ".apng": "PNG", ".webp": "WEBP"}


def frames_of(path: Path) -> list[tuple[Image.Image, int]]:
    found = []
    with Image.open(path) as image:
        for i in range(image.n_frames):  # type: ignore[attr-defined]
            image.seek(i)
            image.load()  # WebP knows the duration only then
            found.append((image.convert("RGB"), int(image.info["duration"])))
    return found


def chain(length: int) -> Any:
    x = av.tensor(0.5, requires_grad=True)
    for _ in range(length):
        x = x.sin()
    return x


WHOLE, PART = (9999, 9999), (500, 300)


@pytest.mark.parametrize(
    ("number", "scale", "most"), [(3, 1.0, WHOLE), (4, 0.7, WHOLE), (5, 1.0, PART), (6, 1.0, PART), (6, 0.7, WHOLE)]
)
def test_what_is_drawn_again_makes_the_whole_picture(number: int, scale: float, most: tuple[int, int]) -> None:
    s = av.step(figure(number, before=True)[0]).stepper
    s.finish()
    geometry, theme = layout(s.document), THEMES["light"]
    film = Film(s.document, geometry, theme, scale, most, s.trace.steps)
    pixels = replace(geometry, width=film.whole[0] / scale, height=film.whole[1] / scale)  # whole ones
    seen = set()
    for k, step in enumerate(s.trace.steps, 1):
        film.show(step)
        seen.add(film.window)
        whole = drawn(render_svg(s.document, pixels, state_at(s.trace, k), theme), film.whole).crop(film.window)
        difference = ImageChops.difference(film.image.convert("RGB"), film.in_palette(whole).convert("RGB")).convert("L")
        # where a region cuts an arrow, its edge may be smoothed a little otherwise
        assert difference.getextrema()[1] < 64, (number, k)
        assert scale != 1 or sum(difference.point(lambda d: 255 if d > 24 else 0).histogram()[1:]) < 16, (number, k)
    assert (len(seen) > 1) == (most == (500, 300))


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_frame_a_step_and_some_between(tmp_path: Path, suffix: str) -> None:
    e, names = figure(3, before=True)
    av.save(e, tmp_path / f"e{suffix}", duration=1.0)
    with Image.open(tmp_path / f"e{suffix}") as image:
        assert image.format == FORMATS[suffix]
    frames = frames_of(tmp_path / f"e{suffix}")
    durations = [ms for _, ms in frames]
    assert sum(durations) == 6000 and durations[0] == 1000
    assert len(frames) == 1 + 5 * 7  # every step of this graph moves a number
    assert {image.size for image, _ in frames} == {frames[0][0].size}
    white = frames[0][0].getpixel((2, 2))
    assert white == (255, 255, 255)
    assert names["a"].grad is None


def test_the_last_frame_is_the_picture_and_its_sentence(tmp_path: Path) -> None:
    e, _ = figure(3, before=True)
    av.save(e, tmp_path / "e.gif")
    av.save(e, tmp_path / "e.png", step="final", scale=1)
    last, picture = frames_of(tmp_path / "e.gif")[-1][0], Image.open(tmp_path / "e.png").convert("RGB")
    assert last.width == picture.width and last.height > picture.height
    difference = ImageChops.difference(last.crop((0, 0, *picture.size)), picture)
    assert max(high for _, high in difference.getextrema()) < 64
    caption = last.crop((0, picture.height, *last.size)).convert("L")
    assert caption.getextrema()[0] < 60  # dark words on the ground


def test_between_two_steps_only_numbers_differ(tmp_path: Path) -> None:
    e, _ = figure(3, before=True)
    av.save(e, tmp_path / "e.webp")
    frames = [image for image, _ in frames_of(tmp_path / "e.webp")]
    still = frames[7]
    boxes = [ImageChops.difference(frames[i], still).getbbox() for i in range(1, 7)]
    assert len(set(boxes)) == 6 and all(boxes)


def test_a_large_picture_is_seen_through_a_window_that_follows(tmp_path: Path) -> None:
    x = chain(20)
    av.save(x, tmp_path / "x.gif", duration=0.1)
    frames = [image for image, _ in frames_of(tmp_path / "x.gif")]
    height = layout(av.show(x).document).height
    assert frames[0].height < WINDOW[1] + 100 < height
    pink = (0xB3, 0x00, 0x6B)  # the lit node
    for image in frames[1:]:
        assert any(colour == pink for _, colour in image.getcolors(1 << 20) or ())


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_picture_a_little_larger_than_the_window_is_whole(tmp_path: Path, scale: float) -> None:
    x = chain(5)
    size = layout(av.show(x).document)
    assert WINDOW[1] < size.height < 1.5 * WINDOW[1]
    av.save(x, tmp_path / "x.gif", duration=0.02, scale=scale)
    first = frames_of(tmp_path / "x.gif")[0][0]
    assert first.width >= size.width * scale and first.height >= size.height * scale


def test_it_ends_where_it_is_told(tmp_path: Path) -> None:
    e, _ = figure(3, before=True)
    av.save(e, tmp_path / "e.gif", step=2, duration=0.02)
    assert len(frames_of(tmp_path / "e.gif")) == 3


@pytest.mark.parametrize(
    ("suffix", "wish", "message"),
    [
        ("gif", {"duration": 0}, "duration must be"),
        ("gif", {"scale": -1}, "scale must be a positive number, or None, got -1"),
        ("gif", {"scale": 0}, "scale must be a positive number, or None, got 0"),
        ("png", {"scale": 0}, "scale must be a positive number, or None, got 0"),
    ],
)
def test_wishes_that_make_no_sense(tmp_path: Path, suffix: str, wish: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        av.save(figure(3, before=True)[0], tmp_path / f"e.{suffix}", **wish)
    assert not list(tmp_path.iterdir())


def test_points_along_an_arrow() -> None:
    arrow = Arrow("", "next", (), "", "", ((0.0, 0.0), (10.0, 0.0), (10.0, 30.0)))
    assert [point_along(arrow, p) for p in (0, 0.125, 0.5, 1)] == [(0, 0), (5, 0), (10, 10), (10, 30)]


def test_regions_are_joined_where_that_is_cheaper() -> None:
    near, far = (0.0, 0.0, 10.0, 10.0), (900.0, 900.0, 910.0, 910.0)
    assert merged([near, (5.0, 5.0, 20.0, 20.0), far]) in ([far, (0.0, 0.0, 20.0, 20.0)], [(0.0, 0.0, 20.0, 20.0), far])


@pytest.mark.parametrize(
    ("suffix", "wish", "said"),
    [
        (".gif", {"duration": 656}, "at most 655 seconds"),
        (".webp", {"duration": float("inf")}, "duration must be a positive"),
        (".gif", {"scale": 0.001}, "scale 0.001 is too small"),
    ],
)
def test_what_a_format_cannot_tell_is_refused(tmp_path: Path, suffix: str, wish: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        av.save(chain(2), tmp_path / f"a{suffix}", **wish)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
