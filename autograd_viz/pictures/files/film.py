"""One picture, updated from step to step, in few colours, as animations need it.

# Note [Window]
A picture larger than the window is shown in part. The window follows the node of the step, and stays while it is visible.
Only the visible part is drawn, so a picture may have any size.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ...graph.model import Document
from ...graph.trace import State, Step
from ..layout.geometry import Arrow, CodeLine, Geometry
from ..layout.measure import text_width
from ..render import Theme, render_svg
from ..render.pen import cell_address
from .image import png_bytes

Rect = tuple[float, float, float, float]  # left, top, right, bottom
OUTLINE = 6.0  # px around a highlighted box
HEAD = 12.0  # half the width of the widest arrow head, plus a margin
CALL = 20_000  # px; one more region costs as much time as drawing so many px


def touch(a: Rect, b: Rect) -> bool:
    """Do two rectangles overlap in more than an edge?"""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def around(a: Rect, b: Rect) -> Rect:
    """The smallest rectangle around two."""
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def merged(rects: Iterable[Rect]) -> list[Rect]:
    """Rectangles that cover the same area, merged where that is cheaper."""
    left, done = list(rects), list[Rect]()
    while left:
        a = left.pop()
        for b in done:
            if _area(around(a, b)) <= _area(a) + _area(b) + CALL:
                done.remove(b)
                left.append(around(a, b))  # it may merge with others now
                break
        else:
            done.append(a)
    return done


def _area(a: Rect) -> float:
    return (a[2] - a[0]) * (a[3] - a[1])


class Places:
    """The positions of everything in a picture."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry, out = geometry, OUTLINE
        self._boxes = [(b, (b.x - out, b.y - out, b.x + b.w + out, b.y + b.h + out)) for b in geometry.boxes]
        self._labels = [(x, (x.x - 8, x.y - 2, x.x + x.w + 8, x.y + x.h + 2)) for x in geometry.labels]
        self._code = [(line, _code(line)) for line in geometry.code]
        self._arrows = [(a, _segments(a)) for a in geometry.arrows]
        self.at: dict[str, list[Rect]] = {b.id: [rect] for b, rect in self._boxes}
        for b in geometry.boxes:
            self.at |= {f"{b.id}.{row.key}": [(b.x, row.y - 2, b.x + b.w, row.y + row.h + 2)] for row in b.rows}
        for x, rect in self._labels:
            self.at.setdefault(x.at, []).append(rect)
        for a, rects in self._arrows:
            self.at.setdefault(a.at, []).extend(rects)

    def changed(self, before: Step | None, step: Step, seen: Rect) -> list[Rect]:
        """The regions in `seen` that differ between `step` and the step before."""
        places = dict.fromkeys(n for s in (before, step) if s for n in (s.node, *(cell_address(c.at) for c in s.changes)))
        left, top, right, bottom = seen
        rects = (r for at in places for r in self.at.get(at, ()) if touch(r, seen))
        return merged((max(r[0], left), max(r[1], top), min(r[2], right), min(r[3], bottom)) for r in rects)

    def part(self, region: Rect) -> Geometry:
        """The part of the picture in a region. A net is included whole or not at all: its arrows are drawn in pieces."""
        nets = {a.net for a, rects in self._arrows if any(touch(r, region) for r in rects)}
        return replace(
            self.geometry,
            boxes=tuple(b for b, rect in self._boxes if touch(rect, region)),
            arrows=tuple(a for a in self.geometry.arrows if a.net in nets),
            labels=tuple(x for x, rect in self._labels if touch(rect, region)),
            code=tuple(line for line, rect in self._code if touch(rect, region)),
            x=region[0],
            y=region[1],
            width=region[2] - region[0],
            height=region[3] - region[1],
        )


def _code(line: CodeLine) -> Rect:
    return line.x - text_width(line.text, line.size) - 4, line.y - line.size - 4, line.x + 4, line.y + 8


def _segments(a: Arrow) -> list[Rect]:
    pairs = zip(a.points, a.points[1:], strict=False)
    return [(min(x, p) - HEAD, min(y, q) - HEAD, max(x, p) + HEAD, max(y, q) + HEAD) for (x, y), (p, q) in pairs]


MOST_COLOURS = 256
Pixels = tuple[int, int, int, int]  # left, top, right, bottom, of the whole picture
APART = 10  # Pillow confuses colours that are closer than this
SIZE = re.compile(r'(viewBox="[^"]*") width="[^"]*" height="[^"]*"')


def drawn(svg: str, size: tuple[int, int]) -> Image.Image:
    """One of our pictures on exactly `size` pixels."""
    sized = SIZE.sub(rf'\g<1> width="{size[0]}" height="{size[1]}"', svg, count=1)
    return Image.open(io.BytesIO(png_bytes(sized, 1.0)))


