"""Draws a picture from geometry and a state: themes, words, SVG."""

from .escape import printable
from .svg import render_svg
from .text import text_picture
from .theme import THEMES, Theme, theme_named
from .writer import Run, Writer

__all__ = ["THEMES", "Run", "Theme", "Writer", "printable", "render_svg", "text_picture", "theme_named"]
