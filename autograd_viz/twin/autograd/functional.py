"""Derivatives of functions: jacobian, hessian and products with them, by the names of torch.autograd.functional."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backward.backward import grad
from ..core.base.grad_mode import enable_grad
from ..core.ops.shape.joining import stack
from ..core.tensor import Tensor, refuse_if

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = tuple[Tensor, ...]


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(outputs, vᵀJ), as backward computes it.

    `inputs` are one tensor or several, `v` has the shape of the outputs. With `create_graph` the result is differentiable. With
    `strict`, an output that does not depend on an input is an error, else zeros.
    Raises RuntimeError: no `v`, and the output is not a single element.
    """
    with enable_grad():
        xs, one_input = _prepared(inputs, create_graph, "vjp")
        ys, one_output = _called(func, xs, "vjp", strict)
        vs = _vector(v, ys, one_output, create_graph, "vjp", "user-provided function returns")
    with enable_grad() if create_graph else contextlib.nullcontext():
        found = _gradients(ys, xs, vs, create_graph, strict)
    return _finished(ys, one_output, create_graph), _finished(found, one_input, create_graph)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """(outputs, Jv). It differentiates vᵀJ with respect to v (the double-backward trick). Arguments as of `vjp`.

    Raises RuntimeError: no `v`, and the input is not a single element.
    """
    with enable_grad():
        xs, one_input = _prepared(inputs, create_graph, "jvp")
        vs = _vector(v, xs, one_input, create_graph, "jvp")
        ys, one_output = _called(func, xs, "jvp", strict)
        u = tuple(Tensor(np.zeros_like(y._data)).requires_grad_() for y in ys)
        back = _gradients(ys, xs, u, True, strict, final=False)
        _check_tracked(back, "grad_inputs", strict)
        vs = vs or tuple(Tensor(np.ones_like(x._data)) for x in xs)
    with enable_grad() if create_graph else contextlib.nullcontext():
        found = _gradients(back, u, vs, create_graph, strict, "back_trick")
    return _finished(ys, one_output, create_graph), _finished(found, one_output, create_graph)


def jacobian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The matrix of all partial derivatives. Each row is one vᵀJ, computed after the other. Arguments as of `vjp`.

    It is a tensor of shape (*output, *input), or tuples of them for several outputs or inputs. `vectorize` has no effect.

    Raises AssertionError: an unknown strategy. Raises NotImplementedError: forward mode. Raises RuntimeError: `strict` together
    with `vectorize`.
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
        xs, one_input = _prepared(inputs, create_graph, "jacobian")
        ys, one_output = _called(func, xs, "jacobian", strict)
        found = tuple(_jacobian_of(y, xs, i, create_graph, strict) for i, y in enumerate(ys))
    rows = tuple(_finished(row, one_input, create_graph) for row in found)
    return rows[0] if one_output else rows


def _jacobian_of(y: Tensor, xs: Tensors, output: int, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobians of output number `output` with respect to all inputs."""
    flat = y.reshape(-1)
    rows = [_gradients((flat[j],), xs, None, create_graph, strict, "jacobian", output=output) for j in range(y.numel())]
    shapes = [(*y.shape, *x.shape) for x in xs]
    if not rows:
        return tuple(Tensor(np.zeros(shape, y._data.dtype)) for shape in shapes)
    return tuple(stack(column).reshape(shape) for column, shape in zip(zip(*rows, strict=True), shapes, strict=True))


def hessian(
    func: Callable[..., Any], inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The matrix of second derivatives of a function that returns one number."""
    _, one_input = _prepared(inputs, create_graph, "hessian")

    def gradient(*xs: Tensor) -> Any:
        (y,) = _number_of(func, xs, "hessian", strict)
        found = _gradients((y.reshape(()),), xs, None, True, strict=False)
        _check_tracked(found, "jacobian", strict)
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
        xs, one_input = _prepared(inputs, create_graph, name)
        vs = _vector(v, xs, one_input, create_graph, name)
        ys = _number_of(func, xs, name, strict)
        first = _gradients(ys, xs, None, True, strict, final=False)
        _check_tracked(first, "jacobian", strict)
    with enable_grad() if create_graph else contextlib.nullcontext():
        found = _gradients(first, xs, vs, create_graph, strict, "double_back")
    return _finished(ys, True, create_graph), _finished(found, one_input, create_graph)


_UNTRACKED = {
    "outputs": "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} "
    "is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example).",
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the user-provided function. This is "
    "not allowed in strict mode.",
}
_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {i}.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the "
    "double backward trick to compute forward mode gradients.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}.",
    "jacobian": "Output {output} of the user-provided function is independent of input {i}.",
}


