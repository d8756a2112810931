"""The backward pass: a schedule over the backward graph, one node at a time.

`run_backward` is a generator that yields after every call of a node; `backward()` is that generator run to its end, so
what a stepper shows and what `backward()` does cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .grad_mode import set_grad_enabled
from .node import Edge, Node, Passed
from .ops.shape import sum_to
from .readings import ARRAY_NAMES
from .ready_queue import ReadyQueue
from .tensor import Tensor

SMALL = 64  # elements

_sum_to_on_arrays = ARRAY_NAMES["sum_to"]


class Step(NamedTuple):
    """One call of one backward node.

    Attributes:
        node: the node that ran.
        grad_outputs: what had arrived, one per output of the op; None where nobody used the output.
        results: what its rules returned.
        grad_inputs: what leaves along next_functions: the results with broadcasting undone, in the receiver's type.

    Gradients are NumPy arrays, or Tensors if the pass is being recorded (create_graph).
    """

    node: Node
    grad_outputs: tuple[Any, ...]
    results: tuple[Any, ...]
    grad_inputs: tuple[Any, ...]


class GraphTask:
    """One backward pass in progress: what is ready, what waits for how many gradients, what has arrived.

    Args:
        roots: edges to start from, each with its gradient (an array, or a Tensor if `create_graph`).
        keep_graph: do not free saved tensors.
        create_graph: record the pass itself.
        captures: edges whose gradient is wanted as a result; then only nodes that lead to one of them run, and a
            captured leaf is not accumulated into.
    """

    def __init__(
        self, roots: Sequence[tuple[Edge, Any]], keep_graph: bool, create_graph: bool, captures: Sequence[Edge] | None = None
    ) -> None:
        self.keep_graph, self.create_graph = keep_graph, create_graph
        self.captures: dict[Node, list[Edge]] = {}
        self.captured: dict[Edge, Any] = {}
        self.ready = ReadyQueue()
        self.arrived: dict[Node, list[Any]] = {}
        starts = [edge[0] for edge, _ in roots if edge[0] is not None]
        self.waiting_for, consumers = _count_dependencies(starts)
        self.needed: set[Node] | None = None
        if captures is not None:
            for edge in captures:
                if edge[0] is not None:
                    self.captures.setdefault(edge[0], []).append(edge)
            self.needed = _ancestors(list(self.captures), consumers)
        self.starts = set(starts)
        for edge, grad in roots:
            self._deliver(edge, grad)

    def peek(self) -> Node | None:
        """The node that runs next, or None at the end."""
        return self.ready.peek() if self.ready else None

    def step(self) -> Step | None:
        """Run the next node; None if it only had a gradient to hand over (`captures`).

        If the node raises, the pass stays where it was.
        """
        node = self.ready.peek()
        grads = tuple(self.arrived.get(node, ()) or [None] * len(node._input_metadata))
        with set_grad_enabled(self.create_graph), np.errstate(all="ignore"):
            for edge in self.captures.get(node, ()):
                self.captured[edge] = grads[edge[1]]
            if self.needed is not None and node not in self.needed:
                self._done(node)
                if node._retains:
                    _retain(node, grads, self.create_graph)
                return None
            results = node.apply(grads, self.create_graph)
            grad_inputs = tuple(
                _validated(node, i, g, edge) for i, (g, edge) in enumerate(zip(results, node.next_functions, strict=True))
            )
            self._done(node)
            if node._retains:
                _retain(node, grads, self.create_graph)
            node._passed = Passed(_small(grads), _small(grad_inputs), node in self.starts)
            if not self.keep_graph:
                node.release()
            for edge, g in zip(node.next_functions, grad_inputs, strict=True):
                self._deliver(edge, g)
        return Step(node, grads, results, grad_inputs)

    def _done(self, node: Node) -> None:
        self.ready.pop()
        self.arrived.pop(node, None)

    def _deliver(self, edge: Edge, grad: Any) -> None:
        """Add a gradient to what has arrived at a node, and queue the node when nothing more is to come."""
        node, index = edge
        if node is None:
            return
        if grad is not None:
            slots = self.arrived.setdefault(node, [None] * len(node._input_metadata))
            slots[index] = grad if slots[index] is None else slots[index] + grad
        self.waiting_for[node] -= 1
        if self.waiting_for[node] == 0:
            self.ready.push(node)


def run_backward(task: GraphTask) -> Iterator[Step]:
    """Run a backward pass, yielding after each call of a node. Grad mode is the caller's own at every yield."""
    while task.ready:
        step = task.step()
        if step is not None:
            yield step


def _count_dependencies(starts: list[Node]) -> tuple[dict[Node, int], dict[Node, list[Node]]]:
    """How many gradients each node waits for, and which nodes send them."""
    waiting_for: dict[Node, int] = dict.fromkeys(starts, 0)
    for node in starts:
        waiting_for[node] += 1
    consumers: dict[Node, list[Node]] = {node: [] for node in starts}
    stack = list(waiting_for)
    while stack:
        node = stack.pop()
        for after, _ in node.next_functions:
            if after is None:
                continue
            if after not in consumers:
                waiting_for[after], consumers[after] = 0, []
                stack.append(after)
            waiting_for[after] += 1
            consumers[after].append(node)
    return waiting_for, consumers


def _ancestors(targets: list[Node], consumers: dict[Node, list[Node]]) -> set[Node]:
    """The nodes from which a target can be reached, targets themselves only if they lead to another target."""
    seen: set[Node] = set()
    stack = [c for t in targets for c in consumers.get(t, ())]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += consumers[node]
    return seen


def _validated(node: Node, index: int, grad: Any, edge: Edge) -> Any:
    """A gradient as its receiver wants it: broadcasting undone, type of the forward value (PyTorch's validate_outputs).

    Raises:
        RuntimeError: the shape cannot be made to fit.
    """
    if grad is None or edge[0] is None:
        return None
    shape, element_type = edge[0]._input_metadata[edge[1]]
    data = grad._data if isinstance(grad, Tensor) else grad
    if data.shape != shape:
        if not _expands_to(shape, data.shape):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {index} - got {list(data.shape)} but "
                f"expected shape compatible with {list(shape)}"
            )
        grad = sum_to(grad, shape) if isinstance(grad, Tensor) else _sum_to_on_arrays(grad, shape)
        data = grad._data if isinstance(grad, Tensor) else grad
    if data.dtype != element_type:
        grad = grad.to(Tensor(np.empty(0, element_type)).dtype) if isinstance(grad, Tensor) else grad.astype(element_type)
    return grad


def _small(grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays of the gradients that a drawing can show; None for larger ones, so that nothing big is kept alive."""
    arrays = (g._data if isinstance(g, Tensor) else g for g in grads)
    return tuple(a if a is not None and a.size <= SMALL else None for a in arrays)


def _expands_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Could a tensor of `shape` have been broadcast to `target`?"""
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False))


def _retain(node: Node, grads: tuple[Any, ...], on_tensors: bool) -> None:
    """retain_grad(): keep what arrived at this node as the `grad` of the tensors that asked."""
    for output_nr, reference in (node._retains or {}).items():
        tensor, grad = reference(), grads[output_nr]
        if tensor is None or grad is None:
            continue
        kept = grad.clone() if on_tensors else Tensor(np.array(grad))
        tensor._grad = kept if tensor._grad is None else tensor._grad + kept
