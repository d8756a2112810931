"""Losses for regression: squared error, absolute error, and mixtures of both.

Every loss has a term per element, followed by `reduction`: 0 keeps the terms, 1 takes their mean, 2 their sum.
"""
# fmt: off

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ...base.names import sign, where
from ...op import composite, inlined, primitive, public, row
from ...tensor import Tensor, check_broadcast, refuse, refuse_if

NONE, MEAN, SUM = range(3)  # the numbers that nodes save


@inlined
def per_term(grad: Any, terms: Any, reduction: int) -> Any:
    """The gradient of each term: grad / n for a mean over n terms, else grad."""
    return grad / numel_of(terms) if reduction == 1 else grad


@composite
def numel_of(input: Any) -> Any:
    """The number of elements."""
    return int(np.prod(input.shape))


def reduced(terms: Any, reduction: int) -> Any:
    """The reduced terms, as arrays."""
    if reduction == NONE:
        return terms
    return np.sum(terms) / terms.dtype.type(terms.size) if reduction == MEAN else np.sum(terms)


mse_loss = row("mse_loss", "MseLossBackward0", "(self - target)**2.",
    lambda self, target, *, reduction=1: reduced(np.square(floating(self, "mse_cpu") - target), reduction), promotes=True)
mse_loss_backward = row("mse_loss_backward", "MseLossBackwardBackward0",
    "grad_output * 2 * (self - target), divided by n for a mean.",
    lambda grad_output, self, target, *, reduction: per_term(grad_output, self, reduction) * (2 * (self - target)),
    written=lambda grad, self, target, reduction: per_term(grad, self, reduction) * (2 * (self - target)),
    grad_output = lambda grad, self, target, reduction:              per_term(grad, self, reduction) * (2 * (self - target)),
    self        = lambda grad, grad_output, self, target, reduction: 2 * per_term(grad * grad_output, self, reduction),
    target      = lambda grad, grad_output, self, target, reduction: -2 * per_term(grad * grad_output, self, reduction))


@primitive("SmoothL1LossBackward0", promotes=True)
def smooth_l1_loss(self, target, *, reduction=1, beta=1.0):
    """Half the squared error over beta where the error is below beta, else the absolute error minus beta/2."""
    z = np.abs(floating(self, "smooth_l1_cpu") - target)
    return reduced(np.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta).astype(z.dtype), reduction)
smooth_l1_loss.defvjp(
    self   = lambda grad, self, target, reduction, beta: per_term(grad, self, reduction) * smooth_l1_slope(self - target, beta),
    target = lambda grad, self, target, reduction, beta: per_term(grad, self, reduction) * smooth_l1_slope(target - self, beta))


@inlined
def smooth_l1_slope(z: Any, beta: float) -> Any:
    """z / beta near 0, else the sign of z."""
    return where(abs(z) < beta, z / beta, sign(z))


@primitive("HuberLossBackward0", promotes=True)
def huber_loss(self, target, *, reduction=1, delta=1.0):
    """Half the squared error where the error is below delta, else delta * (error - delta / 2)."""
    z = np.abs(floating(self, "huber_cpu") - target)
    return reduced(np.where(z < delta, 0.5 * z * z, delta * (z - 0.5 * delta)).astype(z.dtype), reduction)
huber_loss.defvjp(
    self   = lambda grad, self, target, reduction, delta: per_term(grad, self, reduction) * huber_slope(self - target, delta),
    target = lambda grad, self, target, reduction, delta: per_term(grad, self, reduction) * huber_slope(target - self, delta))


@inlined
def huber_slope(z: Any, delta: float) -> Any:
    """z near 0, else delta times the sign of z."""
    return where(abs(z) < delta, z, delta * sign(z))


# fmt: on
def floating(array: Any, kernel: str) -> Any:
    """The array, if its type has gradients."""
    refuse(array, "iub", kernel)
    return array


