"""Pictures as files: the same drawing as in the notebook."""

from .image import SUFFIXES, png_bytes, write

__all__ = ["SUFFIXES", "png_bytes", "write"]
