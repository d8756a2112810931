"""Derivatives of functions: jacobian, hessian and products with them, by the names of torch.autograd.functional."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backward.backward import grad
from ..core.base.grad_mode import enable_grad
from ..core.ops.shape.joining import stack
from ..core.tensor.tensor import Tensor
from .given_function import Tensors, called, check_single, check_tracked, finished, gradients, prepared, vector

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(outputs, vᵀJ), as backward computes it.

    Args:
        func: a function from tensors to tensors.
        inputs: one tensor or several.
        v: in the shape of the outputs; optional for a single element.
        create_graph: make the result differentiable.
        strict: raise if an output does not depend on an input, instead of returning zeros.

    Raises:
        RuntimeError: no `v`, and the output is not a single element.
    """
    with enable_grad():
        xs, one_input = prepared(inputs, create_graph, "inputs", "vjp")
        ys, one_output = called(func, xs, "vjp")
        if strict:
            check_tracked(ys, "outputs")
        vs = vector(v, ys, one_output, create_graph, "vjp") if v is not None else None
        if vs is None and (len(ys) != 1 or ys[0].numel() != 1):
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
            )
    with enable_grad() if create_graph else contextlib.nullcontext():
        found = gradients(ys, xs, vs, create_graph, strict)
    return finished(ys, one_output, create_graph), finished(found, one_input, create_graph)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(outputs, Jv). It differentiates vᵀJ with respect to v (the double-backward trick).

    Raises:
        RuntimeError: no `v`, and the input is not a single element.
    """
    with enable_grad():
        xs, one_input = prepared(inputs, create_graph, "inputs", "jvp")
        vs = vector(v, xs, one_input, create_graph, "jvp") if v is not None else None
        if vs is None and (len(xs) != 1 or xs[0].numel() != 1):
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
                "element."
            )
        ys, one_output = called(func, xs, "jvp")
        if strict:
            check_tracked(ys, "outputs")
        u = tuple(Tensor(np.zeros_like(y._data)).requires_grad_() for y in ys)
        back = gradients(ys, xs, u, True, strict, final=False)
        if strict:
            check_tracked(back, "grad_inputs")
        vs = vs or tuple(Tensor(np.ones_like(x._data)) for x in xs)
    with enable_grad() if create_graph else contextlib.nullcontext():
        found = gradients(back, u, vs, create_graph, strict, "back_trick")
    return finished(ys, one_output, create_graph), finished(found, one_output, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The matrix of all partial derivatives. Each row is one vᵀJ.

    Args:
        func: a function from tensors to tensors.
        inputs: one tensor or several.
        create_graph: make the result differentiable.
        strict: raise if an output does not depend on an input, instead of returning zeros.
        vectorize: has no effect; rows are computed one after the other.
        strategy: "reverse-mode"; forward mode is missing.

    Returns:
        A tensor of shape (*output, *input), or tuples of them for several outputs or inputs.

    Raises:
        AssertionError: an unknown strategy.
        NotImplementedError: forward mode.
        RuntimeError: `strict` together with `vectorize`.
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
            "set `strict=False` or `vectorize=False`."
        )
    if strategy != "reverse-mode":
        raise NotImplementedError("autograd_viz has no forward-mode AD; use strategy='reverse-mode'")
    with enable_grad():
        xs, one_input = prepared(inputs, create_graph, "inputs", "jacobian")
        ys, one_output = called(func, xs, "jacobian")
        if strict:
            check_tracked(ys, "outputs")
        found = tuple(_jacobian_of(y, xs, i, create_graph, strict) for i, y in enumerate(ys))
    rows = tuple(finished(row, one_input, create_graph) for row in found)
    return rows[0] if one_output else rows


def _jacobian_of(y: Tensor, xs: Tensors, index: int, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobians of one output with respect to all inputs."""
    rows: list[list[Tensor]] = [[] for _ in xs]
    flat = y.reshape(-1)
    for j in range(y.numel()):
        found = (
            grad(flat[j], xs, retain_graph=True, create_graph=create_graph, allow_unused=True)
            if flat.requires_grad
            else (None,) * len(xs)
        )
        for i, (g, x) in enumerate(zip(found, xs, strict=True)):
            if g is None and strict:
                raise RuntimeError(
                    f"Output {index} of the user-provided function is independent of input {i}. This is not allowed in strict "
                    "mode."
                )
            if strict and create_graph and g is not None and not g.requires_grad:
                raise RuntimeError(
                    "The jacobian of the user-provided function is independent of input "
                    f"{i}. This is not allowed in strict mode when create_graph=True."
                )
            rows[i].append(g if g is not None else Tensor(np.zeros_like(x._data)))
    return tuple(
        stack(r).reshape((*y.shape, *x.shape)) if r else Tensor(np.zeros((*y.shape, *x.shape), y._data.dtype))
        for r, x in zip(rows, xs, strict=True)
    )


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The matrix of second derivatives of a function that returns one number."""
    _, one_input = prepared(inputs, create_graph, "inputs", "hessian")

    def gradient(*xs: Tensor) -> Any:
        ys, one_output = called(func, xs, "hessian")
        check_single(ys, one_output, "hessian", strict)
        found = gradients((ys[0].reshape(()),), xs, None, True, strict=False)
        if strict:
            check_tracked(found, "jacobian")
        return found[0] if one_input else found

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(value, vᵀH)."""
    return _hessian_product(func, inputs, v, create_graph, strict, "vhp")


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(value, Hv). H is symmetric, so it computes vᵀH."""
    return _hessian_product(func, inputs, v, create_graph, strict, "hvp")


def _hessian_product(func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool, name: str) -> Any:
    with enable_grad():
        xs, one_input = prepared(inputs, create_graph, "inputs", name)
        vs = vector(v, xs, one_input, create_graph, name) if v is not None else None
        if vs is None and (len(xs) != 1 or xs[0].numel() != 1):
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
                "element."
            )
        ys, one_output = called(func, xs, name)
        check_single(ys, one_output, name, strict)
        first = gradients(ys, xs, None, True, strict, final=False)
        if strict:
            check_tracked(first, "jacobian")
    with enable_grad() if create_graph else contextlib.nullcontext():
        found = gradients(first, xs, vs, create_graph, strict, "double_back")
    return finished(ys, one_output, create_graph), finished(found, one_input, create_graph)
