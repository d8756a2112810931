"""Sums of products over chosen dimensions: einsum and its special cases. All end in mm or bmm."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

from ...base.public import public
from ...tensor import Tensor, check_dim, of_tensors, refuse_if
from ..elementwise.arithmetic import mul
from ..reduce.reduction import sum_all, sum_dim
from ..shape.shape import permute_dims, squeeze_all
from .matmul import bmm, dot, mm
from .matrix_products import vdot


@public("linalg.vecdot")
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Any:
    """The dot products of the vectors along `dim`."""
    if x.ndim == 1 and y.ndim == 1:
        return vdot(x, y)
    return sum_dim(mul(x.conj() if x.dtype.is_complex else x, y), dim=(check_dim(dim, max(x.ndim, y.ndim)),))


@public
@of_tensors
def inner(input: Tensor, other: Tensor) -> Any:
    """The sum of products over the last dimension of both. Raises RuntimeError: the lengths differ."""
    if 0 in (input.ndim, other.ndim):
        return mul(input, other)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return tensordot(input, other, dims=([-1], [-1]))


@public("torch.tensordot")
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Any:
    """The sum of products over pairs of dimensions: the last `dims` of `a` with the first of `b`, or two lists of them.

    Raises RuntimeError: the paired dimensions do not fit.
    """
    refuse_if(a.dtype is not b.dtype, "both inputs should have same dtype")
    first, second = _paired(a, b, dims)
    for d1, d2 in zip(first, second, strict=True):
        if b.shape[d2] == 1 and a.shape[d1] >= 1:
            a = sum_dim(a, dim=(d1,), keepdim=True)
        elif a.shape[d1] == 1:
            b = sum_dim(b, dim=(d2,), keepdim=True)
        elif a.shape[d1] != b.shape[d2]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[d1]} in dim {d1} and second has size "
                f"{b.shape[d2]} in dim {d2}"
            )
    return _contracted(a, b, [d % a.ndim for d in first], [d % b.ndim for d in second])


def _contracted(a: Tensor, b: Tensor, first: list[int], second: list[int]) -> Any:
    """The contraction as a product of two matrices. The contracted dimensions are the inner dimension."""
    free_a = [d for d in range(a.ndim) if d not in first]
    free_b = [d for d in range(b.ndim) if d not in second]
    summed = math.prod(a.shape[d] for d in first)
    left, right = permute_dims(a, dims=(*free_a, *first)), permute_dims(b, dims=(*second, *free_b))
    shape = [a.shape[d] for d in free_a] + [b.shape[d] for d in free_b]
    rows, columns = math.prod(a.shape[d] for d in free_a), math.prod(b.shape[d] for d in free_b)
    if rows == columns == 1:  # the sum of all products: a dot product if the memory of both is contiguous
        if left._data.flags.c_contiguous and right._data.flags.c_contiguous:
            return dot(*(x if x.ndim == 1 else x.view(-1) for x in (left, right))).reshape(shape)
        return sum_all(mul(squeeze_all(left), squeeze_all(right))).reshape(shape)
    return mm(left.reshape(rows, summed), right.reshape(summed, columns)).reshape(shape)


def _paired(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    """The dimensions to contract, of each tensor."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        refuse_if(dims < 0, lambda: f"tensordot expects dims >= 0, but got dims={dims}")
        refuse_if(dims > min(a.ndim, b.ndim), lambda: f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(-dims, 0)), list(range(dims))
    first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    refuse_if(len(first) != len(second), "both dimension lists should have same length")
    return first, second


@public("linalg.multi_dot")
def multi_dot(tensors: Sequence[Tensor]) -> Any:
    """The product of matrices (first and last may be vectors) in the cheapest order. Raises RuntimeError: they do not fit."""
    matrices = list(tensors)
    n = len(matrices)
    refuse_if(n < 2, lambda: f"multi_dot(): expected at least 2 tensors but got {n}")
    shape: list[int] = []
    for i, name in ((0, "first"), (-1, "last")):
        if matrices[i].ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {name} tensor must be 1D or 2D but got {matrices[i].ndim}D")
        if matrices[i].ndim == 1:
            matrices[i] = matrices[i].unsqueeze(i)
        else:
            shape.append(matrices[i].shape[i])
    for i in range(1, n - 1):
        if matrices[i].ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {matrices[i].ndim}D")
    for i in range(n - 1):
        if matrices[i].shape[1] != matrices[i + 1].shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(tensors[i].shape)} and "
                f"{list(tensors[i + 1].shape)} cannot be multiplied"
            )
    return _chain(matrices).view(shape)