def reduction_number(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """0, 1 or 2 for "none", "mean" or "sum". The two old flags win if given."""
    if size_average is not None or reduce is not None:
        reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
        text = f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead."
        warnings.warn(text, UserWarning, stacklevel=3)
    refuse_if(reduction not in ("none", "mean", "sum"), lambda: f"{reduction} is not a valid value for reduction", ValueError)
    return ("none", "mean", "sum").index(reduction)


def loss(name: str, between: str = "") -> Callable[[Any], Any]:
    """Publish a loss as nn.functional's `name`. Callers give `reduction` as a word, or the flags `size_average` and `reduce`.

    The function itself takes `reduction` as a number, or has no such parameter and returns the terms. `between` is the option
    that PyTorch has between the two flags.
    """
    return lambda function: public(f"nn.functional.{name}")(as_called(function, between))


def as_called(function: Any, between: str) -> Any:
    """The loss with its public signature: `reduction` as a word, and the two flags."""
    own = inspect.signature(function)
    parameters, names, kind = [*own.parameters.values()], [*own.parameters], inspect.Parameter.POSITIONAL_OR_KEYWORD
    average, reduce = (inspect.Parameter(n, kind, default=None, annotation="bool | None") for n in ("size_average", "reduce"))
    word = inspect.Parameter("reduction", kind, default="mean", annotation="str")
    takes_number = "reduction" in names
    at = names.index("reduction") if takes_number else len(names)  # the flags and the word stand there
    first = names.index(between) if between else at
    seen = own.replace(parameters=[*parameters[:first], average, *parameters[first:at], reduce, word, *parameters[at + 1 :]])
    names = [*seen.parameters]

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if len(args) > first:  # positional flags
            given = dict(zip(names, args, strict=False), **options)
            if len(given) < len(args) + len(options):
                raise misfit(function.__name__, seen, args, options)
            args, options = (), given
        old = options.pop("size_average", None), options.pop("reduce", None)
        number = reduction_number(options.pop("reduction", "mean"), *old)
        if takes_number:
            return function(*args, **options, reduction=number)
        return reduce_terms(function(*args, **options), number)

    call.__signature__ = seen  # type: ignore[attr-defined]
    return call


def misfit(function: str, seen: inspect.Signature, args: tuple[Any, ...], options: dict[str, Any]) -> TypeError:
    """Python's error for too many arguments, or for one given twice."""
    names = [*seen.parameters]
    if len(args) > len(names):
        needed = sum(p.default is p.empty for p in seen.parameters.values())
        return TypeError(f"{function}() takes from {needed} to {len(names)} positional arguments but {len(args)} were given")
    twice = next(n for n in names[: len(args)] if n in options)
    return TypeError(f"{function}() got multiple values for argument {twice!r}")


def reduce_terms(terms: Tensor, reduction: int) -> Tensor:
    """The reduced terms, as tensors: the mean or the sum is recorded."""
    return terms if reduction == NONE else terms.mean() if reduction == MEAN else terms.sum()


def same_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in their common shape, with a warning if their shapes differ."""
    if input.shape == target.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely lead "
        "to incorrect results due to broadcasting. Please ensure they have the same size.",
        UserWarning,
        stacklevel=4,
    )
    check_broadcast(input, target)
    size = np.broadcast_shapes(input.shape, target.shape)
    return tuple(t if t.shape == size else t.expand(size) for t in (input, target))  # type: ignore[return-value]


def weighted(terms: Tensor, weight: Tensor, input: Tensor) -> Tensor:
    """The terms times their weights. There is one weight per element of the input."""
    refuse_if(weight.shape != input.shape, "Weights and input must have the same size.", ValueError)
    return terms * weight


def weighted_mean(terms: Tensor, weight: Tensor, input: Tensor, reduction: int) -> Tensor:
    """The weighted terms, reduced. A mean is divided by the sum of the weights."""
    terms = weighted(terms, weight, input)
    return terms.sum() / weight.sum() if reduction == MEAN else reduce_terms(terms, reduction)


@loss("mse_loss")
def mse_loss_of(input: Tensor, target: Tensor, reduction: int, weight: Tensor | None = None) -> Any:
    """Mean squared error."""
    expanded, aim = same_shape(input, target)
    if weight is None:
        return mse_loss(expanded, aim, reduction=reduction)
    return weighted_mean((expanded - aim) ** 2, weight, input, reduction)


@loss("l1_loss")
def l1_loss(input: Tensor, target: Tensor, reduction: int, weight: Tensor | None = None) -> Any:
    """Mean absolute error."""
    expanded, aim = same_shape(input, target)
    if weight is None:
        return reduce_terms((expanded - aim).abs(), reduction)
    return weighted_mean((expanded - aim).abs(), weight, input, reduction)


@loss("smooth_l1_loss")
def smooth_l1_loss_of(input: Tensor, target: Tensor, reduction: int, beta: float = 1.0) -> Any:
    """Squared error near the target, absolute error farther away. Raises RuntimeError: beta is negative."""
    expanded, aim = same_shape(input, target)
    refuse_if(beta < 0, "smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return reduce_terms((expanded - aim).abs(), reduction)
    return smooth_l1_loss(expanded, aim, reduction=reduction, beta=beta)


@public("nn.functional.huber_loss")
def huber_loss_of(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Any:
    """Squared error near the target, linear with slope `delta` farther away. Raises RuntimeError: delta is not positive."""
    expanded, aim = same_shape(input, target)
    number = reduction_number(reduction)
    refuse_if(delta <= 0, "huber_loss does not support non-positive values for delta.")
    if weight is None:
        return huber_loss(expanded, aim, reduction=number, delta=delta)
    return reduce_terms(weighted(huber_loss(expanded, aim, reduction=NONE, delta=delta), weight, input), number)
