"""The leaves that sliders move: how they are made from what a person gave, and how their numbers are written."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph import Document, State
from ..graph.text import number_text
from ..sources import anything

MOST_ELEMENTS = 64  # of a leaf that has a slider


class Leaf(NamedTuple):
    """A leaf with a slider: what it is made from, its shape, and its first elements, one after the other."""

    base: Any
    shape: tuple[int, ...]
    first: tuple[float, ...]


class Ran(NamedTuple):
    """One run: its graph after the backward pass, the output, and the gradient of each leaf."""

    document: Document
    state: State
    output: float
    grads: Mapping[str, Sequence[float] | None]


class At(NamedTuple):
    """What a person has chosen: a leaf, one of its elements, and how far it is nudged (None: a fiftieth of the slider)."""

    leaf: str
    element: int = 0
    delta: float | None = None


def bound_of(value: float) -> float:
    """The end of a slider: 1, 2 or 5 times a power of ten, twice as large as the value."""
    if not value or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(2 * abs(value)))
    return float(next(n * power for n in (1, 2, 5, 10) if n * power >= 2 * abs(value) * (1 - 1e-9)))


def leaves_of(given: Mapping[str, Any], library: Any) -> tuple[dict[str, Leaf], dict[str, Any]]:
    """The leaves with sliders, and all other arguments as they are."""
    leaves, others = dict[str, Leaf](), dict[str, Any]()
    for name, value in given.items():
        base = value.detach().clone() if anything.is_drawable(value) else None
        if base is None and not isinstance(value, bool | str):
            with contextlib.suppress(TypeError, ValueError):
                base = library.tensor(np.asarray(value, dtype=float).tolist())
        if base is None or not base.is_floating_point() or not 0 < base.numel() <= MOST_ELEMENTS:
            others[name] = value
        else:
            leaves[name] = Leaf(base, tuple(base.shape), tuple(np.ravel(base.tolist()).tolist()))
    return leaves, others


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Inside, nothing is printed and no warning is shown: the function has said it in its first run."""
    with warnings.catch_warnings(action="ignore"), contextlib.redirect_stdout(io.StringIO()):
        yield


def number(value: float) -> str:
    """Four digits."""
    return number_text(float(f"{value:.4g}")).replace("-", "\N{MINUS SIGN}")


def finite(value: float) -> float | None:
    """A number for JSON."""
    return value if math.isfinite(value) else None
