"""What the user calls things: variables of the caller, and the statements that made them."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import CodeType, FrameType
from typing import Any, TypeVar

from ..graph.model import Source

T = TypeVar("T")


def visible_names(frame: FrameType) -> dict[str, Any]:
    """The caller's variables: its globals, hidden by its locals. IPython's own (In, Out, _, _3) are left out."""
    names = {**frame.f_globals, **frame.f_locals}
    hidden = {"In", "Out"} if "get_ipython" in frame.f_globals else set()
    return {k: v for k, v in names.items() if not k.startswith("_") and k not in hidden}


def names_by_identity(variables: Mapping[str, Any], is_tensor: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """(name, tensor) pairs: plain variables first, then `xs[0]`, `xs["w"]` and the parameters of modules.

    The pairs hold the tensors, so comparing with `is` is safe. The first name of a tensor is its name.
    """
    plain = [(name, v) for name, v in variables.items() if is_tensor(v)]
    inside = [pair for name, v in variables.items() for pair in _elements(name, v) if is_tensor(pair[1])]
    return plain + inside


def _elements(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        yield from ((f"{name}[{i}]", v) for i, v in enumerate(islice(value, 1000)))
    elif isinstance(value, dict):
        yield from ((f"{name}[{k!r}]", v) for k, v in islice(value.items(), 1000))
    elif not isinstance(value, type) and callable(getattr(value, "named_parameters", None)):
        yield from ((f"{name}.{k}", v) for k, v in value.named_parameters())


@functools.lru_cache(maxsize=4096)
def source_at(code: CodeType, lasti: int) -> Source | None:
    """The exact sub-expression that was running at instruction `lasti` of `code`; None if the code has no positions."""
    line, end_line, column, end_column = next(islice(code.co_positions(), lasti // 2, None), (None,) * 4)
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return Source(code.co_filename, line, end_line, _characters(code, line, column), _characters(code, end_line, end_column))


def _characters(code: CodeType, line: int, byte_column: int) -> int:
    """Python counts columns in UTF-8 bytes; people count characters."""
    text = linecache.getline(code.co_filename, line)
    return len(text.encode()[:byte_column].decode(errors="ignore")) if text else byte_column


@functools.lru_cache(maxsize=256)
def _statements(file: str, lines: tuple[str, ...]) -> list[tuple[int, int, str]]:
    """(first line, last line, text) of every simple statement of a file; innermost ones only."""
    text = "".join(lines)
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a cell with %magics
        return [(i, i, line.strip()) for i, line in enumerate(lines, 1)]
    simple = (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body"))
    return [(s.lineno, s.end_lineno or s.lineno, ast.get_source_segment(text, s) or "") for s in simple]


def statement_at(source: Source) -> tuple[int, str] | None:
    """First line and text (on one line) of the statement around a place; None if the code cannot be seen."""
    lines = tuple(linecache.getlines(source.file))
    if not lines:
        return None
    around = [
        (last - first, first, text) for first, last, text in _statements(source.file, lines) if first <= source.line <= last
    ]
    if not around:
        return (source.line, lines[source.line - 1].strip()) if source.line <= len(lines) else None
    here = lines[source.line - 1][source.column : source.end_column] if source.line == source.end_line else ""
    best = next((a for a in around if here and here in a[2]), min(around))  # `a = f(); b = g()` are two on one line
    return best[1], " ".join(best[2].split())
