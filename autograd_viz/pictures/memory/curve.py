"""The memory of a backward pass at each of its calls. It is computed from shapes; no node runs.

# Note [What the curve counts]
While a node is called, these are alive:
- saved: activations whose last user has not run. From the first call in a checkpoint on, what that computes again.
  Parameters and inputs stay in memory anyway, so they are not counted.
- gradients: those that wait in the engine's input buffers, those that arrived at the node, and those that it makes. Some nodes
  send on what arrived, or a view of it: that is one block.
- grads: what AccumulateGrad has stored so far in leaves that had no grad. A leaf with a grad adds to it in place.
A checkpoint that computes again ends in an op whose inputs are there too: the call counts these or its new gradients, whichever
are more. Not counted: other memory that a node uses only while it runs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ...graph.model import Node
from ...graph.storages import ACTIVATION
from .facts import Facts, bytes_of

VIEWING = {
    "Alias", "Cat", "Permute", "Reshape", "ReshapeAlias", "Squeeze", "Stack", "Sum", "T", "Transpose", "Unflatten",
    "UnsafeView", "Unsqueeze", "View",
}  # fmt: skip
SAME = {"Add", "Clone", "Contiguous", "Expand", "Sub"}  # they send on what arrived, if its size fits
_KIND = re.compile(r"Backward\d*$")


@dataclass(frozen=True, slots=True)
class Moment:
    """One call of the pass: see Note [What the curve counts]."""

    node: str  # id of the node that is called
    saved: int
    gradients: int
    grads: int
    sent: int = 0  # of the gradients, those that it makes

    @property
    def bytes(self) -> int:
        """All together."""
        return self.saved + self.gradients + self.grads


class _Gradients:
    """The blocks of gradients in the engine, by where they wait."""

    def __init__(self) -> None:
        self.waiting: dict[tuple[str, int], int] = {}
        self._size: list[int] = []
        self._users: dict[int, int] = defaultdict(int)
        self.bytes = 0

    def new(self, size: int) -> int:
        """A new block, with one gradient in it."""
        self._size.append(size)
        self.bytes += size
        return self.more(len(self._size) - 1)

    def more(self, block: int) -> int:
        self._users[block] += 1
        return block

    def drop(self, block: int) -> None:
        self._users[block] -= 1
        if not self._users[block]:
            self.bytes -= self._size[block]

    def send(self, place: tuple[str, int], block: int, size: int) -> None:
        """A gradient arrives at an input buffer. A second one is added to the first, in place if nothing else uses it."""
        there = self.waiting.get(place)
        if there is None:
            self.waiting[place] = block
            return
        kept = next((b for b in (there, block) if self._users[b] == 1 and self._size[b] == size), None)
        self.waiting[place] = self.new(size) if kept is None else kept
        for b in (there, block):
            if b != kept:
                self.drop(b)


def curve_of(facts: Facts) -> list[Moment]:
    """The memory at each call."""
    sizes, ends = _sizes(facts), _ends(facts)
    begins = [0] * len(ends)
    passing: dict[int, int] = {}  # by call, bytes of inputs of its op that nobody saves
    for first, last in _computed_again(facts):
        passing[first] = unsaved_inputs(facts, facts.nodes[facts.calls[first]], last)
        for tensor, end in last.items():
            begins[first] += (size := bytes_of(facts.tensors[tensor].value))
            ends[end] += size
    saved, grads, gradients, found = facts.bytes(ACTIVATION), 0, _Gradients(), list[Moment]()
    for t in (facts.tensors[root] for root in facts.document.roots):
        place = (next(iter(facts.calls), ""), 0) if t.grad_fn is None else (t.grad_fn, t.output_nr)
        if place in sizes:
            gradients.waiting[place] = gradients.new(sizes[place])
    for i, id in enumerate(facts.calls):
        node = facts.nodes[id]
        saved += begins[i]
        arrived = {k: block for k in range(node.outputs) if (block := gradients.waiting.pop((id, k), None)) is not None}
        before = gradients.bytes
        sent = [_sent(gradients, node, k, arrived, sizes) for k in range(len(node.next_functions))]
        made = gradients.bytes - before
        found.append(Moment(id, saved + max(0, passing.get(i, 0) - made), gradients.bytes, grads, made))
        if arrived and node.variable is not None and facts.tensors[node.variable].grad is None:
            grads += sizes.get((node.id, 0), 0)  # of the grad that AccumulateGrad makes
        for f, block in zip(node.next_functions, sent, strict=True):
            if block is not None and f.node is not None:
                gradients.send((f.node, f.index), block, sizes.get((f.node, f.index), 0))
        for block in arrived.values():
            gradients.drop(block)
        saved -= ends[i]
    return found


def _sizes(facts: Facts) -> dict[tuple[str, int], int]:
    """The bytes of the gradient at each output of a node's op."""
    sizes = {(t.grad_fn, t.output_nr): bytes_of(t.value) for t in facts.document.tensors if t.grad_fn is not None}
    leaves = {(n.id, 0): bytes_of(facts.tensors[n.variable].value) for n in facts.document.nodes if n.variable is not None}
    return sizes | leaves


