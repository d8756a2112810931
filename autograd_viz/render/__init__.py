"""Geometry and a state -> a picture: themes, words, SVG."""

from .cells import Run, Writer
from .svg import render_svg
from .text import text_picture
from .theme import THEMES, Theme, theme_named

__all__ = ["THEMES", "Run", "Theme", "Writer", "render_svg", "text_picture", "theme_named"]
