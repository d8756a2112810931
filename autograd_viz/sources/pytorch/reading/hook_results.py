"""What a hook of a node may return. PyTorch's engine checks it; for a node that is called by hand, this file does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def checked(hook: object, before: Sequence[Any], returned: object) -> tuple[Any, ...]:
    """Check what a hook returned, and give the gradients that go on.

    Args:
        hook: the user's function.
        before: the gradients that it was given.
        returned: its result; None leaves the gradients as they are.

    Raises:
        TypeError: it is no tuple, or has an item that is no tensor.
        RuntimeError: the number of gradients, a type or a size is wrong. All errors are in PyTorch's words.
    """
    if returned is None:
        return tuple(before)
    if not isinstance(returned, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(returned).__name__}'")
    name = getattr(hook, "__name__", "<unknown>")
    if len(returned) != len(before):
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values (got {len(returned)}, but expected {len(before)})"
        )
    for was, now in zip(before, returned, strict=True):
        if now is not None:
            _check(name, was, now)
    return returned


def _check(name: str, was: Any, now: Any) -> None:
    if was is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(now, torch.Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(now).__name__}'")
    if (was.dtype, was.layout, was.device.type) != (now.dtype, now.layout, now.device.type):
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {_type(was)} got {_type(now)})")
    if not was.is_nested and was.shape != now.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")


def _type(tensor: Any) -> str:
    """PyTorch's name of the type; complex types have another kind of name."""
    if not tensor.is_complex():
        return str(tensor.type())
    return f"{tensor.device.type.upper()}{str(tensor.type()).removeprefix('torch.').replace('Tensor', 'Type')}"
