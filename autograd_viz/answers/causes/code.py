"""The user's code: ops and lines as they stand there, the cells of a notebook, and tensors whose gradient a line reads."""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from ... import words
from ...graph.listing import parsed, parsed_expression
from ...graph.surroundings import Source
from .history import Event, Op

LONGEST = 40  # characters of an expression in a sentence
SYMBOLS = {
    "gt": "… > …", "lt": "… < …", "ge": "… >= …", "le": "… <= …", "eq": "… == …", "ne": "… != …", "setitem": "x[...] = y",
    "getitem": "x[...]", "select": "x[...]", "matmul": "… @ …", "rsub": "… - …", "sub": "… - …", "truediv": "… / …",
    "div": "… / …", "floordiv": "… // …", "rdiv": "… / …", "add": "… + …", "mul": "… * …", "iadd": "… += …", "isub": "… -= …",
    "imul": "… *= …", "itruediv": "… /= …", "add_": "… += …", "sub_": "… -= …", "mul_": "… *= …", "div_": "… /= …",
    "data": ".data", "grad": "autograd.grad()",
}  # fmt: skip
ASSIGNED = re.compile(r"\s*(\w+)\s*=[^=]")  # the name that a statement gives to its value
OPERATORS = (ast.BinOp, ast.Compare, ast.Subscript, ast.AugAssign)


def spelling(op: Op | Event) -> str:
    """An operator as it stands in the user's code, `w * step`, if it is short; else `… * …` for `mul`, `float()`."""
    inner = op.name.strip("_") if op.name.startswith("__") else op.name
    general = SYMBOLS.get(inner, f"{inner}()")
    is_operator = general.startswith(("…", "x")) and "] =" not in general
    return (operator_at(op.source) if is_operator else "") or general


def maker_text(op: Op | None, tensor: Any) -> str:
    """The op that made a tensor, else the name of its node."""
    return spelling(op) if op is not None else str(tensor.grad_fn.name())


def operator_at(source: Source | None) -> str:
    """The code at a place if it is one operator with its operands, and short; else "". A call that computes inside is none."""
    code = "" if source is None else source.expression
    try:
        statements = parsed(code).body if len(code) <= LONGEST else []
    except SyntaxError:
        return ""
    found = statements[0] if len(statements) == 1 else None
    return code if isinstance(found.value if isinstance(found, ast.Expr) else found, OPERATORS) else ""


def expression_at(source: Source | None) -> ast.expr | None:
    """The code at a place, if it is an expression."""
    return parsed_expression("" if source is None else source.expression)


def tree_of(file: str) -> ast.Module:
    """The syntax tree of a file; an empty one if it is none of Python, as a cell with %magics."""
    try:
        return parsed("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])


def line_of(file: str, statement: ast.stmt) -> Source:
    """The first line of a statement."""
    text = linecache.getlines(file)[statement.lineno - 1].rstrip()
    return Source(file, statement.lineno, statement.lineno, statement.col_offset, len(text), text)


def statement_at(source: Source | None) -> tuple[ast.stmt, list[ast.For]] | None:
    """The smallest statement at a place, and the loops of its function around it, the outermost first."""
    block: list[ast.stmt] = [] if source is None else tree_of(source.file).body
    loops = list[ast.For]()
    while source is not None and (found := next((s for s in block if _holds(s, source)), None)) is not None:
        cases = [found, *getattr(found, "cases", ())]
        inner = [s for part in cases for name in ("body", "orelse", "finalbody", "handlers") for s in getattr(part, name, ())]
        if not inner:
            return found, loops
        loops = [*loops, found] if isinstance(found, ast.For) else [] if isinstance(found, ast.FunctionDef) else loops
        block = inner
    return None


def mentions(source: Source | None, text: str | re.Pattern[str]) -> bool:
    """Does the file of a place have this text? Of what a loop has cleared at its end, nothing else tells."""
    wanted = text if isinstance(text, re.Pattern) else re.compile(re.escape(text))
    return source is not None and any(map(wanted.search, linecache.getlines(source.file)))


def _holds(statement: Any, source: Source) -> bool:
    """Does a statement contain a place? Several may stand in one line."""
    begin, end = (statement.lineno, statement.col_offset), (statement.end_lineno, statement.end_col_offset)
    return begin <= (source.line, source.column) and (source.end_line, source.end_column) <= end


def called_at(source: Source | None) -> str:
    """The name of the function or method whose call is all the code at a place; "" if it is something else."""
    found = expression_at(source)
    called = found.func if isinstance(found, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def place_text(source: Source | None) -> str:
    """`train.py, line 3`, or the number of the cell."""
    if source is None:
        return words.NO_LINE
    if source.file.startswith("<autograd_viz"):
        return words.IN_BACKWARD
    cell, file = _numbers_of_cells().get(source.file), PurePath(source.file).name
    is_unnamed = source.file.startswith("<") or "ipykernel" in source.file or not file
    at = words.AT_LINE_IN_CELL if cell is not None else words.AT_LINE if is_unnamed else words.AT_LINE_OF
    return at.format(line=source.line, file=file, cell=cell)


def linter_text(source: Source | None) -> str:
    """`train.py:3`, as editors know it; of a cell as above; "" for no line."""
    is_file = source is not None and not source.file.startswith("<") and source.file not in _numbers_of_cells()
    if source is not None and is_file and "ipykernel" not in source.file:
        return f"{PurePath(source.file).name}:{source.line}"
    return "" if source is None else place_text(source)


def grads_read(line: Source | None) -> list[ast.expr]:
    """The tensors whose grad is read by the statement of a line, as written: `self.w` in `self.w.grad.norm()`."""
    try:
        tree = parsed("" if line is None else line.text.strip())
    except SyntaxError:  # a part of a statement
        return []
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "grad"]
    return [n.value for n in found if isinstance(n.ctx, ast.Load)]


def _shell() -> Any:
    """The running IPython; None outside of it."""
    ipython: Any = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def has_record() -> bool:
    """Is there a `%%record` here? A notebook has it that has loaded the extension."""
    shell = _shell()
    magic = None if shell is None else shell.find_cell_magic("record")
    return getattr(magic, "__module__", "").startswith(__name__.partition(".")[0])


def _numbers_of_cells() -> Mapping[str, int]:
    """The number in `In [3]` of each cell, by the file name that Python has for the cell. Of several runs, the last counts."""
    found = getattr(getattr(_shell(), "compile", None), "_filename_map", None)
    return found if isinstance(found, Mapping) else {}
