"""What the schema of an op says: its name, its operands, and whether it changes one of its arguments."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy
from torch.utils._pytree import tree_leaves

OPERANDS = {"self", "other", "exponent"}  # arguments for which a Python number is an operand
NUMBERS = (int, float, complex)
SEVERAL = (list, tuple)


class Signature(NamedTuple):
    """What all calls of an op have in common."""

    name: str  # "mul" for `aten::mul.Tensor`.
    # those that can be operands: position and name; None for a higher-order op (`torch.cond`), without a schema.
    arguments: tuple[tuple[int, str], ...] | None
    is_mutable: bool  # it changes an argument in place

    def operands(self, args: Any, kwargs: Any) -> Iterator[Any]:
        """The tensors of a call, and the text of each number that it computes with."""
        if self.arguments is None:
            yield from (t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor))
            return
        given = len(args)
        for place, name in self.arguments:
            value = args[place] if place < given else kwargs.get(name)
            if type(value) is Tensor:
                yield value
            elif isinstance(value, Tensor):
                if not is_lazy(value):  # nothing is known of a lazy one yet
                    yield value
            elif isinstance(value, SEVERAL):
                if name != "indices":
                    yield from (v for v in value if isinstance(v, torch.Tensor))
            elif name in OPERANDS and isinstance(value, NUMBERS):
                yield str(value)


@functools.cache
def signature_of(func: Any) -> Signature:
    """The signature of an op. It is cached: PyTorch makes the schema anew each time."""
    if not hasattr(func, "_schema"):
        return Signature(func.name(), None, False)
    schema = func._schema
    arguments = [(i, a.name) for i, a in enumerate(schema.arguments) if a.name in OPERANDS or "Tensor" in str(a.type)]
    return Signature(schema.name.rpartition("::")[2], tuple(arguments), schema.is_mutable)
