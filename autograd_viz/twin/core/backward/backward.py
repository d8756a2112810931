"""The user's calls: backward() adds gradients to the leaves, grad() returns them. Both set up a pass and run it."""

from __future__ import annotations

import math
import warnings
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..base import events
from ..base.dtypes import from_numpy_dtype
from ..base.quiet import quiet
from ..tensor.as_array import Size
from ..tensor.tensor import Tensor, of_array
from .accumulate_grad import gradient_edge
from .engine import GraphTask
from .gradients import batches, stack_batch
from .node import Edge, Node
from .reentrant import Errand, check_interrupt, stack_is_half_full


class GradientEdge(NamedTuple):
    """A place in the backward graph: a node, and the index of an output of its op."""

    node: Node
    output_nr: int
    ownership_token: Any = None


_ONE = Tensor, GradientEdge  # for isinstance: `Tensor | GradientEdge` would make a new object at every call


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place that receives the gradient of a tensor. Raises RuntimeError: it does not require grad."""
    node, output_nr = gradient_edge(tensor)
    if node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(node, output_nr)


def first_gradient(output: Any, gradient: Any, create_graph: bool, index: int = 0) -> Any:
    """The first gradient of a pass: the user's, or 1 for a single element. Refuse what PyTorch refuses."""
    if isinstance(output, GradientEdge):
        shape, kind = output.node._outputs_metadata()[output.output_nr]
    else:
        if not isinstance(output, Tensor):
            raise AssertionError("Expected output to be a torch.Tensor")
        if not (output._requires_grad if output._view is None else output.requires_grad):
            raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
        shape, kind = output._data.shape, output._data.dtype
    if gradient is None:
        if shape and math.prod(shape) != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if kind.kind == "c":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got torch.complex" + str(kind)[7:]
            )
        one = np.empty(shape, kind)
        one.fill(1)  # three times as fast as np.ones
        return of_array(one) if create_graph else one
    if not isinstance(gradient, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if gradient._data.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of {gradient.shape} and output[{index}] has a "
            f"shape of {Size(shape)}."
        )
    if (gradient._data.dtype.kind == "c") != (kind.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {gradient.dtype} and output[{index}] has a dtype of {from_numpy_dtype(kind)}."
        )
    if gradient._data.dtype != kind:
        gradient = gradient.to(Tensor(np.empty(0, kind)).dtype)
    return gradient if create_graph else gradient._data


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor (or gradient edge), or several of them, as a tuple."""
    if (kind := type(value)) is tuple:  # a GradientEdge is of another type
        return value  # type: ignore[no-any-return]
    return (value,) if kind is Tensor or isinstance(value, _ONE) else tuple(value)


def edge_of(place: Any) -> Edge:
    """The edge of a tensor or GradientEdge."""
    return gradient_edge(place) if isinstance(place, Tensor) else (place.node, place.output_nr)


def _wanted(inputs: Any) -> tuple[Any, ...]:
    """The tensors or gradient edges at which a pass ends. Refuse anything else."""
    wanted = as_tuple(inputs)
    for t in wanted:
        if type(t) is not Tensor and not isinstance(t, _ONE):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
    return wanted


def start(
    outputs: Any, gradients: Any, retain_graph: bool | None, create_graph: bool, captures: Sequence[Edge] | None = None,
    only: Sequence[Node] | None = None,
) -> GraphTask:  # fmt: skip
    """Check the arguments of a backward pass and set it up. Nothing runs yet."""
    outputs = as_tuple(outputs)
    gradients = (None,) * len(outputs) if gradients is None else as_tuple(gradients)
    roots: list[tuple[Edge, Any]] = []
    for output in outputs[: len(gradients)]:
        first = first_gradient(output, gradients[len(roots)], create_graph, len(roots))
        roots.append((edge_of(output), first))
    if len(roots) != len(outputs):  # as in PyTorch, surplus gradients are ignored
        raise RuntimeError(f"got {len(outputs)} tensors and {len(roots)} gradients")
    keep_graph = create_graph if retain_graph is None else retain_graph
    return GraphTask(roots, keep_graph, create_graph, captures, only)


def run(task: GraphTask) -> None:
    """Run a pass to its end, and drop the steps that `run_backward` would yield."""
    if GraphTask.current is not None and stack_is_half_full():
        Errand(partial(_run, task)).run()
    else:
        _run(task)


def _run(task: GraphTask) -> None:
    while task.ready:
        if task.create_graph:
            task.run_recorded()
        else:
            quiet.run(task.run_plain)
        if task.ready:
            check_interrupt()
            task.attentive_step()
    if task.callbacks:
        task.end()


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradients of `tensors` to the `grad` of the leaves that they depend on. Raises RuntimeError: as in PyTorch.

    Args:
        tensors: one tensor or several.
        grad_tensors: a gradient for each, in its shape; optional for single elements.
        retain_graph: keep saved tensors (default: the value of `create_graph`).
        create_graph: record the pass, for higher derivatives.
        grad_variables: PyTorch's old name of `grad_tensors`.
        inputs: accumulate into these tensors only.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None and not (inputs := as_tuple(inputs)):
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
            "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
            "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
            "the cycle and avoid the leak.",
            UserWarning,
            stacklevel=3,
        )
    only = None
    if inputs is not None:  # the nodes at which the pass ends; a non-leaf among the inputs keeps its gradient
        for t in (wanted := _wanted(inputs)):
            if isinstance(t, Tensor):
                t.retain_grad()
        only = [node for node, _ in map(edge_of, wanted) if node is not None]
    tensors = as_tuple(tensors)
    with events.passing("backward", tensors[0] if tensors else None, only is not None):
        run(start(tensors, grad_tensors, retain_graph, create_graph, only=only))


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool | None = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """The gradients of `outputs` with respect to `inputs`, returned instead of accumulated.

    Args:
        outputs: one tensor or several.
        inputs: one tensor or several, leaves or not.
        grad_outputs: a gradient for each output; optional for single elements.
        retain_graph: keep saved tensors (default: the value of `create_graph`).
        create_graph: record the pass, so that the results can be differentiated.
        only_inputs: has no effect; only gradients of the inputs are computed.
        allow_unused: None instead of an error for an input that the outputs do not depend on.
        is_grads_batched: the first dimension of each of `grad_outputs` is a batch, and so is that of each result. Each entry
            of the batch takes one pass.
        materialize_grads: zeros instead of None for such an input.

    Raises:
        RuntimeError, ValueError: as in PyTorch.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts "
            "of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    wanted = _wanted(inputs)
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if any([isinstance(t, Tensor) and not t.requires_grad for t in wanted]):  # noqa: C419 -- for one a list is faster
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    edges = [edge_of(t) for t in wanted]
    capture = _captured_in_batch if is_grads_batched else _captured
    outputs = as_tuple(outputs)
    with events.passing("grad", outputs[0] if outputs else None, True) as noted:
        found = capture(outputs, edges, grad_outputs, retain_graph, create_graph)
    unused = [i for i, g in enumerate(found) if g is None]
    if unused and not allow_unused and not materialize_grads:
        raise RuntimeError(
            f"The differentiated Tensor at index {unused[0]} appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
        )
    results = [_result(g, wanted[i], materialize_grads, create_graph) for i, g in enumerate(found)]
    noted.kept(create_graph, retain_graph, [weakref.ref(g) for g in results if g is not None and not g.requires_grad])
    return tuple(results)


