"""What must hold inside one value of a file, beyond the types of its fields. Example: a shape fits its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .limits import DEPTH, SIZE
from .model import REASONS, Op, Summary, Tensor, Value
from .surroundings import MARKS, Call, Module
from .trace import Jacobian, Step


def _value(v: Value) -> str:
    count = math.prod(v.shape)
    if count > SIZE:
        return f"no tensor has {v.shape} elements"
    if v.numbers and len(v.numbers) != count:
        return f"{len(v.numbers):,} numbers do not fit the shape {v.shape}"
    return ""


def _summary(s: Summary) -> str:
    if len(s.thumbnail) != s.rows * s.columns:
        return f"{len(s.thumbnail):,} numbers do not fit a thumbnail of {s.rows} x {s.columns}"
    return ""


def _tensor(t: Tensor) -> str:
    return f"a name with more than {DEPTH} dots" if t.name is not None and t.name.count(".") > DEPTH else ""


def _op(o: Op) -> str:
    if o.module.count(".") >= DEPTH:
        return f"a module {DEPTH} deep and more"
    return "" if o.reason in ("", *REASONS) else f"a reason other than {', '.join(REASONS)}"


def _module(m: Module) -> str:
    if m.path.count(".") >= DEPTH:
        return f"a module {DEPTH} deep and more"
    return "" if set(m.marks) <= set(MARKS) else f"a module has marks other than {', '.join(MARKS)}"


def _call(c: Call) -> str:
    return f"a module {DEPTH} deep and more" if c.module.count(".") >= DEPTH else ""


def _jacobian(j: Jacobian) -> str:
    return "" if len(j.value.shape) == 2 else f"a Jacobian is a matrix, got the shape {j.value.shape}"


def _step(s: Step) -> str:
    if any(i >= len(s.grad_outputs) for i in s.edited):
        return f"it edits {max(s.edited)}, and has {len(s.grad_outputs)} grad_outputs"
    return ""


CHECKS: dict[type, Callable[[Any], str]] = {
    Value: _value, Summary: _summary, Tensor: _tensor, Op: _op, Module: _module, Call: _call, Jacobian: _jacobian, Step: _step,
}  # fmt: skip
