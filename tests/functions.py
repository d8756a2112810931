"""Functions that send no gradient, and that raise while they are told to."""

from __future__ import annotations

from typing import Any

import autograd_viz as av


def moody() -> tuple[type[av.autograd.Function], list[str]]:
    """(the Function, its moods): backward raises ValueError("not today") as long as the list is not empty."""
    moods = ["bad"]

    class Moody(av.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if moods:
                raise ValueError("not today")
            return grad * 2

    return Moody, moods


class Stops(av.autograd.Function):
    """x * 2, without a gradient."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None
