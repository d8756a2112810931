"""Gradient clipping, and parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.base import events
from ...core.ops.shape.joining import cat
from ...core.tensor import Tensor, refuse_if


def _with_gradients(parameters: Tensor | Iterable[Tensor]) -> list[Any]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p for p in given if p.grad is not None]


@np.errstate(all="ignore")
def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of the tensors' norms. Raises RuntimeError: it is not finite, and `error_if_nonfinite`."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return Tensor(np.array(0.0, np.float32))
    order = float(norm_type)
    norms = np.array([np.linalg.norm(t._data.reshape(-1), order) for t in given], given[0]._data.dtype)
    total = np.asarray(np.linalg.norm(norms, order), norms.dtype)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. To "
            "disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return Tensor(total)


@np.errstate(all="ignore")
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients by max_norm / total_norm, if that is less than 1."""
    factor = min(float(max_norm) / (float(total_norm) + 1e-6), 1.0)
    events.clipping(factor)
    for p in _with_gradients(parameters):
        p.grad._data *= p.grad._data.dtype.type(factor)
        p.grad._bump_version()


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale all gradients together so that their norm is at most `max_norm`. Returns the norm before.

    `norm_type` is the p of the norm; inf is the largest absolute value. Raises RuntimeError: it is not finite, and
    `error_if_nonfinite`.
    """
    chosen = _with_gradients([parameters] if isinstance(parameters, Tensor) else parameters)
    total = get_total_norm([p.grad for p in chosen], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(chosen, max_norm, total)
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each element of each gradient to [-clip_value, clip_value]."""
    for p in _with_gradients(parameters):
        np.clip(p.grad._data, -float(clip_value), float(clip_value), out=p.grad._data)
        p.grad._bump_version()


def parameters_to_vector(parameters: Iterable[Tensor]) -> Any:
    """All parameters, flattened and concatenated."""
    return cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Split a vector into the values of the parameters. Raises TypeError: not a tensor."""
    refuse_if(not isinstance(vec, Tensor), lambda: f"expected torch.Tensor, but got: {type(vec).__name__}", TypeError)
    place = 0
    for p in parameters:
        p.data = Tensor(vec._data[place : place + p.numel()].reshape(p.shape))
        place += p.numel()
