"""Runs the cells of a program. A notebook may await: then all its cells run inside of one event loop, as in Jupyter."""

from __future__ import annotations

import ast
import asyncio
import inspect
from typing import Any

from .runnable import Program

AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def run_cells(program: Program, namespace: dict[str, Any]) -> None:
    """Run each cell in the namespace."""
    if not (program.is_notebook and any(_awaits(text) for _, text in program.cells)):
        for name, text in program.cells:
            exec(compile(text, name, "exec", dont_inherit=True), namespace)
        return
    with asyncio.Runner() as runner:  # it cancels at its end what still runs; its own `run` would take Ctrl-C
        error = runner.get_loop().run_until_complete(_awaited(program, namespace))
    if error is not None:
        raise error


def _awaits(text: str) -> bool:
    try:
        code = compile(text, "", "exec", AWAITS, dont_inherit=True)
    except SyntaxError:
        return False
    return bool(code.co_flags & inspect.CO_COROUTINE)


async def _awaited(program: Program, namespace: dict[str, Any]) -> BaseException | None:
    """Run them. An error is returned, so that its traceback has no lines of the event loop."""
    try:
        for name, text in program.cells:
            result = eval(compile(text, name, "exec", AWAITS, dont_inherit=True), namespace)
            if inspect.iscoroutine(result):
                await result
    except BaseException as error:
        return error
    return None
