"""What a hook of a node may return: PyTorch's engine checks it, and a node that is called by hand has nobody else who would."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch


def checked(hook: Any, before: Sequence[Any], returned: Any) -> tuple[Any, ...]:
    """The gradients that go on after a hook.

    Args:
        hook: the user's function.
        before: the gradients that it was given.
        returned: what it has made of them; None leaves them as they are.

    Raises:
        TypeError: it is no tuple, or there is something else than tensors in it.
        RuntimeError: another number of gradients, or one of another type or size; all in PyTorch's words.
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
    """Complex types have another kind of name there."""
    if not tensor.is_complex():
        return str(tensor.type())
    return f"{tensor.device.type.upper()}{str(tensor.type()).removeprefix('torch.').replace('Tensor', 'Type')}"
