"""The ops of the forward pass: recorded, or reconstructed from the backward graph."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch.autograd.graph import Node

from .boxes import Box, Boxes
from .compiled import is_cached
from .handles import Event
from .nodes import COMPILED, Edge, grad_fn_of, is_function, is_nested, name_of, outputs_of, variable_of
from .reference_op import primitive_of, titles
from .region_op import RegionOp
from .saved import SavedValue
from .values import is_plain, outside_modes

NUMBER = "?"  # an unknown operand: it does not require grad, and no rule needs it; or it is gone
NUMBERS = ("self", "other", "exponent")  # operands that may be Python numbers, which are saved as tensors


def title_of(node: object) -> str:
    """The op's name in pictures: "Mul" of MulBackward0, a user's Function by its own name."""
    name = name_of(node)
    return name.removesuffix("Backward") if is_function(node) else re.sub(r"Backward(s|\d*)(_copy)?$", "", name)


def title_named(name: str) -> str:
    """An op's name in pictures, by that of its function: "Mul" of "mul"."""
    return titles().get(name) or "".join(part.capitalize() for part in name.strip("_").split("_"))


def reason_of(node: Any, event: Event | None, is_open: bool) -> str:
    """Why an op, its contents or its node could not be recorded, as in `graph.model.Op`. `is_open`: its region is."""
    if event is not None and not event.is_tracked:
        return "no_grad"
    if is_open or isinstance(node, RegionOp):
        return "opened"
    if type(node).__name__ == COMPILED:
        return "cached" if is_cached(node) else "compiled"
    return "nested" if event is None and is_nested(node) else ""


def reconstruct(node: Node, edges: tuple[Edge, ...], saved: list[SavedValue], boxes: Boxes) -> list[Box | str]:
    """The inputs that an op must have had: where its gradients go, and what it has saved."""
    op = primitive_of(name_of(node), frozenset(k.name for k in saved))
    known = {k.name: k.value for k in saved}
    names = op.inputs if op is not None and op.variadic is None and len(op.inputs) == len(edges) else [""] * len(edges)
    found: list[Box | str] = []
    for name, (after, index) in zip(names, edges, strict=True):
        if after is not None:
            leaf = variable_of(after)
            found.append(boxes.at(after, index) if leaf is None else boxes.of(leaf))
        elif isinstance(known.get(name), torch.Tensor):
            found.append(_saved_operand(known[name], node, boxes))
        elif name in NUMBERS:
            found.append(NUMBER)
    if op is not None:  # operands that are plain numbers: the 2 of ``x ** 2``
        plain = [known.get(n) for n in ("exponent", "other") if n in op.options and n not in op.inputs]
        found += [str(number) for number in plain if isinstance(number, int | float | complex)]
    return found


def _saved_operand(value: Any, node: object, boxes: Boxes) -> Box | str:
    """A saved tensor that did not require grad. A Python number was saved as a tensor of another type."""
    if grad_fn_of(value) is not None:  # a recorded op has changed it in place: the value that was read is gone
        return NUMBER
    is_number = value.ndim == 0 and is_plain(value) and value.dtype in (torch.float64, torch.int64, torch.bool)
    if is_number and outputs_of(node)[0].dtype != value.dtype and boxes.find(value) is None:
        with outside_modes():
            return str(value.item())
    return boxes.of(value)
