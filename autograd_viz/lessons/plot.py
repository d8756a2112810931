"""Small pictures for a notebook (a plotting library would be 70 MB to install): curves over 1, 2, 3, … on a logarithmic scale,
and a gradient by hand beside autograd's, element by element.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import words
from ..graph.text import number_text
from ..pictures.files.cell import cell_bundle
from ..pictures.render import theme_named
from ..pictures.render.escape import element, text
from ..pictures.render.svg import FALLBACK, whole_picture

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 560, 280, 76, 90, 16, 46
INK = ("blue-stroke", "green-stroke", "brown-stroke", "yellow-stroke")
DASHES = (None, "6 4", "2 3", "8 3 2 3")  # so that curves differ without colour


class Plot:
    """Positive numbers as curves. A notebook cell that ends in it shows it."""

    def __init__(self, curves: Mapping[str, Sequence[float]], across: str = "", up: str = "") -> None:
        self.curves, self.across, self.up = curves, across, up
        logs = [math.log10(y) for ys in curves.values() for y in ys]
        self._low, self._high = math.floor(min(logs)), math.ceil(max(logs))
        self._most = max(map(len, curves.values()))

    def _x(self, k: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (k - 1) / max(1, self._most - 1)

    def _y(self, power: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (self._high - power) / max(1, self._high - self._low)

    @property
    def svg(self) -> str:
        """The plot."""
        colour = theme_named("light").colours()
        parts = [element("rect", width=WIDTH, height=HEIGHT, fill=colour["canvas"]), *self._axes(colour)]
        for i, (name, ys) in enumerate(self.curves.items()):
            parts += self._curve(name, [math.log10(y) for y in ys], colour[INK[i % 4]], DASHES[i % 4])
        return element(
            "svg", "".join(parts), xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH,
            height=HEIGHT, font_family=FALLBACK, font_size=12, fill=colour["text"],
        )  # fmt: skip

    def _axes(self, colour: Mapping[str, str]) -> list[str]:
        end, foot, middle = WIDTH - RIGHT, HEIGHT - BOTTOM, (HEIGHT - BOTTOM + TOP) / 2
        lines = []
        for power in range(self._low, self._high + 1):
            y = self._y(power)
            lines.append(element("line", x1=LEFT, x2=end, y1=y, y2=y, stroke=colour["row-stroke"], stroke_width=0.6))
            lines.append(_label(f"{10.0**power:g}", LEFT - 8, y + 4, "end"))
        lines += [_label(str(k), self._x(k), foot + 18) for k in range(1, self._most + 1)]
        turned = element("text", text(self.up), x=-middle, y=16, text_anchor="middle", transform="rotate(-90)")
        return [*lines, _label(self.across, (LEFT + end) / 2, HEIGHT - 8), turned]

    def _curve(self, name: str, ys: Sequence[float], ink: str, dashes: str | None) -> list[str]:
        points = [(self._x(k), self._y(y)) for k, y in enumerate(ys, 1)]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        line = element("polyline", points=joined, fill="none", stroke=ink, stroke_width=2, stroke_dasharray=dashes)
        dots = [element("circle", cx=x, cy=y, r=3.5, fill=ink) for x, y in points]
        return [line, *dots, _label(name, points[-1][0] + 10, points[-1][1] + 4, "start")]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {', '.join(map(number_text, ys))}" for name, ys in self.curves.items())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))


def _label(said: str, x: float, y: float, anchor: str = "middle") -> str:
    return element("text", text(said), x=x, y=y, text_anchor=anchor)


def plot(curves: Mapping[str, Sequence[float]], across: str = "", up: str = "") -> Plot:
    """Draw positive numbers as curves, by name, on a logarithmic scale. `across` says what is counted on the horizontal axis,
    `up` what the numbers are.
    """
    return Plot(curves, across, up)


CELL, GAP, HEAD = 64, 28, 30  # px
MOST = 8  # rows and columns that are drawn
CLOSE = 1e-4  # of the largest element


class Heat:
    """Two arrays of one shape and their difference, as heat maps (`svg`). A notebook cell that ends in it shows it. It is
    `right` if no element differs by more than 1/10,000 of the largest; its `sentence` says where the largest difference is.
    """

    def __init__(self, by_hand: Any, autograd: Any) -> None:
        mine, ours = (np.asarray(getattr(a, "tolist", lambda a=a: a)(), float) for a in (by_hand, autograd))
        if mine.shape != ours.shape:
            raise ValueError(words.HEAT_SHAPES.format(mine=mine.shape, ours=ours.shape))
        off, most = np.abs(mine - ours), float(np.abs(ours).max(initial=0.0)) or 1.0
        self.right = bool((off <= CLOSE * most).all())
        place = tuple(map(int, np.unravel_index(int(off.argmax()), off.shape))) if off.size else ()
        wrong, texts = off > CLOSE * most, [number_text(float(a[place])) for a in (mine, ours)]
        said = words.HEAT_SAME if self.right else words.HEAT_DIFFERS
        self.sentence = said.format(place=list(place), mine=texts[0], ours=texts[1], count=int(wrong.sum()), all=off.size)
        arrays = {words.HEAT_MINE: mine, words.HEAT_OURS: ours, words.HEAT_DIFFERENCE: np.where(wrong, mine - ours, 0.0)}
        top = max(most, float(np.abs(mine).max(initial=0.0)))
        self.svg = _side_by_side({title: np.atleast_2d(a)[:MOST, :MOST] for title, a in arrays.items()}, top)

    def __repr__(self) -> str:
        return self.sentence

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, self.sentence, said=self.sentence)


def heat(by_hand: Any, autograd: Any) -> Heat:
    """Compare a gradient that was computed by hand with autograd's: tensors or arrays, of which the first 8 rows and columns
    are drawn. ValueError: their shapes differ.
    """
    return Heat(by_hand, autograd)


def _side_by_side(maps: dict[str, Any], most: float) -> str:
    colour, parts, x, low = theme_named("light").colours(), list[str](), GAP, CELL // 2
    for title, a in maps.items():
        parts.append(element("text", text(title), x=x, y=HEAD - 10, font_size=14, fill=colour["text"]))
        for (i, j), value in np.ndenumerate(a):
            left, top, share = x + CELL * j, HEAD + low * i, min(1.0, abs(float(value)) / most)
            ink = colour["blue-stroke"] if value > 0 else colour["brown-stroke"]
            shade: dict[str, Any] = {"fill": ink, "fill_opacity": round(0.55 * share, 3), "stroke": colour["row-stroke"]}
            parts.append(element("rect", x=left, y=top, width=CELL, height=low, **shade))
            place: dict[str, Any] = {"x": left + CELL / 2, "y": top + 21, "font_size": 13, "text_anchor": "middle"}
            parts.append(element("text", text(f"{float(value):.3g}"), **place, fill=colour["text"]))
        x += CELL * a.shape[1] + GAP
    height = HEAD + low * max(a.shape[0] for a in maps.values()) + 12
    ground = element("rect", width=x, height=height, fill=colour["canvas"])
    return whole_picture(ground + "".join(parts), x, height)