def _check_tracked(tensors: Tensors, what: str, strict: bool) -> None:
    """In strict mode, refuse tensors that do not depend on the inputs."""
    for i, t in enumerate(tensors if strict else ()):
        if not t.requires_grad:
            raise RuntimeError(_UNTRACKED[what].format(i=i))


def _prepared(inputs: Any, create_graph: bool, name: str, what: str = "inputs") -> tuple[Tensors, bool]:
    """The inputs as a tuple of new tensors that require grad, and whether there was only one. Or those of the vector "v"."""
    one = not isinstance(inputs, tuple | list)
    xs = (inputs,) if one else tuple(inputs)
    for i, x in enumerate(xs):
        if not isinstance(x, Tensor):
            given, where = f"The {what} given to {name}", f"The value at index {i} of the tuple of {what}"
            wanted = f"{given} must be either a Tensor or a tuple of Tensors"
            raise TypeError(f"{wanted} but {given if one else where} has type {type(x)}.")
    tracked = what == "inputs"
    return tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_(tracked) for x in xs), one


def _called(func: Callable[..., Any], xs: Tensors, name: str, strict: bool) -> tuple[Tensors, bool]:
    """The function's outputs as a tuple, and whether there was only one."""
    y = func(*xs)
    one = not isinstance(y, tuple)
    ys = (y,) if one else y
    for out in ys:
        if not isinstance(out, Tensor):
            what = "outputs of the user-provided function"
            wanted = f"The {what} given to {name} must be either a Tensor or a tuple of Tensors"
            raise TypeError(f"{wanted} but the given {what} has type {type(out)}.")
    _check_tracked(ys, "outputs", strict)
    return ys, one


def _number_of(func: Callable[..., Any], xs: Tensors, name: str, strict: bool) -> Tensors:
    ys, one_output = _called(func, xs, name, strict)
    refuse_if(not one_output, lambda: f"The function given to {name} should return a single Tensor")
    if ys[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return ys


def _vector(
    v: Any, like: Tensors, one: bool, create_graph: bool, name: str, what: str = "input to the user-provided function is"
) -> Tensors | None:
    """The v of a product, in the shapes of `like`. With create_graph it requires grad too. A single element needs none."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {what} a single Tensor with a single element.")
        return None
    vs, _ = _prepared(v, create_graph, name, "v")
    if len(vs) != len(like):
        refuse_if(one, "The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vs)}.")
    for i, (a, b) in enumerate(zip(vs, like, strict=True)):
        if a.shape != b.shape:
            entry = f"Entry {i} in " if len(like) > 1 else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {b.shape} but got {a.shape}.")
    return vs


def _gradients(
    ys: Tensors, xs: Tensors, vs: Tensors | None, create_graph: bool, strict: bool, stage: str = "back", final: bool = True,
    output: int = 0,
) -> Tensors:  # fmt: skip
    """vᵀJ, with zeros if an output does not depend on an input (an error in strict mode)."""
    found: Any = (None,) * len(xs)
    if tracked := [i for i, y in enumerate(ys) if y.requires_grad]:
        seeds = None if vs is None else [vs[i] for i in tracked]
        found = grad([ys[i] for i in tracked], xs, seeds, retain_graph=True, create_graph=create_graph, allow_unused=True)
    for i, g in enumerate(found if strict else ()):
        if g is None:
            raise RuntimeError(f"{_INDEPENDENT[stage].format(i=i, output=output)} This is not allowed in strict mode.")
        if final and create_graph and not g.requires_grad:
            what = "hessian" if stage == "double_back" else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict mode "
                "when create_graph=True."
            )
    return tuple(g if g is not None else Tensor(np.zeros_like(x._data)) for g, x in zip(found, xs, strict=True))


def _finished(tensors: Tensors, one: bool, create_graph: bool) -> Any:
    """The result for the user: detached unless create_graph, and a single tensor without its tuple."""
    out = tensors if create_graph else tuple(t.detach() for t in tensors)
    return out[0] if one else out
