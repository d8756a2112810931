"""The checks around a differentiated function: its inputs, outputs and vectors, its gradients, the strict mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backward.backward import grad
from ..core.tensor.tensor import Tensor

Tensors = tuple[Tensor, ...]


def check_single(ys: Tensors, one_output: bool, name: str, strict: bool) -> None:
    """Refuse a function that does not return one number."""
    if strict:
        check_tracked(ys, "outputs")
    if not one_output:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if ys[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")


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
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the "
    "double backward trick to compute forward mode gradients. This is not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict "
    "mode.",
}


def check_tracked(tensors: Tensors, what: str) -> None:
    """Strict mode: refuse tensors that do not depend on the inputs.

    Raises:
        RuntimeError: one does not.
    """
    for i, t in enumerate(tensors):
        if not t.requires_grad:
            raise RuntimeError(_UNTRACKED[what].format(i=i))


def prepared(inputs: Any, create_graph: bool, what: str, name: str, tracked: bool = True) -> tuple[Tensors, bool]:
    """The inputs as a tuple of new tensors (that require grad if `tracked`), and whether there was only one."""
    one = not isinstance(inputs, tuple | list)
    xs = (inputs,) if one else tuple(inputs)
    for i, x in enumerate(xs):
        if not isinstance(x, Tensor):
            where = f"The value at index {i} of the tuple of {what}" if not one else f"The {what} given to {name}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but {where} has type {type(x)}."
            )
    if create_graph:
        return tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_(tracked) for x in xs), one
    return tuple(x.detach().requires_grad_(tracked) for x in xs), one


def called(func: Callable[..., Any], xs: Tensors, name: str) -> tuple[Tensors, bool]:
    """The function's outputs as a tuple, and whether there was only one."""
    y = func(*xs)
    one = not isinstance(y, tuple)
    ys = (y,) if one else y
    for out in ys:
        if not isinstance(out, Tensor):
            raise TypeError(
                f"The outputs of the user-provided function given to {name} must be either a Tensor or a tuple of Tensors but "
                f"the given outputs of the user-provided function has type {type(out)}."
            )
    return ys, one


def vector(v: Any, like: Tensors, one: bool, create_graph: bool, name: str) -> Tensors:
    """The v of a product, in the shapes of `like`. With create_graph it requires grad too."""
    vs, _ = prepared(v, create_graph, "v", name, tracked=False)
    if len(vs) != len(like):
        if one:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vs)}.")
    for i, (a, b) in enumerate(zip(vs, like, strict=True)):
        if a.shape != b.shape:
            entry = f"Entry {i} in " if len(like) > 1 else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {b.shape} but got {a.shape}.")
    return vs


def gradients(
    ys: Tensors, xs: Tensors, vs: Tensors | None, create_graph: bool, strict: bool, stage: str = "back", final: bool = True
) -> Tensors:
    """vᵀJ, with zeros if an output does not depend on an input (an error in strict mode)."""
    pairs = [(y, None if vs is None else vs[i]) for i, y in enumerate(ys) if y.requires_grad]
    if not pairs:
        found: Any = (None,) * len(xs)
    else:
        seeds = [v for _, v in pairs] if vs is not None else None
        found = grad([y for y, _ in pairs], xs, seeds, retain_graph=True, create_graph=create_graph, allow_unused=True)
    for i, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(_INDEPENDENT[stage].format(i=i))
        if strict and final and create_graph and not g.requires_grad:
            what = "hessian" if stage == "double_back" else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict mode "
                "when create_graph=True."
            )
    return tuple(g if g is not None else Tensor(np.zeros_like(x._data)) for g, x in zip(found, xs, strict=True))


def finished(tensors: Tensors, one: bool, create_graph: bool) -> Any:
    """The result for the user: detached unless create_graph, and a single tensor without its tuple."""
    out = tensors if create_graph else tuple(t.detach() for t in tensors)
    return out[0] if one else out
