"""Pictures as files: the same drawing as in the notebook."""

from .cell import cell_bundle
from .image import SUFFIXES, png_bytes, write

__all__ = ["SUFFIXES", "cell_bundle", "png_bytes", "write"]
