"""The names of a model's inputs, by the arguments of its `forward`: `input_ids`.

They are for tensors that no variable holds.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FrameType
from typing import Any

import torch

from ...shared.names import elements
from .calls import MODULE_CALL


def is_given(handle: Any) -> bool:
    """Was the tensor made outside the recording, or by an op without inputs?"""
    maker = handle.maker
    return maker is None or not maker.inputs


def note_argument(handle: Any, tensor: torch.Tensor, frame: FrameType | None) -> None:
    """Keep what the outermost module calls a tensor that no recorded op has made. It is asked when an op first reads the
    tensor.

    Args:
        handle: what is known of the tensor.
        tensor: the tensor.
        frame: in which the op runs.
    """
    calls: list[FrameType] = []
    handle.argument = ""
    while frame is not None:
        if frame.f_code is MODULE_CALL:
            calls.append(frame)
        frame = frame.f_back
    for call in reversed(calls):
        found = list(_names_in(call, tensor))
        if found and found[0]:
            handle.argument = found[0]
        if not found or found[0]:  # otherwise it went through *args of a wrapper, and an inner module may name it
            return


def argument_of(handle: Any) -> str | None:
    """The name, if there is one."""
    return None if handle is None else handle.argument or None


def _names_in(call: FrameType, tensor: torch.Tensor) -> Iterator[str]:
    """The names of a tensor among the arguments of a module's call; "" for one in *args."""
    given = call.f_locals
    try:
        bound = inspect.signature(given["self"].forward).bind(*given.get("args", ()), **given.get("kwargs", {}))
    except (KeyError, TypeError, ValueError):
        return
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
            named = [("", v) for of in value for _, v in (("", of), *elements("", of))]
        elif bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            named = list(value.items())
        else:
            named = [(name, value), *elements(name, value)]
        yield from (n for n, v in named if v is tensor)
