"""Differences, numerical gradients, and integrals by the trapezoidal rule."""

from __future__ import annotations

from typing import Any

from ..base import names as op
from ..op import public
from ..ops.reduce.dims import reduced_dims, tensor_call
from ..tensor import Tensor, check_dim, refuse_if


def _part(x: Tensor, dim: int, start: int, end: int) -> Any:
    """x from `start` to before `end` along `dim`. Negative ones count from the end; 0 as `end` is the end."""
    n = x.shape[dim]
    return op.slice_dim(x, dim=dim, start=start % n if start < 0 else start, end=end if end > 0 else n + end)


def _steps(x: Tensor, dim: int) -> Any:
    """The difference of each element and the one before it."""
    later, earlier = _part(x, dim, 1, 0), _part(x, dim, 0, -1)
    return later != earlier if x.dtype.name == "bool" else later - earlier


@tensor_call("diff")
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Any:
    """The n-th difference along `dim`. Raises RuntimeError: a 0-d tensor, or a negative order."""
    refuse_if(input.ndim == 0, "diff expects input to be at least one-dimensional")
    refuse_if(n < 0, lambda: f"order must be non-negative but got {n}")
    check_dim(dim, input.ndim)
    if n == 0:
        return op.copy_into(op.zeros_like(input.detach()), input)
    parts = [x for x in (prepend, input, append) if x is not None]
    refuse_if(any(x.ndim != input.ndim for x in parts), "diff expects prepend or append to be the same dimension as input")
    x = op.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(min(n, x.shape[dim])):
        x = _steps(x, dim)
    return x


def _positions(y: Tensor, x: Tensor, dim: int) -> Any:
    """The distances between the sample points x, in a shape that broadcasts with y."""
    if x.ndim == 1:
        refuse_if(x.shape[0] != y.shape[dim], "trapezoid: There must be one `x` value for each sample point")
        return _steps(x.view([-1 if d == dim % y.ndim else 1 for d in range(y.ndim)]), dim)
    if x.ndim < y.ndim:
        return _steps(x.view((1,) * (y.ndim - x.ndim) + x.shape), dim)
    return _steps(x, dim)


def _check_samples(y: Tensor, dim: int, words: str) -> None:
    """Refuse a 0-d tensor."""
    refuse_if(y.ndim == 0, lambda: words, IndexError)
    check_dim(dim, y.ndim)


@public("torch.trapezoid", "torch.trapz")
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral of y by the trapezoidal rule, at the points x or with steps of dx."""
    _check_samples(y, dim, f"Dimension specified as {dim} but tensor has no dimensions")
    if y.shape[dim] == 0:
        return op.sum_dim(y, dim=(dim,))
    if x is None:
        ends = y.select(dim, 0) + y.select(dim, -1)
        return op.mul_scalar(op.sum_dim(y, dim=(dim,)) - op.mul_scalar(ends, other=0.5), other=dx)
    widths = _positions(y, x, dim)
    return op.div_scalar(op.sum_dim((_part(y, dim, 0, -1) + _part(y, dim, 1, 0)) * widths, dim=(dim,)), other=2.0)


@public("torch.cumulative_trapezoid")
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral of y up to each point, by the trapezoidal rule."""
    _check_samples(y, dim, "slice() cannot be applied to a 0-dim tensor.")
    if x is None:
        both = _part(y, dim, 0, -1) + _part(y, dim, 1, 0)
        return op.cumsum_dim(op.mul_scalar(both, other=dx / 2.0), dim=dim)
    widths = _positions(y, x, dim)
    return op.div_scalar(op.cumsum_dim((_part(y, dim, 0, -1) + _part(y, dim, 1, 0)) * widths, dim=dim), other=2.0)


