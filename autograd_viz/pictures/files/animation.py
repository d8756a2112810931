"""The backward pass as GIF, APNG or WebP: one picture per step, a sentence below it, and numbers moving along their arrows."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from PIL import Image

from ...errors import AutogradVizError
from ...graph.model import Document
from ...graph.trace import Trace
from ..layout.geometry import Arrow, Geometry, Point
from ..layout.measure import ADVANCE, columns, text_width
from ..render import Theme
from ..render.caption import MARGIN, caption_elements, caption_height, caption_lines
from ..render.caption import SIZE as CAPTION
from ..render.escape import element, text
from ..render.svg import whole_picture
from ..render.writer import moves_of, moving
from .film import Film, drawn

WINDOW = (1400, 1100)  # pixels of a frame, where the picture is much larger
NEAR = 1.5  # a picture that is larger by this factor is still shown whole
MOVE_MS, FRAME_MS = 480, 80  # the time of a number on its arrow, and the time of each frame
NUMBER = 14.0  # px
MOST_BYTES = 800_000_000  # of all frames together, while they are encoded
LONGEST = 655  # seconds, for a frame of a GIF
LEAST = 16  # pixels, of the shorter side
LATE = 1.0  # seconds after which a progress bar appears
OPTIONS: dict[str, dict[str, Any]] = {
    "GIF": {"optimize": False, "disposal": 1},
    "PNG": {"compress_level": 6},
    "WEBP": {"lossless": True, "quality": 75, "method": 0, "kmin": 9_999, "kmax": 10_000},  # only the first is a whole picture
}
Number = tuple[Image.Image, Image.Image]  # and its mask


@dataclass(frozen=True)
class Story:
    """The content of an animation: a whole pass, and a sentence for its start and for each step."""

    document: Document
    geometry: Geometry
    trace: Trace
    sentences: tuple[str, ...]


def animation_bytes(story: Story, format: str, theme: Theme, duration: float, scale: float) -> bytes:
    """The animation as "GIF", "PNG" or "WEBP"; `duration` of a step in seconds, `scale` in pixels per px.
    ValueError: duration or scale is not positive. AutogradVizError: it would be too large.
    """
    if not 0 < duration < math.inf:
        raise ValueError(f"duration must be positive, got {duration}")
    if format == "GIF" and duration > LONGEST:
        raise ValueError(f"a .gif frame lasts at most {LONGEST} seconds, got duration={duration}; choose .apng or .webp")
    if not scale > 0:
        raise ValueError(f"scale must be positive, got {scale}")
    width, height = story.geometry.width * scale, story.geometry.height * scale
    if min(width, height) < LEAST:
        raise ValueError(f"scale {scale} is too small: the picture would have {width:.2g} x {height:.2g} pixels")
    from tqdm.auto import tqdm

    reel, out = Reel(story, theme, scale, duration), io.BytesIO()
    shots: Iterable[Image.Image] = tqdm(reel.frames(), total=len(reel.durations), desc=format, delay=LATE, leave=False)
    frames = iter(shots) if format != "WEBP" else (image.convert("RGB") for image in shots)
    first, others = next(frames), frames if format != "PNG" else list(frames)  # for a PNG, Pillow reads them twice
    first.save(out, format, append_images=others, save_all=True, loop=0, duration=reel.durations, **OPTIONS[format])
    return out.getvalue()


def _window(story: Story, scale: float) -> tuple[int, int]:
    """The largest size of a frame, in pixels."""
    sides = story.geometry.width, story.geometry.height
    width, height = (math.ceil(side * scale) for side in sides)
    is_near = all(side <= NEAR * most for side, most in zip(sides, WINDOW, strict=True))
    room = MOST_BYTES // 2  # the rest is for captions, and for frames with a moving number
    return (width, height) if is_near and (len(story.trace.steps) + 1) * width * height <= room else WINDOW


class Reel:
    """The frames of an animation."""

    def __init__(self, story: Story, theme: Theme, scale: float, duration: float) -> None:
        self.story, self.theme, self.scale = story, theme, scale
        window = _window(story, scale)
        self.film = Film(story.document, story.geometry, theme, scale, window, story.trace.steps[:3])
        self.width, self.height = self.film.width, self.film.height
        self.numbers: dict[str, Number] = {}
        said = [f"{i} / {len(story.trace.steps)}  {sentence}" for i, sentence in enumerate(story.sentences)]
        self.captions = [caption_lines(words, self.width / scale) for words in said]
        self.caption_height = max(map(caption_height, self.captions))
        self.arrows = {a.at: a for a in story.geometry.arrows}
        self.moving = self._moving(duration)
        moves = [self.moving if moving(step) else 0 for step in story.trace.steps]
        rest = max(20, round(duration * 1000))
        self.durations = [rest]  # the time of each frame, in ms
        for count in moves:
            self.durations += [*[FRAME_MS] * count, max(20, rest - FRAME_MS * count)]

    def _moving(self, duration: float) -> int:
        """The number of frames with a moving number in a step, limited by time and memory."""
        count = len(self.story.trace.steps) + 1
        each = self.width * (self.height + round(self.caption_height * self.scale))
        if count * each > MOST_BYTES:
            raise AutogradVizError(f"an animation of {count} frames is too large; save it as .html, which has no limit")
        return int(min(MOVE_MS / FRAME_MS, duration * 600 / FRAME_MS, MOST_BYTES / each / count - 1))

    def frames(self) -> Iterator[Image.Image]:
        """The frames, mode "P"."""
        yield self._shot(self._caption(self.captions[0]))
        for step, lines in zip(self.story.trace.steps, self.captions[1:], strict=True):
            self.film.show(step)
            still = self._shot(self._caption(lines))
            numbers = [(self._number(said), self.arrows[at]) for at, said in moves_of(step) if at in self.arrows]
            for i in range(self.moving if moving(step) else 0):
                yield self._with_numbers(still, numbers, i / self.moving)
            yield still

    def _shot(self, caption: Image.Image) -> Image.Image:
        """The contents of the window, and the caption."""
        shot = Image.new("P", (self.width, self.height + caption.height), self.film.canvas)
        shot.putpalette(self.film.palette.getpalette() or [])
        shot.paste(self.film.image, (0, 0))
        shot.paste(caption, (0, self.height))
        return shot

    def _number(self, said: str) -> Number:
        """An image of a number, drawn once."""
        if said in self.numbers:
            return self.numbers[said]
        width, height = text_width(said, NUMBER) + 12, NUMBER * 1.6
        colour = self.theme.colours()
        words = element(
            "text", text(said), x=width / 2, y=height * 0.7, font_size=NUMBER, text_anchor="middle", font_weight="bold",
            fill=colour["grad"], stroke=colour["canvas"], stroke_width=4, paint_order="stroke",
        )  # fmt: skip
        size = (round(width * self.scale), round(height * self.scale))
        image = drawn(whole_picture(words, width, height), size).convert("RGBA")
        self.numbers[said] = self.film.in_palette(image), image.getchannel("A").point(lambda a: 255 if a > 127 else 0)
        return self.numbers[said]

    def _with_numbers(self, still: Image.Image, numbers: list[tuple[Number, Arrow]], part: float) -> Image.Image:
        """The picture with each number at this fraction of its way."""
        shot, g = still.copy(), self.story.geometry
        for (image, mask), arrow in numbers:
            x, y = point_along(arrow, part)
            px, py = (x - g.x) * self.scale - self.film.left, (y - g.y) * self.scale - self.film.top
            left = min(max(0, round(px - image.width / 2)), max(0, self.width - image.width))
            top = round(py - image.height / 2)
            if -image.height < top <= self.height - image.height:
                shot.paste(image, (left, top), mask)
        return shot

    def _caption(self, lines: list[str]) -> Image.Image:
        """The text below a picture. All captions have the same height, and each is as wide as its words."""
        height = self.caption_height
        width = min(self.width / self.scale, 2 * MARGIN + max(map(columns, lines)) * ADVANCE * CAPTION)
        size = (round(width * self.scale), round(height * self.scale))
        ground = element("rect", x=0, y=0, width=width, height=height, fill=self.theme.canvas)
        words = caption_elements(lines, 0, 0, self.theme)
        return self.film.in_palette(drawn(whole_picture("".join([ground, *words]), width, height), size))


def point_along(arrow: Arrow, part: float) -> Point:
    """The point at this fraction of an arrow."""
    pairs = list(zip(arrow.points, arrow.points[1:], strict=False))
    lengths = [abs(p - x) + abs(q - y) for (x, y), (p, q) in pairs]
    left = part * sum(lengths)
    for ((x, y), (p, q)), length in zip(pairs, lengths, strict=True):
        if left <= length and length:
            return x + (p - x) * left / length, y + (q - y) * left / length
        left -= length
    return arrow.points[-1]
