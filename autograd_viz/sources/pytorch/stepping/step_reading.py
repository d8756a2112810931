"""What a step of a PyTorch pass is written from when it is read: see Note [When a step is read] in step.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ....graph.model import Formula, Value
from ....graph.text import value_text
from ...shared.formulas import formulas_with_numbers, local_jacobians
from ...shared.stepping.step import Ran, Rules, read_beside
from ..reading.handles import version_of
from ..reading.nodes import is_accumulate, name_of
from ..reading.reference_op import agrees, formulas_of, reference_of
from ..reading.region_op import RegionOp
from ..reading.saved import SavedValue
from ..reading.values import overwritten, unseen, value_of
from .schedule import Step

NOWHERE = (0, 0)  # the place of a tensor without plain memory: it is always read at once


@unseen
def rules_of(step: Step, kept: list[SavedValue] | None, jacobians: bool, ran: Ran) -> Rules:
    """The formulas that ran, as the core writes them, and, if wanted, the local Jacobians.

    Both are empty if the core's rules are unknown or give other results.
    """
    if isinstance(step.node, RegionOp):
        texts, names = step.node.formulas(), [r.name for r in step.node.results]
        values = dict(zip(names, ran.grad_inputs, strict=True))
        return tuple(Formula(n, t if (v := values[n]) is None else f"{t} = {value_text(v)}") for n, t in texts.items()), ()
    reference = None if kept is None or is_accumulate(step.node) else reference_of(name_of(step.node), step.node, kept)
    symbols = formulas_of(reference)
    if reference is None or not symbols or not agrees(reference, list(step.grad_outputs), list(step.results)):
        return (), ()
    results = read_beside(step.results, step.grad_inputs, ran.grad_inputs, _values)
    formulas = formulas_with_numbers(reference, symbols, ran.kept, ran.grad_outputs, results, ran.grad_inputs)
    return formulas, local_jacobians(reference) if jacobians else ()


def always(value: Value) -> Callable[[], Value]:
    """A function that returns a value that has already been read."""
    return lambda: value


def place_of(gradient: object) -> tuple[int, int]:
    """Address and bytes of the whole memory that a gradient is in."""
    if type(gradient) is not torch.Tensor or gradient.layout is not torch.strided or gradient.is_meta:
        return NOWHERE
    try:
        size = gradient.element_size()
        return gradient.data_ptr() - int(gradient.storage_offset()) * size, gradient.numel() * size
    except RuntimeError:  # inside torch.func
        return NOWHERE


@unseen
def values_at(versions: Mapping[Any, int], grads: Sequence[Any]) -> tuple[Value | None, ...]:
    """Gradients as they were at these versions. Only a hook without a tensor can change one; then its value says so."""
    changed = {g for g in grads if g is not None and version_of(g) != versions[g]}
    return tuple([overwritten(g.shape, g.dtype) if g in changed else v for g, v in zip(grads, _values(grads), strict=True)])


def _values(grads: Sequence[Any]) -> tuple[Value | None, ...]:
    return tuple(None if g is None else value_of(g) for g in grads)
