"""Pictures as files: the same drawing as in the notebook."""

from .cell import cell_bundle
from .image import png_bytes

__all__ = ["cell_bundle", "png_bytes"]
