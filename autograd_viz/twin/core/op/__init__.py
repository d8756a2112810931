"""What an op is, and what a call of an op runs. Here stand the words in which an op is declared."""

from ..base.public import INPLACE, NAMESPACES, found, public, renamed
from ..base.readings import ARRAY_NAMES, composite, inlined, writer
from .primitive import Primitive, primitive
from .row import public_primitive, public_row, row

__all__ = [
    "ARRAY_NAMES", "INPLACE", "NAMESPACES", "Primitive", "composite", "found", "inlined", "primitive", "public",
    "public_primitive", "public_row", "renamed", "row", "writer",
]  # fmt: skip