class Film:
    """The view of a picture through a window, after each step in order. `most`: the largest size of the window, in pixels; a
    smaller picture is shown whole. `first`: some of the first steps. Their pictures give the colours; the window begins at the
    first one's node.
    """

    def __init__(
        self, document: Document, geometry: Geometry, theme: Theme, scale: float, most: tuple[int, int], first: tuple[Step, ...]
    ) -> None:
        self.document, self.geometry, self.theme, self.scale = document, geometry, theme, scale
        self.places = Places(geometry)
        self.boxes = {b.id: b for b in geometry.boxes}
        self.whole = (math.ceil(geometry.width * scale), math.ceil(geometry.height * scale))
        self.width, self.height = (min(a, b) for a, b in zip(self.whole, most, strict=True))
        self._state = State()
        # the position of the window, in pixels of the whole picture
        self.left, self.top = self._placed(first[0].node, 0, 0) if first else (0, 0)
        start = self._drawn(self.window, self._state)
        seen = (self._drawn(r, _after(State(), s)) for s in first for r in self._changed(None, s, self.window))
        self.palette = palette_of([start, *seen], theme)  # an image with its palette
        self.image = self.in_palette(start)  # the visible part, mode "P"
        # the index of the background colour
        self.canvas: int = self.in_palette(Image.new("RGB", (1, 1), theme.canvas)).getpixel((0, 0))  # type: ignore[assignment]

    @property
    def window(self) -> Pixels:
        """The visible part of the whole picture."""
        return self.left, self.top, self.left + self.width, self.top + self.height

    def in_palette(self, image: Image.Image) -> Image.Image:
        """A picture in the film's colours."""
        return image.convert("RGB").quantize(palette=self.palette, dither=Image.Dither.NONE)

    def show(self, step: Step) -> None:
        """Show the next step: move the window to its node, and redraw the changes."""
        before, self._state = self._state.current, _after(self._state, step)
        old, image = self.window, self.image
        self.left, self.top = self._placed(step.node, self.left, self.top)
        if self.window != old:
            self.image = image.copy()
            self.image.paste(image, (old[0] - self.left, old[1] - self.top))
        for region in [*self._changed(before, step, self.window), *_come_into_sight(old, self.window)]:
            self.image.paste(self.in_palette(self._drawn(region, self._state)), (region[0] - self.left, region[1] - self.top))

    def _placed(self, node: str, left: int, top: int) -> tuple[int, int]:
        """The position of the window that shows a node. It stays if the node is visible."""
        box, g, scale = self.boxes.get(node), self.geometry, self.scale
        if box is None:
            return left, top
        x, y = (box.x - g.x) * scale, (box.y - g.y) * scale
        left = _followed(left, self.width, self.whole[0], x, x + box.w * scale)
        return left, _followed(top, self.height, self.whole[1], y, y + box.h * scale)

    def _changed(self, before: Step | None, step: Step, window: Pixels) -> list[Pixels]:
        """The visible regions that a step changes."""
        g, found = self.geometry, list[Pixels]()
        for rect in self.places.changed(before, step, self._rect(window)):
            x, y, end_x, end_y = ((px - start) * self.scale for px, start in zip(rect, (g.x, g.y, g.x, g.y), strict=True))
            begin = max(window[0], math.floor(x)), max(window[1], math.floor(y))
            found.append((*begin, min(window[2], math.ceil(end_x)), min(window[3], math.ceil(end_y))))
        return found

    def _rect(self, region: Pixels) -> Rect:
        g, (left, top, right, bottom) = self.geometry, (pixels / self.scale for pixels in region)
        return g.x + left, g.y + top, g.x + right, g.y + bottom

    def _drawn(self, region: Pixels, state: State) -> Image.Image:
        svg = render_svg(self.document, self.places.part(self._rect(region)), state, self.theme)
        return drawn(svg, (region[2] - region[0], region[3] - region[1])).convert("RGB")


def _after(state: State, step: Step) -> State:
    values = {**state.values, **{c.at: c.after for c in step.changes}}
    return State(values, step, called={**state.called, step.node: state.called.get(step.node, 0) + 1})


def _followed(start: int, size: int, whole: int, low: float, high: float) -> int:
    """The start of a window of `size` along one axis, so that low to high is visible."""
    if start <= low and high <= start + size:
        return start
    return round(min(max(0, (low + high - size) / 2), whole - size))


def _come_into_sight(old: Pixels, new: Pixels) -> list[Pixels]:
    """The regions of a window that were not in an old window of the same size."""
    left, top, right, bottom = new
    low, high = max(top, old[1]), min(bottom, old[3])  # rows that were visible before
    if low >= high or old[0] >= right or old[2] <= left:
        return [new]
    strips = [(left, top, right, low), (left, high, right, bottom), (left, low, old[0], high), (old[2], low, right, high)]
    return [s for s in strips if s[0] < s[2] and s[1] < s[3]]


def palette_of(images: list[Image.Image], theme: Theme) -> Image.Image:
    """An image whose palette has the theme's colours and the most frequent other colours of some pictures."""
    counts: Counter[Any] = Counter()
    for image in images:
        counts.update({colour: count for count, colour in image.getcolors(image.width * image.height) or ()})
    chosen = list(dict.fromkeys((int(c[1:3], 16), int(c[3:5], 16), int(c[5:7], 16)) for c in theme.colours().values()))
    others = np.array(sorted(counts, key=lambda c: (-counts[c], c)), int).reshape(-1, 3)
    for colour in chosen:
        others = _apart(others, colour)
    while len(others) and len(chosen) < MOST_COLOURS:
        chosen.append(tuple(others[0].tolist()))
        others = _apart(others, chosen[-1])
    image = Image.new("P", (1, 1))
    image.putpalette([channel for colour in chosen for channel in colour])
    return image


def _apart(colours: NDArray[Any], taken: tuple[int, ...]) -> NDArray[Any]:
    """The rows of `colours`, of shape (n, 3), that cannot be confused with a colour."""
    return colours[np.abs(colours - taken).max(axis=1) >= APART]  # type: ignore[no-any-return]
