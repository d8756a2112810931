"""A gradient by hand beside autograd's: element by element, with their difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import words
from ..graph.text import number_text
from ..pictures.files.cell import cell_bundle
from ..pictures.render import theme_named
from ..pictures.render.escape import element, text
from ..pictures.render.svg import whole_picture

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

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__

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
