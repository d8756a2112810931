"""An einsum equation, parsed: the name of each dimension of each operand, and of the result."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

from ...tensor import Tensor, refuse_if
from ..shape.shape import permute_dims

Names = list[str]  # one per dimension; "..." becomes "...0", "...1" and so on


def read_equation(equation: str, ndims: Sequence[int]) -> tuple[list[Names], Names, Names]:
    """The names of each operand's dimensions, those of the result, and those to be summed."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(ndims):
        fewer = "fewer" if len(parts) > len(ndims) else "more"
        raise RuntimeError(f"einsum(): {fewer} operands were provided than specified in the equation")
    widest = 0
    for k, (part, ndim) in enumerate(zip(parts, ndims, strict=True)):
        _check_letters(part, equation, f" for operand {k} that is not part of any ellipsis")
        named, dots = len(part.replace("...", "")), "..." in part
        if named > ndim or (named < ndim and not dots):
            more = "is larger than" if dots else "does not match"
            ending = "" if dots else " and no ellipsis was given"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) {more} the number of dimensions ({ndim}) "
                f"for operand {k}{ending}"
            )
        widest = max(widest, ndim - named)
    inputs = [_names(part, ndim - len(part.replace("...", "")), widest) for part, ndim in zip(parts, ndims, strict=True)]
    if arrow:
        output = _names(right, widest, widest)
    else:  # the dimensions of "...", then the letters that occur once, in alphabetical order
        letters = left.replace("...", "").replace(",", "")
        output = _names("...", widest, widest) + sorted(c for c in set(letters) if letters.count(c) == 1)
    _check_output(output, inputs, right, equation)
    known = {n for names in inputs for n in names}
    return inputs, output, sorted(known - set(output))


def _names(part: str, covered: int, widest: int) -> Names:
    """One name per dimension. "..." stands for `covered` of them, aligned at the end."""
    before, dots, after = part.partition("...")
    return [*before, *(f"...{i:02}" for i in range(widest - covered, widest) if dots), *after]


def _check_letters(part: str, equation: str, where: str) -> None:
    rest = part.replace("...", "", 1)
    refuse_if("." in rest, lambda: f"einsum(): found '.'{where}")
    for c in rest:
        if c not in string.ascii_letters:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {equation.index(c)} in the equation string, subscripts must "
                "be in [a-zA-Z]"
            )


def _check_output(output: Names, inputs: list[Names], right: str, equation: str) -> None:
    where = " for the output but an ellipsis (...) was already found" if "..." in right else " in the output"
    _check_letters(right, equation, where)
    for name in output:
        if output.count(name) > 1:
            raise RuntimeError(f"einsum(): output subscript {name} appears more than once in the output")
        if not any(name in names for names in inputs):
            raise RuntimeError(f"einsum(): output subscript {name} does not appear in the equation for any input operand")


def spread(operands: Sequence[Tensor], inputs: list[Names], order: Names) -> list[Any]:
    """Each operand with a dimension for each name, in `order`. A repeated name takes the diagonal."""
    lengths: dict[str, int] = {}
    out = []
    for k, (operand, given) in enumerate(zip(operands, inputs, strict=True)):
        x, names = _diagonals(operand, given, k)
        for name, n in zip(names, x.shape, strict=True):
            seen = lengths.setdefault(name, n)
            if seen not in (1, n) and n != 1:
                raise RuntimeError(
                    f"einsum(): subscript {name} has size {n} for operand {k} which does not broadcast with previously "
                    f"seen size {seen}"
                )
            lengths[name] = max(seen, n)
        missing = [n for n in order if n not in names]
        for _ in missing:
            x = x.unsqueeze(x.ndim)
        known = [*names, *missing]
        out.append(permute_dims(x, dims=tuple(known.index(n) for n in order)))
    return out


def _diagonals(x: Tensor, names: Names, k: int) -> tuple[Any, Names]:
    """The operand with each name once: "ii" takes the diagonal."""
    j = 0
    names = list(names)
    while j < len(names):
        i = names.index(names[j])
        if i < j:
            if x.shape[i] != x.shape[j]:
                raise RuntimeError(
                    f"einsum(): subscript {names[j]} is repeated for operand {k} but the sizes don't match, {x.shape[j]} != "
                    f"{x.shape[i]}"
                )
            x = x.diagonal(0, i, j)
            x = permute_dims(x, dims=(*range(i), x.ndim - 1, *range(i, x.ndim - 1)))
            del names[j]
        else:
            j += 1
    return x, names
