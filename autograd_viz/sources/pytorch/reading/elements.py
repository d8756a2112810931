"""Elements of PyTorch's tensors as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .graph import TorchGraph
from .values import as_array, is_plain, unseen


@unseen
def array_in(t: object) -> Any:
    """The elements as a NumPy array that may share their memory; of a distributed tensor those that are here.

    None if they cannot be read.
    """
    t = t.to_local() if hasattr(t, "to_local") else t
    return as_array(t) if isinstance(t, torch.Tensor) and is_plain(t) else None


def copied(t: torch.Tensor) -> Any:
    """The same in memory of its own."""
    found = array_in(t)
    return None if found is None else np.array(found)


def elements_in(graph: TorchGraph, id: str) -> Any:
    """The elements of a tensor of a graph as they were when it was made; None if they are not known."""
    return array_in(graph.ordered[int(id[1:])].elements)
