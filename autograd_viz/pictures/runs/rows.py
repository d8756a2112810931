"""What a run measures."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]


class Row(NamedTuple):
    """A parameter, or the output of a module."""

    path: str  # "layers.0.weight", or the path of the module; empty for the model itself.
    kind: str  # "parameter" or "output"
    name: str  # of a parameter: its name in its module; of a module: its class
    size: int  # number of elements of a parameter; 0 for an output

    @property
    def module(self) -> str:
        """The path of the module that it belongs to."""
        return self.path.rpartition(".")[0] if self.kind == "parameter" else self.path
