"""Geometry and a state -> a picture: themes, words, SVG."""

from .cells import Run, cells
from .svg import render_svg
from .theme import THEMES, Theme, theme_named

__all__ = ["THEMES", "Run", "Theme", "cells", "render_svg", "theme_named"]
