"""The user's code at a place: the expression, the statement around it, and the names in it.

# Note [A name by its line]
A line's name is drawn as a variable's is, so it must be as certain: the expression is the whole value of an assignment to one
name, and the tensor is the only one made there that is used elsewhere (of a layer's ops, or of the many h of `h = cell(h)` in a
loop, the last is left). A name means one tensor: the last to which it was assigned. If a variable of the caller has the name,
it means that one, unless the name is local to the function that ran.
"""

from __future__ import annotations

import ast
import bisect
import functools
import inspect
import linecache
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from operator import itemgetter
from types import CodeType
from typing import Any, NamedTuple

from ...graph.listing import parsed, parsed_expression
from ...graph.model import Op, Statement
from ...graph.surroundings import Source
from ...twin.core.base.provenance import Place


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


BEGIN, END = re.compile(r"\b\w|[^\w\s]"), re.compile(r"(?<=\w)\b|(?<=[^\w\s])")  # where an expression can


def source_at(code: CodeType, lasti: int) -> Source | None:
    """The exact sub-expression that was running at instruction `lasti` of `code`; None if the code has no positions."""
    return _source_at(code, lasti, code.co_filename)  # not cached by code: equal code may come from two files


def definition_of(function: Any) -> Source | None:
    """The line of a function's `def`; None if its code is not known. Decorators stand above it."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return None
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    above = next((k for k, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
    line, text = code.co_firstlineno + above, "".join(lines[above : above + 1]).rstrip("\n")
    return Source(code.co_filename, line, line, 0, len(text), text)


@functools.lru_cache(maxsize=4096)
def _source_at(code: CodeType, lasti: int, file: str) -> Source | None:
    spot = spot_of(code, lasti)
    if spot is None:
        return None
    _, line, end_line, column, end_column = spot
    left, lines = _indentation_left_out(code, file), linecache.getlines(file)[line - 1 : end_line]
    start = _in_characters(lines[0], column + left) if lines else column + left
    end = _in_characters(lines[-1], end_column + left) if len(lines) > end_line - line else end_column + left
    function = "" if code.co_name.startswith("<") else code.co_name
    return Source(file, line, end_line, start, end, "".join(lines).removesuffix("\n"), function)


@functools.lru_cache(maxsize=1024)
def _indentation_left_out(code: CodeType, file: str) -> int:
    """How far the columns of `code` are left of its file's: marimo compiles a cell without the file's indentation. At the
    columns of the file, an expression begins and ends where a word does.
    """
    lines = linecache.getlines(file)
    places = {
        (lines[line - 1], column, lines[end_line - 1], end)
        for line, end_line, column, end in code.co_positions()
        if line and end_line and end and column is not None and end_line <= len(lines)  # what is nowhere in a line ends at 0
    }
    deepest = max((len(line) - len(line.lstrip()) for line, *_ in places), default=0)

    def fits(pattern: re.Pattern[str], line: str, byte_column: int) -> bool:
        return pattern.match(line, _in_characters(line, byte_column)) is not None

    def cuts(left: int) -> int:
        return sum(not (fits(BEGIN, first, start + left) and fits(END, last, end + left)) for first, start, last, end in places)

    return min(range(deepest + 1), key=cuts)


def _in_characters(line: str, byte_column: int) -> int:
    """A column in characters: Python counts UTF-8 bytes."""
    return len(line.encode()[:byte_column].decode(errors="ignore"))


class _Statement(NamedTuple):
    start: tuple[int, int]  # line, column
    end: tuple[int, int]
    text: str  # without indentation


@functools.lru_cache(maxsize=256)
def _statements(lines: tuple[str, ...]) -> list[_Statement]:
    """Every simple statement of a file, in order. A file that is not plain Python (a cell with %magics) gives one per line."""
    text = "".join(lines)
    try:
        tree = parsed(text)
    except SyntaxError:
        return [_Statement((i, 0), (i, len(line)), line.strip()) for i, line in enumerate(lines, 1)]
    known = (node for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return sorted(_statement(n, lines) for n in known if not (hasattr(n, "body") or isinstance(n, ast.Match)))


def _statement(node: ast.stmt, lines: tuple[str, ...]) -> _Statement:
    first, last = node.lineno, node.end_lineno or node.lineno
    start = _in_characters(lines[first - 1], node.col_offset)
    end = _in_characters(lines[last - 1], node.end_col_offset or 0)
    own = [*lines[first - 1 : last - 1], lines[last - 1][:end]]  # ast.get_source_segment would split the whole file each time
    own[0] = own[0][start:]
    return _Statement((first, start), (last, end), "\n".join(line.strip() for line in own))


# what may stand around the value of an assignment to one name: `a: Tensor = (` and `).requires_grad_()`
_BEFORE, _BEHIND = re.compile(r"([^\W\d]\w*)\s*(?::[^=]+)?=[\s(]*"), re.compile(r"[\s)]*(?:\.\w+_\(\w*\)[\s)]*)*")


class Assignment(NamedTuple):
    """A statement around an expression: where it is, and the name that gets the value of the expression, or ""."""

    file: str
    start: tuple[int, int]
    name: str


@functools.lru_cache(maxsize=4096)
def assignment_at(source: Source) -> Assignment:
    """The statement around a place: its name is "a" in `a = b * c` for `b * c`, and "" for `b`."""
    lines, around = _around(source)
    here, end = (source.line, source.column), (source.end_line, source.end_column)
    if around is None or end > around.end:
        return Assignment(source.file, here, "")
    found = _BEFORE.fullmatch(_between(lines, around.start, here))
    is_whole = found is not None and _BEHIND.fullmatch(_between(lines, end, around.end))
    return Assignment(source.file, around.start, found[1] if found is not None and is_whole else "")


def _around(source: Source) -> tuple[tuple[str, ...], _Statement | None]:
    """The lines of a place's file, and the last simple statement that begins before it; simple statements hold no others."""
    lines = tuple(linecache.getlines(source.file))
    known = _statements(lines) if lines else []
    at = bisect.bisect_right(known, (source.line, source.column), key=lambda s: s.start) - 1
    return lines, known[at] if at >= 0 else None


