"""Methods of Tensor that have the program of an op in them: `a @ b` of two matrices, `a.mean()`. It saves a frame."""

from __future__ import annotations

from functools import update_wrapper
from typing import Any

from ..base.programs import compiled
from ..tensor.tensor import Tensor
from .call import call_source
from .table import Table


def put_inside(p: Any, function: Any, method: str, test: str) -> None:
    """Put the op's program inside a method of Tensor, unless somebody has replaced the method."""
    if Tensor.__dict__[method] is function:
        names = {**p.program.__globals__, "otherwise": function}
        program = compiled(p.forward, function.__name__, inside_source(p, function.__name__, test), names)
        setattr(Tensor, method, update_wrapper(program, function))


def inside_source(p: Table, name: str, test: str) -> list[str]:
    """The program of a function that runs the op if its arguments pass `test`, and `otherwise` if not."""
    lines = [f"def {name}(*args, **options):"]
    lines += [f"    if options or len(args) != {len(p.inputs)}: return otherwise(*args, **options)"]
    lines += [f"    {', '.join(p.inputs)}, = args", f"    if not ({test}): return otherwise(*args)"]
    return [*lines, *(f"    {n} = default_{n}" for n in p.options), *call_source(p)[1:]]
