"""The inputs that a user's Function had, as far as its node has kept them.

What a node has not kept has the right shape and values between 0.1 and 1, where most functions are defined.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import torch

from ..reading.nodes import edge_of, outputs_of
from ..reading.saved import reading, saved_of
from ..reading.values import array_in, unseen

MOST = 200_000  # elements of all inputs
PLAIN = (bool, int, float, str, tuple, list, type(None))


@unseen
def inputs_of(node: Any, known: list[Any]) -> tuple[list[Any], list[int]] | None:
    """The arguments of forward(), tensors as arrays; and which of them had a gradient. None if they cannot be told."""
    with reading():
        kept = [k.value for k in saved_of(node) if isinstance(k.value, torch.Tensor)]
    edges, given, wanted = list(node.next_functions), list[Any](), list[int]()
    own = {edge for edge, _ in edges} - {None}
    data = [t for t in kept if not t.requires_grad]  # in the order of the inputs, as most programs save them
    names = [*_tensors(node)]
    if sum(is_tensor for _, is_tensor in names) != len(edges) or len(data) < sum(edge is None for edge, _ in edges):
        return None
    for value, is_tensor in names:
        if not is_tensor:
            given.append(value)
            continue
        edge, index = edges.pop(0)
        if edge is None:
            given.append(array_in(data.pop(0)))
            continue
        there = next((t for t in (*kept, *known) if t is not None and edge_of(t) == (edge, index)), None)
        wanted.append(len(given))
        given.append(_made(outputs_of(edge)[index].shape) if there is None else array_in(there.detach()))
    size = sum(a.size for a in given if isinstance(a, np.ndarray))
    return (given, wanted) if own and size <= MOST and all(a is not None for a in given) else None


def _tensors(node: Any) -> list[tuple[Any, bool]]:
    """For each argument of forward(): its value on ctx, if ctx has a plain one of that name; and is it a tensor?"""
    function = node._forward_cls
    has_context = function.setup_context is torch.autograd.Function.setup_context
    parameters = [*inspect.signature(function.forward).parameters.values()][has_context:]
    held = {k: v for k, v in vars(node).items() if isinstance(v, PLAIN)}
    return [(held.get(p.name), p.name not in held) for p in parameters]


def _made(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(0).uniform(0.1, 1.0, shape if math.prod(shape) <= MOST else (1,))
