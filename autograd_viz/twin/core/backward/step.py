"""What one call of a backward node did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .node import Node


class Step(NamedTuple):
    """One call of one backward node.

    Attributes:
        node: the node that ran.
        grad_outputs: the gradients that arrived, one per output of the op; None for an unused output.
        results: the values of its rules.
        grad_inputs: the gradients sent along next_functions: the results reduced to the receiver's shape, in its type.

    Gradients are NumPy arrays, or Tensors in a recorded pass (create_graph).
    """

    node: Node
    grad_outputs: Sequence[Any]
    results: Sequence[Any]
    grad_inputs: Sequence[Any]


Done = tuple[Node, Sequence[Any], Sequence[Any], Sequence[Any]]  # the fields of a Step
