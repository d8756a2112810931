"""The backward pass: a schedule over the backward graph, one node at a time.

A pass can stop after every call of a node: a stepper asks for one call at a time (`GraphTask.step`), `backward()` lets the same
loop run to its end (`GraphTask.run_plain`), so what a stepper shows and what `backward()` does cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base.grad_mode import Anomaly, recording, saved_hooks, set_recording
from ..base.quiet import quiet
from ..tensor.tensor import Tensor
from . import hooks
from .anomaly import checked, tell
from .dependencies import input_buffers_of, leading_to
from .gradients import as_tensor, small, small_arrays, summed
from .instrumented import watched_by
from .node import SMALL, Edge, Node
from .ready_queue import ReadyQueue
from .validated import validated


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
    grad_outputs: Sequence[Any]
    results: Sequence[Any]
    grad_inputs: Sequence[Any]


Done = tuple[Node, Sequence[Any], Sequence[Any], Sequence[Any]]  # the fields of a Step


class GraphTask:
    """One backward pass in progress: what is ready, what waits for how many gradients, what has arrived.

    Args:
        roots: edges to start from, each with its gradient (an array, or a Tensor if `create_graph`).
        keep_graph: do not free saved tensors.
        create_graph: record the pass itself.
        captures: edges whose gradient is wanted as a result; then only nodes that lead to one of them run, and a
            captured leaf is not accumulated into.
        only: run just the nodes that lead to one of these, and these themselves.
    """

    current: GraphTask | None = None  # the pass whose code of the user's is running

    def __init__(
        self,
        roots: Sequence[tuple[Edge, Any]],
        keep_graph: bool,
        create_graph: bool,
        captures: Sequence[Edge] | None = None,
        only: Sequence[Node] | None = None,
    ) -> None:
        self.keep_graph, self.create_graph = keep_graph, create_graph
        self.callbacks: list[Callable[[], Any]] = []  # for the end of the pass
        self.saved_hooks = saved_hooks[:]  # as they were when the pass began
        self.captures: dict[Node, list[Edge]] = {}
        self.captured: dict[Edge, Any] = {}
        self.ready = ReadyQueue()
        starts = [edge[0] for edge, _ in roots if edge[0] is not None]
        self.input_buffers = input_buffers_of(starts)
        self.needed: set[Node] | None = None
        if captures is not None:
            for edge in captures:
                if edge[0] is not None:
                    self.captures.setdefault(edge[0], []).append(edge)
            self.needed = leading_to(self.captures, self.input_buffers)
        if only is not None:
            self.needed = leading_to(only, self.input_buffers) | set(only)
        self.starts = set(starts)
        self.wanted = None if self.needed is None else self.needed | self.captures.keys()  # nothing else has to be queued
        self.looked_at: set[Node] = set()  # nodes whose hooks have run
        for (node, index), grad in roots:
            if node is not None:
                self._start(node, index, grad)

    def _start(self, node: Node, index: int, grad: Any) -> None:
        """A first gradient."""
        input_buffer = self.input_buffers[node]
        there = input_buffer[index + 1]
        input_buffer[index + 1] = grad if there is None else summed(there, grad, self.create_graph)
        input_buffer[0] -= 1
        if not input_buffer[0]:
            self._queue(node)

    def peek(self) -> Node | None:
        """The node that runs next, or None at the end."""
        return self.ready[0] if self.ready else None

    def reaches(self, node: Node) -> bool:
        """Does a gradient arrive at this node in this pass?"""
        return node in self.input_buffers and (self.wanted is None or node in self.wanted)

    def step(self) -> Step | None:
        """Run the next node; None if it only had a gradient to hand over (`captures`).

        If the node raises, the pass stays where it was.
        """
        done = self.advance()
        return None if done is None else Step(*done)

    def advance(self) -> Done | None:
        """`step`, as a plain tuple."""
        done: Done | None = quiet.run(self.run_plain, True)
        return self.attentive_step() if done is None else done

    def run_plain(self, once: bool = False) -> Done | None:
        """The heart: run the rules, hand the results on, for as long as no code of the user's may run with a node.

        Args:
            once: for one node at most, and return the fields of its Step; None if it is not such a node.
        """
        input_buffers, ready, captures, wanted = self.input_buffers, self.ready, self.captures, self.wanted
        results: Any
        grad_inputs: Any
        seen = input_buffers[ready[0]][1:] if once and ready else None  # what a Step tells is not the leaf's alone  # noqa: F841
        if self.create_graph or Anomaly.enabled:
            return None
        while ready and (node := ready[0]).is_plain and node._extra is None and not (captures and node in captures):
            input_buffer = input_buffers[node]
            grads = (input_buffer[1],) if node._others is None else tuple(input_buffer[1:])
            results = node.vjp(grads)
            grad_inputs = self._as_wanted(node, grads, results)
            ready.take() if len(ready) > 2 else ready.pop(0)
            if not self.keep_graph:
                node._release()
            index = node._index
            i = 0  # counted by hand: enumerate or zip would cost a twentieth of the pass
            for after in node._next:
                if after is not None:
                    input_buffer = input_buffers[after]
                    g = grad_inputs[i]
                    if g is not None:
                        place = index[i] + 1
                        there = input_buffer[place]
                        input_buffer[place] = g if there is None else there + g
                    input_buffer[0] -= 1
                    if not input_buffer[0] and (wanted is None or after in wanted):
                        if not ready or (len(ready) == 1 and ready[0]._sequence < after._sequence):  # as it mostly is
                            ready.insert(0, after)
                        else:
                            ready.push(after)
                i += 1  # noqa: SIM113
            if once:
                return node, grads, results, grad_inputs
            results = grad_inputs = g = None  # let go: a leaf keeps an array that nobody else has (accumulate_grad.py)
        return None

    def _as_wanted(self, node: Node, grads: Sequence[Any], results: tuple[Any, ...]) -> Sequence[Any]:
        """The results as their receivers want them; what passed is remembered as far as it is small."""
        wanted: Any = results
        index, arrived, kind = node._index, grads[0], type(grads[0])
        is_array = kind is np.ndarray  # a NumPy number is not: another of its type is like it
        small = node._others is None and (not is_array or arrived.size <= SMALL)
        i = 0
        for after in node._next:
            g = results[i]
            if g is not None and (
                is_array or type(g) is not kind or after is None or after._shape or after._dtype is not node._dtype or index[i]
            ):
                if after is None or g.shape != after._shape or g.dtype is not after._dtype or index[i]:
                    if wanted is results:
                        wanted = list(results)
                    wanted[i] = g = validated(node, i, g, after, index[i])
                small = small and (g is None or g.size <= SMALL)
            i += 1  # noqa: SIM113
        if small:
            node._passed = grads, wanted, node in self.starts
        else:
            node._passed = small_arrays(grads), small_arrays(wanted), node in self.starts
        return wanted  # type: ignore[no-any-return]

    def attentive_step(self) -> Done | None:
        """A step with whatever may surround a node: hooks, captures, recording, code of the user's."""
        node = self.ready[0]
        before, hooks_before = recording(), saved_hooks[:]
        set_recording(self.create_graph)
        watched_by(self.saved_hooks)  # what the user's code enters or leaves meanwhile holds until the node is done
        outer, GraphTask.current = GraphTask.current, self
        parent, Anomaly.running = Anomaly.running, node
        try:
            return self._surrounded(node)
        except Exception:
            if Anomaly.enabled:
                tell(node)
            raise
        finally:
            GraphTask.current, Anomaly.running = outer, parent
            watched_by(hooks_before)
            set_recording(before)

    def _surrounded(self, node: Node) -> Done | None:
        """Hooks, the node, hooks."""
        grads = self._seen_by_hooks(node)
        if self.needed is not None and node not in self.needed:
            self.ready.take()
            return None
        results = node.apply(tuple(grads), self.create_graph)
        grad_inputs = self._validated(node, results)
        if node._extra is not None and node._extra.posthooks:
            given = tuple(as_tensor(g) for g in grad_inputs), tuple(as_tensor(g) for g in grads)
            changed = hooks.run_posthooks(node, *given)
            grad_inputs = self._validated(node, tuple(map(self._raw, changed)))
        if Anomaly.enabled:
            checked(node, grad_inputs)
        return self._finish(node, grads, results, grad_inputs)

    def _seen_by_hooks(self, node: Node) -> list[Any]:
        """What arrived at a node after everything that looks at it first; once, even if the node has to be tried again."""
        grads = self.input_buffers[node][1:]
        if node in self.looked_at or (node._extra is None and node.is_plain and node not in self.captures):
            return grads
        unhooked = grads
        if hooks.has_tensor_hooks(node):
            grads = [self._raw(g) for g in hooks.run_tensor_hooks(node, [as_tensor(g) for g in grads])]
        runs = self.needed is None or node in self.needed
        for edge in self.captures.get(node, ()):  # as in PyTorch, hooks are seen only where the pass ends
            self.captured[edge] = unhooked[edge[1]] if runs else grads[edge[1]]
        hooks.retain(node, grads)
        if runs and node._extra is not None and node._extra.prehooks:
            grads = [self._raw(g) for g in hooks.run_prehooks(node, [as_tensor(g) for g in grads])]
        self.looked_at.add(node)
        self.input_buffers[node][1:] = grads
        return grads

    def _validated(self, node: Node, results: tuple[Any, ...]) -> Sequence[Any]:
        """The results as their receivers want them; mostly they are so already."""
        found: Any = results
        for i, (g, after, index) in enumerate(zip(results, node._next, node._index, strict=True)):
            if g is None:
                continue
            data = g._data if isinstance(g, Tensor) else g
            if after is None or index or data.shape != after._shape or data.dtype is not after._dtype:
                if found is results:
                    found = list(results)
                found[i] = validated(node, i, g, after, index)
        return found  # type: ignore[no-any-return]

    def _finish(self, node: Node, grads: list[Any], results: tuple[Any, ...], grad_inputs: Sequence[Any]) -> Done:
        """The node has run: take it off the queue, free what it saved, deliver its gradients."""
        self.ready.take()
        node._passed = (small(grads), small(grad_inputs), node in self.starts)
        if not self.keep_graph:
            node._release()
        input_buffers = self.input_buffers
        for g, after, index in zip(grad_inputs, node._next, node._index, strict=True):
            if after is None:
                continue
            input_buffer = input_buffers[after]
            if g is not None:
                there = input_buffer[index + 1]
                input_buffer[index + 1] = g if there is None else summed(there, g, self.create_graph)
            input_buffer[0] -= 1
            if not input_buffer[0]:
                self._queue(after)
        return node, grads, results, grad_inputs

    def end(self) -> None:
        """The pass is over: call what was to be called then; that may queue more."""
        outer, GraphTask.current = GraphTask.current, self
        before = recording()
        set_recording(self.create_graph)
        try:
            for callback in self.callbacks:
                callback()
        finally:
            GraphTask.current = outer
            set_recording(before)

    def _raw(self, grad: Any) -> Any:
        """A gradient as the pass carries it: a tensor if the pass is recorded, else an array."""
        return grad._data if isinstance(grad, Tensor) and not self.create_graph else grad

    def _queue(self, node: Node) -> None:
        """Everything has arrived: the node is ready, if it has to run at all."""
        if self.wanted is None or node in self.wanted:
            self.ready.push(node)