def _between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    return "".join([lines[start[0] - 1][start[1] :], *lines[start[0] : end[0] - 1], lines[end[0] - 1][: end[1]]])


def statement_at(source: Source) -> tuple[tuple[int, int], str] | None:
    """Start and text (with its line breaks) of the statement around a place; None if the source is not available."""
    (lines, around), here = _around(source), (source.line, source.column)
    if around is not None and here <= around.end:
        return around.start, around.text
    return (here, lines[source.line - 1].strip()) if source.line <= len(lines) else None


class TensorEvent(NamedTuple):
    """Something that happened to a tensor at a place in the code; `order` rises with time."""

    order: tuple[int, int]
    at: Place | None
    tensor: str
    kind: str


def place_of(at: Place | None) -> Source | None:
    """The exact sub-expression that was running there."""
    return None if at is None else source_at(at.code, at.lasti)


def statements(events: Iterable[TensorEvent], name_of: Callable[[str], str | None]) -> tuple[Statement, ...]:
    """The statements of some events."""
    found: dict[Any, Statement] = {}
    keys: dict[Place, Any] = {}  # by place: file, start and text of its statement
    for _, at, id, kind in sorted(events, key=itemgetter(0)):
        if at is not None and at not in keys:
            statement = statement_at(source) if (source := place_of(at)) is not None else None
            keys[at] = None if source is None or statement is None else (source.file, *statement)
        if at is None or (key := keys[at]) is None:
            continue
        known = found.get(key)
        # `e = b * c * d` makes an unnamed tensor before e: it stands beside e
        shows_later = known is not None and name_of(known.tensor) is None and name_of(id) is not None
        if known is None or (kind == "make" == known.kind and shows_later):
            found.pop(key, None)
            found[key] = Statement(key[2], id, kind)
    return tuple(found.values())


