"""Calls a function again from where it was called first, so that its ops are told with that line of the user's code."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from itertools import islice
from types import CodeType
from typing import Any, NamedTuple


class Spot(NamedTuple):
    """An expression in a file, as Python counts: lines from 1, columns in bytes from 0."""

    file: str
    line: int
    end_line: int
    column: int
    end_column: int


def spot_of(code: CodeType, lasti: int) -> Spot | None:
    """Where an instruction stands; None if the code has no positions."""
    line, end_line, column, end_column = next(islice(code.co_positions(), lasti // 2, None), (None,) * 4)
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return Spot(code.co_filename, line, end_line, column, end_column)


def call_from(spot: Spot | None, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function from a frame that stands at a spot."""
    if spot is None:
        return function(*args, **kwargs)
    at = {"lineno": spot.line, "end_lineno": spot.end_line, "col_offset": spot.column, "end_col_offset": spot.end_column}
    call = ast.Call(ast.Name("again", ast.Load(), **at), [], [], **at)
    return eval(compile(ast.Expression(call), spot.file, "eval"), {"again": partial(function, *args, **kwargs)})
