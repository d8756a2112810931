"""The state of an optimizer in bytes: what it holds, or what its first step will make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def _none(group: Mapping[str, Any]) -> int:
    return 0


BUFFERS: dict[str, Callable[[Mapping[str, Any]], int]] = {  # of a group's options: tensors of each parameter's size
    **dict.fromkeys(("Adam", "AdamW"), lambda group: 2 + bool(group.get("amsgrad"))),
    **dict.fromkeys(("Adadelta", "Adamax", "NAdam", "RAdam", "Rprop"), lambda group: 2),
    **dict.fromkeys(("ASGD", "Adagrad"), lambda group: 1),
    "RMSprop": lambda group: 1 + bool(group.get("momentum")) + bool(group.get("centered")),
    "SGD": lambda group: int(bool(group.get("momentum"))),
}


def state_of(optimizer: Any, is_own: Callable[[Any], bool], bytes_of: Callable[[Any], int]) -> tuple[int, int]:
    """The bytes of the state of some parameters, and those that the first step of an optimizer of a known class will make."""
    held = foreseen = 0
    for group in optimizer.param_groups:
        buffers = BUFFERS.get(type(optimizer).__name__, _none)(group)
        for p in filter(is_own, group["params"]):
            state = optimizer.state.get(p)
            if state:
                held += sum(map(bytes_of, _tensors(state)))
            else:
                foreseen += buffers * bytes_of(p) * bool(p.requires_grad)
    return held, foreseen


def _tensors(state: Mapping[str, Any]) -> list[Any]:
    """All but a count of steps."""
    parts = [part for value in state.values() for part in (value if isinstance(value, list | tuple) else [value])]
    return [part for part in parts if hasattr(part, "dtype") and getattr(part, "ndim", False)]