def names_by_line(
    places: Mapping[str, Source | None], ops: Iterable[Op], named: Set[str], taken: Container[str], used: Set[str]
) -> dict[str, str]:
    """Names of tensors that have none. See Note [A name by its line].

    `places`: by tensor, in the order of the program, where it was made. `named`: ids of tensors that have a name. `taken`: the
    caller's variables. `used`: names that mean something else in this graph.
    """
    statements = {t: assignment_at(source) for t, source in places.items() if source is not None}
    users = defaultdict[str | None, set[object]](set)
    for op in ops:
        user = None if op.source is None else assignment_at(op.source)[:2]
        for operand in op.inputs:
            users[operand.tensor].add(user)
    left: dict[Assignment, list[str]] = defaultdict(list)
    for tensor, statement in statements.items():
        if statement.name and users[tensor] != {statement[:2]}:
            left[statement].append(tensor)
    last: dict[str, tuple[int, list[str]]] = {}
    order = {tensor: i for i, tensor in enumerate(places)}
    for statement, tensors in left.items():
        last[statement.name] = max(last.get(statement.name, (-1, [])), (order[tensors[-1]], tensors))
    only = ((name, tensors[0]) for name, (_, tensors) in last.items() if len(tensors) == 1)
    new = ((name, tensor, places[tensor]) for name, tensor in only if tensor not in named and name not in used)
    found = {tensor: name for name, tensor, place in new if name not in taken or (place is not None and is_local(name, place))}
    return names_by_operand(ops, {*named, *found}, {*used, *found.values()}) | found


OPERATORS = {"Add": ast.Add, "Sub": ast.Sub, "Mul": ast.Mult, "Div": ast.Div}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_local(name: str, source: Source) -> bool:
    """Is it a variable of the function around a place? A variable of the caller's with this name is then another one."""
    return bool(source.function) and name in _locals(tuple(linecache.getlines(source.file)), source.function, source.line)


@functools.lru_cache(maxsize=256)
def _locals(lines: tuple[str, ...], function: str, line: int) -> frozenset[str]:
    """The parameters of the innermost function around a line, and what it assigns to."""
    try:
        tree = parsed("".join(lines))
    except SyntaxError:
        return frozenset()
    around = [f for f in ast.walk(tree) if isinstance(f, FUNCTIONS) and f.lineno <= line <= (f.end_lineno or 0)]
    found = max(around, key=lambda f: f.lineno, default=None)
    if found is None or found.name != function:
        return frozenset()
    inside = [n for part in found.body for n in ast.walk(part)]
    shared = {name for n in inside if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
    given = {n.arg for n in ast.walk(found.args) if isinstance(n, ast.arg)}
    return frozenset((given | {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}) - shared)


def names_by_operand(ops: Iterable[Op], named: Container[str], used: Container[str]) -> dict[str, str]:
    """Names of tensors that have none: `a * b` in a function names both operands, if each name means one tensor there.
    `named`: ids of tensors that have a name. `used`: names that mean something else in this graph.
    """
    of_name, of_tensor = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for op in ops:
        for operand, name in zip(op.inputs, _operands(op), strict=False):
            if operand.tensor is not None:
                of_name[name].add(operand.tensor)
                of_tensor[operand.tensor].add(name)
    return {
        tensor: name
        for tensor, names in of_tensor.items()
        for name in sorted(names)[:1]
        if len(names) == len(of_name[name]) == 1 and tensor not in named and name not in used
    }


def _operands(op: Op) -> tuple[str, ...]:
    """The two local variables that an op was given, by its code: `a` and `b` of `a * b`."""
    if op.source is None or op.name not in OPERATORS or [o.tensor is None for o in op.inputs] != [False, False]:
        return ()
    match parsed_expression(op.source.expression):
        case ast.BinOp(left=ast.Name(id=left), op=operator, right=ast.Name(id=right)):
            is_its = isinstance(operator, OPERATORS[op.name]) and is_local(left, op.source) and is_local(right, op.source)
            return (left, right) if is_its else ()
    return ()
