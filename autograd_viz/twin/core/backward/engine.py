"""The backward pass: it runs the nodes of the backward graph one at a time.

A pass can stop after each node. A stepper asks for one node at a time (`GraphTask.step`). `backward()` runs the same loop to
its end (`GraphTask.run_plain`). So the stepper shows exactly what `backward()` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base.grad_mode import Anomaly, State, recording, saved_hooks, set_recording
from ..base.provenance import forget_frame, know_frame
from ..base.quiet import quiet
from ..tensor.tensor import Tensor
from . import hooks
from .accumulate_grad import AccumulateGrad
from .gradients import as_tensor, small, small_arrays, sum_of, validate_outputs
from .instrumentation import check_nan, set_saved_hooks, warn_where_made
from .node import SMALL, Done, Edge, Node, Step
from .ready_queue import input_buffers_of, leading_to, push, take


class GraphTask:
    """One backward pass in progress: the ready queue, the dependencies, and the input buffers.

    Args:
        roots: edges to start from, each with its gradient (an array, or a Tensor if `create_graph`).
        keep_graph: do not free saved tensors.
        create_graph: record the pass itself.
        captures: edges whose gradient is a result. Only nodes that lead to one of them run, and a captured leaf does not
            accumulate.
        only: run just these nodes, and the nodes that lead to one of them.
    """

    current: GraphTask | None = None  # the pass that is running user code

    def __init__(
        self, roots: Sequence[tuple[Edge, Any]], keep_graph: bool, create_graph: bool, captures: Sequence[Edge] | None = None,
        only: Sequence[Node] | None = None,
    ) -> None:  # fmt: skip
        self.keep_graph, self.create_graph = keep_graph, create_graph
        self.callbacks: list[Callable[[], Any]] = []  # called at the end of the pass
        self.saved_hooks = saved_hooks[:]  # the hooks at the beginning of the pass
        self.captures: dict[Node, list[Edge]] = {}
        self.captured: dict[Edge, Any] = {}
        self.ready: list[Node] = []  # a heap (ready_queue.py)
        starts = [edge[0] for edge, _ in roots if edge[0] is not None]
        self.input_buffers = input_buffers_of(starts)
        self.needed: set[Node] | None = None
        if captures is not None:
            for edge in captures:
                if edge[0] is not None:
                    self.captures.setdefault(edge[0], []).append(edge)
            self.needed = leading_to(self.captures, self.input_buffers)
        if only is not None:
            self.needed = leading_to(only, self.input_buffers).union(only)
        self.starts = set(starts)
        self.wanted = None if self.needed is None else self.needed.union(self.captures)  # only these are queued
        self.looked_at: set[Node] = set()  # nodes whose hooks have run
        for (node, index), grad in roots:
            if node is not None:
                self._send(node, index, grad)

    def _send(self, node: Node, index: int, grad: Any) -> None:
        """Put a gradient into its input buffer. If all have arrived, the node is ready to run."""
        input_buffer = self.input_buffers[node]
        if grad is not None:
            there = input_buffer[index + 1]
            input_buffer[index + 1] = grad if there is None else sum_of(there, grad, self.create_graph)
        input_buffer[0] -= 1
        if not input_buffer[0] and (self.wanted is None or node in self.wanted):
            push(self.ready, node)

    def peek(self) -> Node | None:
        """The node that runs next, or None at the end."""
        return self.ready[0] if self.ready else None

    def reaches(self, node: Node) -> bool:
        """Does a gradient arrive at this node in this pass?"""
        return node in self.input_buffers and (self.wanted is None or node in self.wanted)

    def step(self) -> Step | None:
        """Run the next node; None if it only hands over a captured gradient. If the node raises, the pass keeps its state."""
        done = self.advance()
        return None if done is None else Step(*done)

    def advance(self) -> Done | None:
        """`step`, with the fields of a Step as a plain tuple."""
        node = self.ready[0]
        if self.create_graph or Anomaly.enabled or not node.is_plain or node._extra is not None or node in self.captures:
            return self.attentive_step()
        grads = tuple(seen := self.input_buffers[node][1:])  # noqa: F841 -- a Step holds them too, so the leaf copies them
        results = quiet.run(node.vjp, grads, self.wanted)
        return self._finish(node, grads, results, quiet.run(validate_outputs, node, results))

    def run_plain(self) -> None:  # noqa: PLR0912 -- each node pays for a call
        """The inner loop: run the rules and pass the results on, until a node may run user code."""
        input_buffers, ready, captures, wanted = self.input_buffers, self.ready, self.captures, self.wanted
        keep_graph, starts = self.keep_graph, self.starts
        if self.create_graph or Anomaly.enabled:
            return
        while ready and (node := ready[0]).is_plain and node._extra is None:
            if captures and node in captures:
                if not self._ends_at(node):
                    return
                continue
            input_buffer = input_buffers[node]
            is_small = len(input_buffer) == 2  # the op has one output
            grads: Any = (input_buffer[1],) if is_small else tuple(input_buffer[1:])
            grad_inputs = node.pass_on(grads, wanted, keep_graph)
            if not (is_alone := len(ready) == 1):
                take(ready)
            is_small = is_small and (grads[0] is None or grads[0].size <= SMALL)
            index, i = node._index, -1  # a hand-made counter: enumerate or zip would take a twentieth of the pass
            for after in node._next:
                i += 1
                if after is None:
                    continue
                input_buffer = input_buffers[after]
                left = input_buffer[0] - 1
                if (g := grad_inputs[i]) is not None:
                    if is_large := g.size > SMALL:
                        is_small = False
                    is_only = type(after) is AccumulateGrad and not left and wanted is None and input_buffer[1] is None
                    if is_only and after.takes(g, is_large):
                        continue  # a leaf without hooks takes its only gradient at once, past the queue
                    place = index[i] + 1
                    there = input_buffer[place]
                    input_buffer[place] = g if there is None else there + g
                input_buffer[0] = left
                if not left and (wanted is None or after in wanted):
                    if is_alone:  # the usual case: it takes the place of the node that ran
                        ready[0], is_alone = after, False
                    else:
                        push(ready, after)
            if is_alone:
                ready.clear()
            if not is_small:
                grads, grad_inputs = small_arrays(grads), small_arrays(grad_inputs)
            node._passed = grads, grad_inputs, node in starts
            grad_inputs = g = None  # a leaf keeps an array that nothing else holds (accumulate_grad.py)

    def run_recorded(self) -> None:
        """`run_plain` for a recorded pass: run the rules on tensors, until a node may run user code."""
        if Anomaly.enabled or saved_hooks or self.saved_hooks:
            return
        ready, captures, input_buffers = self.ready, self.captures, self.input_buffers
        before, in_rule = recording(), State.in_rule
        set_recording(True)
        known = know_frame(is_last=True)
        try:
            while ready and (node := ready[0]).is_plain and node._extra is None:
                if captures and node in captures:
                    if not self._ends_at(node):
                        return
                    continue
                grads = input_buffers[node][1:]
                State.in_rule = True
                results = node.vjp_on_tensors(grads, self.wanted)
                self._finish(node, grads, results, validate_outputs(node, results))
        finally:
            State.in_rule = in_rule
            forget_frame(known)
            set_recording(before)

    def _ends_at(self, node: Node) -> bool:
        """Hand over the captured gradients of a node without hooks, if the pass ends there."""
        if self.needed is None or node in self.needed:
            return False
        input_buffer = self.input_buffers[node]
        for edge in self.captures[node]:
            self.captured[edge] = input_buffer[edge[1] + 1]
        take(self.ready)
        return True

    def attentive_step(self) -> Done | None:
        """A step with everything that may surround a node: hooks, captures, recording, user code."""
        node = self.ready[0]
        before, hooks_before = recording(), saved_hooks[:]
        set_recording(self.create_graph)
        set_saved_hooks(self.saved_hooks)  # saved-tensor hooks that user code enters or leaves are valid until the node is done
        outer, GraphTask.current = GraphTask.current, self
        parent, Anomaly.running = Anomaly.running, node
        try:
            return self._surrounded(node)
        except Exception:
            if Anomaly.enabled:
                warn_where_made(node)
            raise
        finally:
            GraphTask.current, Anomaly.running = outer, parent
            set_saved_hooks(hooks_before)
            set_recording(before)

    def _surrounded(self, node: Node) -> Done | None:
        """Run the hooks, the node, and the hooks after it."""
        grads = self._seen_by_hooks(node)
        if self.needed is not None and node not in self.needed:
            take(self.ready)
            return None
        results = node.apply(tuple(grads), self.create_graph, self.wanted)
        grad_inputs = validate_outputs(node, results)
        if node._extra is not None and node._extra.posthooks:
            given = tuple(as_tensor(g) for g in grad_inputs), tuple(as_tensor(g) for g in grads)
            changed = hooks.run_for_all("post", node._extra.posthooks, *given)
            grad_inputs = validate_outputs(node, tuple(map(self._raw, changed)))
        if Anomaly.enabled:
            check_nan(node, grad_inputs)
        return self._finish(node, grads, results, grad_inputs)

    def _seen_by_hooks(self, node: Node) -> list[Any]:
        """The gradients of a node after its hooks. The hooks run once, even if the node is tried again."""
        grads = self.input_buffers[node][1:]
        if node in self.looked_at or (node._extra is None and node.is_plain and node not in self.captures):
            return grads
        unhooked = grads
        if hooks.has_tensor_hooks(node):
            grads = [self._raw(g) for g in hooks.run_tensor_hooks(node, [as_tensor(g) for g in grads])]
        runs = self.needed is None or node in self.needed
        for edge in self.captures.get(node, ()):  # as in PyTorch, hooks change a captured gradient only where the pass ends
            self.captured[edge] = unhooked[edge[1]] if runs else grads[edge[1]]
        hooks.retain(node, grads)
        if runs and node._extra is not None and node._extra.prehooks:
            given = tuple(as_tensor(g) for g in grads)
            grads = [self._raw(g) for g in hooks.run_for_all("pre", node._extra.prehooks, given)]
        self.looked_at.add(node)
        self.input_buffers[node][1:] = grads
        return grads

    def _finish(self, node: Node, grads: Sequence[Any], results: tuple[Any, ...], grad_inputs: Sequence[Any]) -> Done:
        """After the node has run: take it off the queue, free its saved tensors, deliver its gradients."""
        take(self.ready)
        node._passed = (small(grads), small(grad_inputs), node in self.starts)
        if not self.keep_graph:
            node._release()
        for i, after in enumerate(node._next):
            if after is not None:
                self._send(after, node._index[i], grad_inputs[i])
        return node, grads, results, grad_inputs

    def end(self) -> None:
        """At the end of the pass, run the callbacks. A callback may queue more."""
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
        """A gradient in the form of the pass: a tensor if the pass is recorded, else an array."""
        return grad._data if isinstance(grad, Tensor) and not self.create_graph else grad