def _chain(matrices: list[Tensor]) -> Any:
    """The product in the cheapest order (Cormen et al., Introduction to Algorithms, ch. 15.2)."""
    sizes = [m.shape[0] for m in matrices] + [matrices[-1].shape[1]]
    n = len(matrices)
    best = {(i, i): (0, i) for i in range(n)}  # for the product from i to j: its cost, and where it is split
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            best[i, j] = min(
                (best[i, k][0] + best[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k if n > 3 else -k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Any:
        k = abs(best[i, j][1])
        return matrices[i] if i == j else mm(product(i, k), product(k + 1, j))

    return product(0, n - 1)


@public("torch.einsum")
def einsum(equation: Any, *operands: Any) -> Any:
    """Sums of products by the names of dimensions: "ij,jk->ik" is the product of two matrices.

    Each operand gets all named dimensions, those of the result first; missing ones have length 1. Then the operands are
    multiplied two at a time. A dimension is summed when no later one has it. Raises RuntimeError: the equation does not fit.
    """
    if isinstance(equation, Tensor):
        equation, operands = _from_lists((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    inputs, output, rest = read_equation(equation, [x.ndim for x in operands])
    spreads = spread(operands, inputs, [*output, *rest])
    summed = range(len(output), len(output) + len(rest))
    having = {d: sum(x.shape[d] != 1 for x in spreads) for d in summed}
    result = spreads[0]
    for other in spreads[1:]:
        result = _step(result, other, having)
    if not rest:
        return result
    if len(operands) == 1:
        return sum_dim(result, dim=tuple(summed))
    return result.reshape(result.shape[: len(output)])


def _from_lists(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """einsum(a, [0, 1], b, [1, 2], [0, 2]) as an equation."""

    def letters(numbers: Any) -> str:
        return "".join("..." if n is Ellipsis else chr(ord("A") + n if n < 26 else ord("a") + n - 26) for n in numbers)

    operands, lists = given[: len(given) // 2 * 2 : 2], given[1::2]
    result = f"->{letters(given[-1])}" if len(given) % 2 else ""
    return ",".join(map(letters, lists)) + result, operands


def _step(a: Tensor, b: Tensor, having: dict[int, int]) -> Any:
    """Multiply two operands, and sum the dimensions that no other operand has.

    `having` counts, for each dimension to be summed, the operands in which it is longer than 1.
    """
    both: list[int] = []
    only_a: list[int] = []
    only_b: list[int] = []
    for d, count in having.items():
        in_a, in_b = a.shape[d] != 1, b.shape[d] != 1
        if in_a and in_b:
            having[d] = count - 1
            if count == 2:
                both.append(d)
        elif count == 1 and (in_a or in_b):
            (only_a if in_a else only_b).append(d)
    for d in (*both, *only_a, *only_b):
        having[d] = 0
    a = sum_dim(a, dim=tuple(only_a), keepdim=True) if only_a else a
    b = sum_dim(b, dim=tuple(only_b), keepdim=True) if only_b else b
    return _by_bmm(a, b, both) if both else mul(a, b)


def _by_bmm(a: Tensor, b: Tensor, summed: list[int]) -> Any:
    """Product and sum as a batch of matrix products. The batch is what both have, rows only `a`, columns only `b`."""
    shared = [d for d in range(a.ndim) if d not in summed and a.shape[d] != 1 and b.shape[d] != 1]
    rows = [d for d in range(a.ndim) if d not in (*summed, *shared) and a.shape[d] != 1]
    columns = [d for d in range(a.ndim) if d not in (*summed, *shared, *rows)]
    batch, n, k, m = (math.prod(x.shape[d] for d in ds) for x, ds in ((a, shared), (a, rows), (a, summed), (b, columns)))
    left = permute_dims(a, dims=(*shared, *rows, *summed, *columns)).reshape(batch, n, k)
    right = permute_dims(b, dims=(*shared, *summed, *columns, *rows)).reshape(batch, k, m)
    sizes = [a.shape[d] for d in (*shared, *rows)] + [1] * len(summed) + [b.shape[d] for d in columns]
    order = [*shared, *rows, *summed, *columns]
    return permute_dims(bmm(left, right).view(tuple(sizes)), dims=tuple(order.index(d) for d in range(a.ndim)))


# -- an equation, parsed: the name of each dimension of each operand, and of the result ----------------------------------------

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
