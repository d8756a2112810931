"""What a user calls: backward() adds gradients to the leaves, grad() returns them. Both set up a pass and run it to its end."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .engine import GraphTask, run_backward
from .node import AccumulateGrad, Edge, gradient_edge
from .tensor import Size, Tensor


def first_gradient(output: Tensor, gradient: Tensor | None, create_graph: bool, index: int = 0) -> Any:
    """The gradient that a pass starts with: the user's, or 1 for a single element.

    Raises:
        RuntimeError: `output` has no graph, several elements and no gradient, or another shape than its gradient.
        TypeError: `gradient` is not a tensor.
    """
    if not output._requires_grad:
        raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
    if gradient is None:
        if output.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        gradient = Tensor(np.ones_like(output._data))
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if gradient.shape != output.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {Size(gradient.shape)} and output[{index}] has a "
            f"shape of {Size(output.shape)}."
        )
    if gradient._data.dtype != output._data.dtype:
        gradient = gradient.to(output.dtype)
    return gradient if create_graph else gradient._data


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor, or a sequence of them, as a tuple."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def start(
    outputs: Any, gradients: Any, retain_graph: bool | None, create_graph: bool, captures: Sequence[Edge] | None = None
) -> GraphTask:
    """Check the arguments of a backward pass and set it up; nothing has run yet."""
    outputs = as_tuple(outputs)
    gradients = (None,) * len(outputs) if gradients is None else as_tuple(gradients)
    if len(gradients) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    roots = [
        (gradient_edge(o), first_gradient(o, g, create_graph, i))
        for i, (o, g) in enumerate(zip(outputs, gradients, strict=True))
    ]
    keep_graph = create_graph if retain_graph is None else retain_graph
    return GraphTask(roots, keep_graph, create_graph, captures)


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Add the gradients of `tensors` to the `grad` of the leaves they depend on.

    Args:
        tensors: one tensor or several.
        grad_tensors: a gradient for each, in its shape; may be left out for single elements.
        retain_graph: keep saved tensors (default: the value of `create_graph`).
        create_graph: record the pass, for higher derivatives.
        inputs: accumulate into these tensors only.

    Raises:
        RuntimeError: as PyTorch says it.
    """
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
            "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
            "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
            "the cycle and avoid the leak.",
            UserWarning,
            stacklevel=3,
        )
    if inputs is not None:
        _accumulate_into(as_tuple(inputs), tensors, grad_tensors, retain_graph, create_graph)
        return
    for _ in run_backward(start(tensors, grad_tensors, retain_graph, create_graph)):
        pass


def _accumulate_into(inputs: tuple[Tensor, ...], *task: Any) -> None:
    """backward(inputs=...): gradients are captured, then accumulated into just these tensors."""
    if not inputs:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    for tensor, g in zip(inputs, grad(task[0], inputs, task[1], task[2], task[3], allow_unused=True), strict=True):
        if g is not None:
            AccumulateGrad(tensor).apply((g if task[3] else g._data,), on_tensors=task[3])


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, returned instead of accumulated.

    Args:
        outputs: one tensor or several.
        inputs: one tensor or several, leaves or not.
        grad_outputs: a gradient for each output; may be left out for single elements.
        retain_graph: keep saved tensors (default: the value of `create_graph`).
        create_graph: record the pass, so that the results can be differentiated.
        allow_unused: None for an input that the outputs do not depend on, instead of an error.

    Raises:
        RuntimeError: as PyTorch says it.
    """
    wanted = as_tuple(inputs)
    if any(not t._requires_grad for t in wanted):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    edges = [gradient_edge(t) for t in wanted]
    task = start(outputs, grad_outputs, retain_graph, create_graph, captures=edges)
    for _ in run_backward(task):
        pass
    found = [task.captured.get(edge) for edge in edges]
    unused = [i for i, g in enumerate(found) if g is None]
    if unused and not allow_unused:
        raise RuntimeError(
            f"The differentiated Tensor at index {unused[0]} appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
        )
    return tuple(g if g is None or isinstance(g, Tensor) else Tensor(np.array(g)) for g in found)