def _captured(outputs: Any, edges: list[Edge], grad_outputs: Any, retain_graph: bool | None, create_graph: bool) -> list[Any]:
    """The gradients that arrive at the edges in one pass."""
    task = start(outputs, grad_outputs, retain_graph, create_graph, captures=edges)
    run(task)
    return [task.captured.get(edge) for edge in edges]


def _captured_in_batch(
    outputs: Any, edges: list[Edge], grad_outputs: Any, retain_graph: bool | None, create_graph: bool
) -> list[Any]:
    """The gradients that arrive at the edges, stack_batch: one pass for each entry of the batch."""
    *earlier, last = batches(outputs, grad_outputs)
    passes = [_captured(outputs, edges, each, True, create_graph) for each in earlier]
    passes.append(_captured(outputs, edges, last, retain_graph, create_graph))
    return [None if grads[0] is None else stack_batch(grads) for grads in zip(*passes, strict=True)]


def _result(found: Any, wanted: Any, materialize: bool, create_graph: bool) -> Tensor | None:
    """A captured gradient as a tensor with its own memory."""
    if found is None and materialize:
        if isinstance(wanted, GradientEdge):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        return Tensor(np.zeros_like(wanted._data)).requires_grad_(create_graph)
    return found if found is None or isinstance(found, Tensor) else of_array(np.array(found))