@tensor_call("torch.gradient")
def gradient(input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> Any:
    """The slope along each of the dimensions `dim`, from both neighbours; at the edges from one side.

    Raises RuntimeError: too few samples, an edge order that is not 1 or 2, or spacings for other dimensions.
    """
    dims = reduced_dims(input, () if dim is None else dim)
    spacings: list[Any] = (
        list(spacing) if isinstance(spacing, list | tuple) else [1.0 if spacing is None else spacing] * len(dims)
    )
    _check_spacings(input, len(spacings), dim, len(dims), edge_order)
    dims = tuple(d % input.ndim for d in dims)
    if any(input.shape[d] < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    pairs = zip(spacings, dims, strict=True)
    return tuple((_uneven if isinstance(s, Tensor) else _even)(input, s, d, edge_order) for s, d in pairs)


def _check_spacings(input: Tensor, spacings: int, dim: Any, dims: int, edge_order: int) -> None:
    """Refuse an unknown edge order, and another number of spacings than of dimensions."""
    refuse_if(edge_order not in (1, 2), "torch.gradient only supports edge_order=1 and edge_order=2.")
    if spacings != dims:
        wanted = "torch.gradient expected spacing to be unspecified, a scalar"
        if dim is None:
            raise RuntimeError(
                f"{wanted}, or a list of length equal to 'self.dim() = {input.ndim}', since dim argument was not given, but "
                f"got a list of length {spacings}"
            )
        raise RuntimeError(
            f"{wanted} or it's spacing and dim arguments to have the same length, but got a spacing argument of length "
            f"{spacings} and a dim argument of length {dims}."
        )


def _even(f: Tensor, h: float, dim: int, edge_order: int) -> Any:
    """The slope for samples that are `h` apart."""

    def at(start: int, end: int, factor: float = 1) -> Any:
        part = _part(f, dim, start, end)
        return part if factor == 1 else op.mul_scalar(part, other=factor)

    if edge_order == 1:
        first, last = at(1, 2) - at(0, 1), at(-1, 0) - at(-2, -1)
    else:
        first = at(0, 1, -1.5) + at(1, 2, 2) - at(2, 3, 0.5)
        last = at(-3, -2, 0.5) - at(-2, -1, 2) + at(-1, 0, 1.5)
    middle = op.div_scalar(op.div_scalar(at(2, 0) - at(0, -2), other=h), other=2)
    return op.cat([op.div_scalar(first, other=h), middle, op.div_scalar(last, other=h)], dim)


def _uneven(f: Tensor, x: Tensor, dim: int, edge_order: int) -> Any:
    """The slope at points `x`: of the parabola through three neighbours; for `edge_order` 1, of a line at the edges."""
    widths = _steps(x, 0).view(*(-1 if d == dim else 1 for d in range(f.ndim)))
    left, right = _part(widths, dim, 0, -1), _part(widths, dim, 1, 0)

    def parabola(parts: list[Any], factors: list[Any]) -> Any:
        return factors[0] * parts[0] + factors[1] * parts[1] + factors[2] * parts[2]

    middle = parabola(
        [_part(f, dim, 0, -2), _part(f, dim, 1, -1), _part(f, dim, 2, 0)],
        [-right / (left * (left + right)), (right - left) / (left * right), left / (right * (left + right))],
    )
    if edge_order == 1:
        first = (_part(f, dim, 1, 2) - _part(f, dim, 0, 1)) / _part(widths, dim, 0, 1)
        last = (_part(f, dim, -1, 0) - _part(f, dim, -2, -1)) / _part(widths, dim, -1, 0)
        return op.cat([first, middle, last], dim)
    a, b = _part(widths, dim, 0, 1), _part(widths, dim, 1, 2)
    first = parabola(
        [_part(f, dim, 0, 1), _part(f, dim, 1, 2), _part(f, dim, 2, 3)],
        [-(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))],
    )
    a, b = _part(widths, dim, -2, -1), _part(widths, dim, -1, 0)
    last = parabola(
        [_part(f, dim, -3, -2), _part(f, dim, -2, -1), _part(f, dim, -1, 0)],
        [b / (a * (a + b)), -(a + b) / (a * b), (2 * b + a) / (b * (a + b))],
    )
    return op.cat([first, middle, last], dim)
