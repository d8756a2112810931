"""Colours and words of a picture. For every pair, contrast and distance for colour-blind eyes were computed."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ...errors import UnknownChoiceError


@dataclass(frozen=True, slots=True)
class Theme:
    """A palette, and its words. The first eight are fill and stroke of the four kinds of boxes; the others colour text, rows
    and arrows. `pytorch_words`: write what PyTorch prints (`tensor(2.)`, `MulBackward0`, tuples); else what the video writes
    (`tensor(2.0)`, `MulBackward`, square brackets, `ctx.saved_tensors`).
    """

    name: str
    green_fill: str
    green_stroke: str
    yellow_fill: str
    yellow_stroke: str
    brown_fill: str
    brown_stroke: str
    blue_fill: str
    blue_stroke: str
    text: str
    canvas: str
    row: str
    row_stroke: str
    true: str
    false: str
    none: str
    link: str
    number: str
    grad: str
    hook: str
    pytorch_words: bool = True

    def colours(self) -> dict[str, str]:
        """All colours by role, `_` as `-`: "green-fill", "canvas", …"""
        names = (f.name for f in fields(self) if f.name not in ("name", "pytorch_words"))
        return {name.replace("_", "-"): getattr(self, name) for name in names}


THEMES = {
    theme.name: theme
    for theme in (
        Theme(
            "light", "#bdebc6", "#1b640c", "#fff09a", "#9a8500", "#c6a78e", "#3c2219", "#8dd3f1", "#2070b2",
            text="#1a1a1a", canvas="#ffffff", row="#ffffff", row_stroke="#b3b3b3", true="#1b7a34", false="#c02626",
            none="#6b6f76", link="#0b5f8a", number="#1a1a1a", grad="#b3006b", hook="#6a00ff",
        ),
        Theme(
            "dark", "#37604a", "#7ed69a", "#736814", "#ffe75a", "#47240b", "#b87455", "#112c43", "#3d8fbe",
            text="#f4f4f4", canvas="#0f1419", row="#171d24", row_stroke="#4a525c", true="#6fdc8c", false="#ff8a80",
            none="#9aa0a6", link="#6cc4f5", number="#f4f4f4", grad="#ff8ad4", hook="#c3a6ff",
        ),
        Theme(
            "waite", "#d5e8d4", "#82b366", "#fff2cc", "#d6b656", "#d7ccc8", "#6d4c41", "#b1ddf0", "#10739e",
            text="#000000", canvas="#ffffff", row="#ffffff", row_stroke="#b3b3b3", true="#00c64c", false="#f43e31",
            none="#999999", link="#10739e", number="#000000", grad="#b3006b", hook="#6a00ff", pytorch_words=False,
        ),
    )
}  # fmt: skip


def theme_named(name: str) -> Theme:
    """The theme with this name. UnknownChoiceError: it does not exist; the message names the choices."""
    if not isinstance(name, str) or name not in THEMES:
        raise UnknownChoiceError("theme", name, THEMES)
    return THEMES[name]
