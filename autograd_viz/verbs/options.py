"""The options of the verbs. A wrong one is refused by name, before any work is done."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from ..errors import UnknownChoiceError
from ..pictures.layout import DETAILS
from ..pictures.render import theme_named
from ..pictures.render.drawing import AUTO
from ..sources import anything


class Kind(NamedTuple):
    """What an option may be."""

    takes: str  # in words
    is_one: Callable[[Any], bool]  # is it of the right type?
    is_good: Callable[[Any], bool] = lambda value: True  # is it of the right size?


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_flag(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not _is_flag(value)


def _are(is_one: Callable[[Any], bool], value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str | bytes) and all(map(is_one, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _or_none(is_one: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_one(value)


FLAG = Kind("True or False", _is_flag)
FLAG_OR_NONE = Kind("True, False or None", _or_none(_is_flag))
PYTORCHS = Kind("True or False", lambda value: _is_flag(value) or _is_whole(value))  # backward() takes 1, too
POSITIVE = Kind("a positive number", _is_number, lambda value: 0 < value < math.inf)
SIZE = Kind('a number of bytes or a size such as "256 MB"', lambda value: _is_whole(value) or isinstance(value, str))
TOLERANCE = Kind("a number of at least 0, or None", _or_none(_is_number), lambda value: value is None or 0 <= value < math.inf)
KINDS = {
    "atol": TOLERANCE,
    "budget": SIZE._replace(takes=f"{SIZE.takes}, or None", is_one=_or_none(SIZE.is_one)),
    "collapse": FLAG_OR_NONE,
    "create_graph": PYTORCHS,
    "depth": Kind("a whole number of at least 0, or None", _or_none(_is_whole), lambda value: value is None or value >= 0),
    "duration": POSITIVE,
    "every": Kind("a whole number of at least 1, or None", _or_none(_is_whole), lambda value: value is None or value >= 1),
    "height": Kind("a positive whole number", _is_whole, lambda value: value > 0),
    "k": Kind("a whole number or None", _or_none(_is_whole)),
    "keep": SIZE,
    "open": Kind("a text or a list of texts", lambda value: _is_text(value) or _are(_is_text, value)),
    "retain_graph": Kind("True, False or None", _or_none(PYTORCHS.is_one)),
    "rtol": TOLERANCE,
    "scale": POSITIVE._replace(takes="a positive number, or None", is_one=_or_none(_is_number),
                               is_good=lambda value: value is None or POSITIVE.is_good(value)),
    "show": FLAG,
    "step": Kind('a number, "final" or None', lambda value: value is None or isinstance(value, str) or _is_number(value)),
    "steps": Kind("True, False or a list of whole numbers",
                  lambda value: _is_flag(value) or (_are(_is_whole, value) and len(value) > 0)),
    "stop": FLAG,
    "timeout": POSITIVE,
    "titles": Kind("a list of texts", partial(_are, _is_text)),
    "when": Kind("a function or None", _or_none(callable)),
}  # fmt: skip


UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def bytes_of(size: int | str, name: str) -> int:
    """The number of bytes: 256_000_000 for "256 MB". ValueError, with the option's name, if it is not a size."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*((?:[KMG]i?)?B?)\s*", str(size), re.IGNORECASE)
    if found is None or found.group(2).upper() not in UNITS:
        raise ValueError(f'{name} must be a number of bytes or a size such as "256 MB", got {size!r:.60}')
    return int(float(found.group(1)) * UNITS[found.group(2).upper()])


def check_options(**given: Any) -> None:
    """Check options by their names. An option of one name takes the same in each verb.
    TypeError, ValueError: one has a wrong type, or a wrong size. UnknownChoiceError: no such theme or detail.
    """
    for name, value in given.items():
        if name == "theme":
            if not isinstance(value, str) or value != "auto":
                theme_named(value)
        elif name == "detail":
            if not isinstance(value, str) or value not in (AUTO, *DETAILS):
                raise UnknownChoiceError("detail", value, (AUTO, *DETAILS))
        elif not (kind := KINDS[name]).is_one(value):
            raise TypeError(f"{name} must be {kind.takes}, got {type(value).__name__} ({value!r:.60})")
        elif not kind.is_good(value):
            raise ValueError(f"{name} must be {kind.takes}, got {value}")


def check_gradient(gradient: Any) -> None:
    """Raise TypeError for a first gradient that is no tensor, and no nest of them."""
    if gradient is not None and not isinstance(gradient, tuple | list) and not anything.is_drawable(gradient):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
