"""The third reading of an op's rules: as text, with names of saved values or with numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backward.saved import FREED, SavedTensor, holds_tensor
from ..base.symbol import Symbol, symbols
from .primitive_node import PrimitiveNode


def formulas(node: PrimitiveNode, grads: Sequence[Symbol], saved: dict[str, Symbol] | None = None) -> dict[str, str]:
    """The text of each rule that runs for a node, by input name; `saved` has symbols in place of names of saved tensors."""
    op = node.primitive
    grad: Any = grads if op.takes_all else grads[0]
    shown = {name: in_formula(name, value) for name, value in node._saved().items()} | (saved or {})
    inputs = [op.variadic] if op.variadic else op.inputs
    needs = [True] if op.variadic else [after is not None for after in node._next]
    return {
        name: repr(rule.on_symbols(grad, *(shown[op.saved_names[i]] for i in rule.wants)))
        for name, need, rule in zip(inputs, needs, op.rules, strict=True)
        if need and rule
    }


def in_formula(name: str, value: Any) -> Any:
    """A saved value in a formula: a tensor as its name, a plain value as itself."""
    if isinstance(value, tuple) and holds_tensor(value):
        return symbols(name, (in_formula(f"{name}[{i}]", v) for i, v in enumerate(value)))
    if value is FREED or holds_tensor(value) or isinstance(value, np.ndarray):
        return Symbol(name, is_complex=is_complex(value))
    return value


def is_complex(kept: Any) -> bool:
    """Does a saved tensor hold complex numbers? A tensor that hooks keep counts as real."""
    if isinstance(kept, SavedTensor):
        if kept.unpack_hook is not None:
            return False
        kept = kept.tensor
    return getattr(getattr(getattr(kept, "_data", kept), "dtype", None), "kind", "") == "c"
