"""Document -> geometry: where every box, arrow and label stands. Knows no colours and no steps."""

from .apart import layout_apart
from .bands import layout
from .finish import without_code
from .geometry import Arrow, Box, CodeLine, Frame, Geometry, Label, Row
from .sizes import DENSE, DETAILS, WAITE, Sizes

__all__ = [
    "DENSE", "DETAILS", "WAITE", "Arrow", "Box", "CodeLine", "Frame", "Geometry", "Label", "Row", "Sizes", "layout",
    "layout_apart", "without_code",
]  # fmt: skip
