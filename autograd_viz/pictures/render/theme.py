"""Colours and words of a picture. For every pair, contrast and distance for colour-blind eyes were computed."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import UnknownChoiceError

NAMES = ("light", "dark", "waite")
# by role, the colour in each of them: fill and stroke of the four kinds of boxes, then text, rows and arrows
COLOURS = {
    "green-fill": ("#bdebc6", "#37604a", "#d5e8d4"),
    "green-stroke": ("#1b640c", "#7ed69a", "#82b366"),
    "yellow-fill": ("#fff09a", "#736814", "#fff2cc"),
    "yellow-stroke": ("#9a8500", "#ffe75a", "#d6b656"),
    "brown-fill": ("#c6a78e", "#47240b", "#d7ccc8"),
    "brown-stroke": ("#3c2219", "#b87455", "#6d4c41"),
    "blue-fill": ("#8dd3f1", "#112c43", "#b1ddf0"),
    "blue-stroke": ("#2070b2", "#3d8fbe", "#10739e"),
    "text": ("#1a1a1a", "#f4f4f4", "#000000"),
    "canvas": ("#ffffff", "#0f1419", "#ffffff"),
    "row": ("#ffffff", "#171d24", "#ffffff"),
    "row-stroke": ("#b3b3b3", "#4a525c", "#b3b3b3"),
    "true": ("#1b7a34", "#6fdc8c", "#00c64c"),
    "false": ("#c02626", "#ff8a80", "#f43e31"),
    "none": ("#6b6f76", "#9aa0a6", "#999999"),
    "link": ("#0b5f8a", "#6cc4f5", "#10739e"),
    "number": ("#1a1a1a", "#f4f4f4", "#000000"),
    "grad": ("#b3006b", "#ff8ad4", "#b3006b"),
    "hook": ("#6a00ff", "#c3a6ff", "#6a00ff"),
}


@dataclass(frozen=True, slots=True)
class Theme:
    """A palette, and its words. `pytorch_words`: write what PyTorch prints (`tensor(2.)`, `MulBackward0`, tuples); else what
    the video writes (`tensor(2.0)`, `MulBackward`, square brackets, `ctx.saved_tensors`).
    """

    name: str
    pytorch_words: bool = True

    def colours(self) -> dict[str, str]:
        """All colours by role: "green-fill", "canvas", …"""
        return {role: colours[NAMES.index(self.name)] for role, colours in COLOURS.items()}

    @property
    def canvas(self) -> str:
        """The colour behind everything."""
        return COLOURS["canvas"][NAMES.index(self.name)]


THEMES = {name: Theme(name, pytorch_words=name != "waite") for name in NAMES}


def theme_named(name: str) -> Theme:
    """The theme with this name. UnknownChoiceError: it does not exist; the message names the choices."""
    if not isinstance(name, str) or name not in THEMES:
        raise UnknownChoiceError("theme", name, THEMES)
    return THEMES[name]
