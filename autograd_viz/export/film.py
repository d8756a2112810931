"""One picture that is kept up to date from step to step, in few colours, as animations are made of."""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from typing import Any

from PIL import Image

from ..graph.model import Document, Value
from ..graph.trace import State, Step
from ..layout.geometry import Geometry
from ..render import Theme, render_svg
from .image import png_bytes
from .regions import Places, Rect

MOST_COLOURS = 256
APART = 10  # Pillow takes colours that are nearer than this for each other
SIZE = re.compile(r'(viewBox="[^"]*") width="[^"]*" height="[^"]*"')


def drawn(svg: str, size: tuple[int, int]) -> Image.Image:
    """A picture of ours on exactly `size` pixels."""
    sized = SIZE.sub(rf'\g<1> width="{size[0]}" height="{size[1]}"', svg, count=1)
    return Image.open(io.BytesIO(png_bytes(sized, 1.0)))


class Film:
    """The picture of a document, after any step in turn.

    Args:
        first: some of the first steps, in whose pictures colours are looked for.

    Attributes:
        image: the whole picture, mode "P".
        palette: an image that has its palette.
        canvas: the number of the ground's colour.
    """

    def __init__(self, document: Document, geometry: Geometry, theme: Theme, scale: float, first: tuple[Step, ...]) -> None:
        self.document, self.geometry, self.theme, self.scale = document, geometry, theme, scale
        self.places = Places(geometry)
        self.values: dict[str, Value | None] = {}
        self.step: Step | None = None
        self.size = (math.ceil(geometry.width * scale), math.ceil(geometry.height * scale))
        everything = (geometry.x, geometry.y, geometry.x + geometry.width, geometry.y + geometry.height)
        start = self._region(everything, State())[2]
        self.palette = palette_of([start, *self._seen(first)], theme)
        self.image = self.in_palette(start)
        self.canvas: int = self.in_palette(Image.new("RGB", (1, 1), theme.canvas)).getpixel((0, 0))  # type: ignore[assignment]

    def in_palette(self, image: Image.Image) -> Image.Image:
        """A picture in the film's colours."""
        return image.convert("RGB").quantize(palette=self.palette, dither=Image.Dither.NONE)

    def forward(self, step: Step) -> None:
        """Show the next step: draw again what it changes."""
        state = self._after(step)
        for region in self.places.changed(self.step, step):
            left, top, image = self._region(region, state)
            self.image.paste(self.in_palette(image), (left, top))
        self.values, self.step = dict(state.values), step

    def _after(self, step: Step) -> State:
        return State({**self.values, **{c.at: c.after for c in step.changes}}, step)

    def _seen(self, steps: tuple[Step, ...]) -> list[Image.Image]:
        """What some steps change, each as if it were the first."""
        return [self._region(r, self._after(s))[2] for s in steps for r in self.places.changed(None, s)]

    def _region(self, region: Rect, state: State) -> tuple[int, int, Image.Image]:
        """A region on whole pixels: its left and top pixel, and its picture."""
        g, scale = self.geometry, self.scale
        left, top = max(0, math.floor((region[0] - g.x) * scale)), max(0, math.floor((region[1] - g.y) * scale))
        right = min(self.size[0], math.ceil((region[2] - g.x) * scale))
        bottom = min(self.size[1], math.ceil((region[3] - g.y) * scale))
        part = self.places.part((g.x + left / scale, g.y + top / scale, g.x + right / scale, g.y + bottom / scale))
        svg = render_svg(self.document, part, state, self.theme)
        return left, top, drawn(svg, (right - left, bottom - top)).convert("RGB")


def palette_of(images: list[Image.Image], theme: Theme) -> Image.Image:
    """An image with the theme's colours and the most frequent others of some pictures as its palette."""
    counts: Counter[Any] = Counter()
    for image in images:
        counts.update({colour: count for count, colour in image.getcolors(image.width * image.height) or ()})
    exact = [(int(c[1:3], 16), int(c[3:5], 16), int(c[5:7], 16)) for c in theme.colours().values()]
    colours = list(dict.fromkeys(exact))
    for colour, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if len(colours) == MOST_COLOURS:
            break
        if all(max(abs(a - b) for a, b in zip(colour, other, strict=True)) >= APART for other in colours):
            colours.append(colour)
    image = Image.new("P", (1, 1))
    image.putpalette([channel for colour in colours for channel in colour])
    return image
