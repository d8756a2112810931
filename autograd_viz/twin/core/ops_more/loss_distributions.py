"""Losses between distributions: Kullback-Leibler, Poisson, Gaussian. Each consists of several recorded ops."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..base.public import public
from ..ops.elementwise.arithmetic import add_scalar, mul_scalar
from ..ops.loss.loss import loss, reduce_terms, reduction_number
from ..tensor.tensor import Tensor

KL_WARNING = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the "
    "batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the "
    "next major release."
)


@public("nn.functional.kl_div")
def kl_div(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:  # fmt: skip
    """target * (log(target) - input). `input` is a log-probability, `target` a probability or its logarithm."""
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(KL_WARNING, UserWarning, stacklevel=2)
    number = reduction_number("sum" if reduction == "batchmean" else reduction, size_average, reduce)
    terms = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    total = reduce_terms(terms, number)
    return total / input.shape[0] if reduction == "batchmean" and input.ndim else total


@loss("poisson_nll_loss", between="eps")
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, eps: float = 1e-8) -> Any:
    """The negative log-likelihood of counts `target` at rate `input` or exp(input). `full` adds Stirling's log(target!)."""
    terms = input.exp() - target * input if log_input else input - target * add_scalar(input, other=eps).log()
    if full:
        half_log = mul_scalar(mul_scalar(target, other=2 * math.pi).log(), other=0.5)
        terms = terms + (target * target.log() - target + half_log).masked_fill(target <= 1, 0)
    return terms


@public("nn.functional.gaussian_nll_loss")
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """The negative log-likelihood of `target` under a normal distribution with mean `input` and variance `var`.

    Raises:
        ValueError: a variance is negative or of another size.
    """
    negative = var < 0 if isinstance(var, float | int) else bool((var.detach() < 0).any())
    if negative:
        raise ValueError("var has negative entry/entries")
    if isinstance(var, float | int):
        var = Tensor(np.full_like(input._data, var))
    var = fitting_variance(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    var = var.clone()
    np.maximum(var._data, eps, out=var._data)  # not recorded: the gradient is that of the given variance
    var._bump_version()
    terms = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        terms = terms + 0.5 * math.log(2 * math.pi)
    return reduce_terms(terms, reduction_number(reduction))


def fitting_variance(input: Tensor, var: Tensor) -> Tensor:
    """The variance in a shape that broadcasts with the input. At most one dimension may differ.

    Raises:
        ValueError: it has another size.
    """
    if var.shape == input.shape:
        return var
    if var.shape == input.shape[:-1]:
        return var.unsqueeze(-1)
    differing = [v for n, v in zip(input.shape, var.shape, strict=False) if n != v]
    if input.ndim != var.ndim or differing != [1]:
        raise ValueError("var is of incorrect size")
    return var