def _ends(facts: Facts) -> list[int]:
    """The bytes that each call frees: those of activations that no later call uses."""
    ends = [0] * len(facts.calls)
    for h in facts.holdings:
        if h.storage.kind == ACTIVATION:
            ends[max(facts.place[u.node] for u in h.storage.uses)] += h.storage.bytes
    return ends


def _sent(gradients: _Gradients, node: Node, k: int, arrived: dict[int, int], sizes: dict[Any, int]) -> int | None:
    """The block of the gradient that leaves along an edge; None if there is none."""
    f = node.next_functions[k]
    if f.node is None or not arrived:
        return None
    size, kind = sizes.get((f.node, f.index), 0), _KIND.sub("", node.name)
    first = next(iter(arrived.values()))
    is_same = kind in SAME and size == sizes.get((node.id, 0)) and not (kind == "Sub" and k)
    return gradients.more(first) if kind in VIEWING or is_same else gradients.new(size)


_RESULT = re.compile(r"(?:result|output)(\d*)$")


def _computed_again(facts: Facts) -> Iterator[tuple[int, dict[str, int]]]:
    """For each checkpoint: the call at which it computes again, and by tensor the last call that uses it."""
    for checkpoint in facts.again:
        last: dict[str, int] = {}
        called = [(facts.place[node], node, name) for node, name in checkpoint.saved if node in facts.place]
        for call, node, name in called:
            last |= {tensor: max(last.get(tensor, 0), call) for tensor in _tensors(facts, node, name)}
        if called:
            yield min(call for call, _, _ in called), last


def unsaved_inputs(facts: Facts, node: Node, saved: Collection[str] = ()) -> int:
    """The bytes of what an op is given and no node saves, as far as other ops made it."""
    op = facts.ops.get(node.op or "")
    sources = {facts.viewed(o.tensor) for o in ([] if op is None else op.inputs) if o.tensor is not None}
    passing = (t for t in sources if t in facts.makers and t not in facts.held and t not in saved)
    return sum(bytes_of(facts.tensors[t].value) for t in passing)


def _tensors(facts: Facts, node: str, name: str) -> Iterator[str]:
    """The tensors that a saved value may be, if nothing else holds them."""
    op = facts.ops.get(facts.nodes[node].op or "")
    if op is None:
        return
    result = _RESULT.match(name)
    found = [o.tensor for o in op.inputs] if result is None else op.outputs[(at := int(result[1] or 0)) : at + 1]
    for source in (facts.viewed(tensor) for tensor in found if tensor is not None):
        if source in facts.makers and source not in facts.held:
            yield source
