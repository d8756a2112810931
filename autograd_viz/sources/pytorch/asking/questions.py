"""A question about a PyTorch tensor: which graph is meant, what only the live graph knows, and the last pass run again.

# Note [Changed since]
After `optimizer.step()` saved weights are at a later version, and PyTorch would refuse them. During the replay their version
counters are set back. The weights have their present values, and the answer says so.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.autograd.graph import Node

from ....graph.model import Value
from ....graph.passes import Changed
from ....graph.surroundings import Source
from ....graph.trace import Step
from ....runtime.interrupts import whole
from ...shared.finite_differences import disagrees
from ...shared.names import names_by_identity
from ...shared.questions import Access, Live, numbers_of, roots_among
from ...shared.replacement import is_own_hook, name_of_hook
from ...shared.source_code import definition_of
from ..reading import older
from ..reading.graph import TorchGraph, is_tensor
from ..reading.handles import version_of
from ..reading.hooked import tensors_with_hooks
from ..reading.hooks import dict_of
from ..reading.nodes import edge_of, grad_fn_of, grad_of, is_accumulate, outputs_of, reach, variable_of
from ..reading.op_pages import op_of_node
from ..reading.saved import VERSION, VERSIONS, reading, saved_of, saved_tensors
from ..reading.values import array_in, unseen
from ..recording.watch import own_code
from ..stepping.node_pass import TorchPass
from .history import TorchHistory

MOST = 20_000  # nodes of the largest pass that is run again
MOST_READ = 4_000_000  # elements of a saved tensor that is read


class Replay(NamedTuple):
    """What a pass sent when it ran again."""

    numbers: Mapping[str, Value | None]
    changed: tuple[Any, ...]


def replay(graph: TorchGraph, root: torch.Tensor, gradient: torch.Tensor | None) -> Replay:
    """What ``root.backward(gradient)`` sends through a kept graph, up to a saved tensor that is gone. It is taken back."""
    if len(graph.nodes) > MOST:
        return Replay({}, ())
    then = versions_then(graph.nodes)
    try:
        live = KeptPass(graph, root, gradient, then)
    except RuntimeError:  # no pass can start there
        return Replay({}, ())
    done = 0
    with live.untouched(), whole():
        try:
            with suppress(Exception):  # a saved tensor is gone, or the user's code raised: the steps before it count
                while live.advance() is not None:
                    done += 1
            numbers = numbers_of(live.seen(), graph.node_ids)
            numbers = {at: value for at, value in numbers.items() if not at.startswith("before:")}  # a grad of now
        finally:  # also after Ctrl-C
            for index in reversed(range(done)):
                live.undo(index)
    return Replay(numbers, tuple(then))


class KeptPass(TorchPass):
    """A pass that has run, and runs again. Leaves that have changed since count as unchanged."""

    def __init__(self, graph: TorchGraph, root: torch.Tensor, gradient: torch.Tensor | None, then: Mapping[Any, int]) -> None:
        self._then = then
        with as_it_was(then):
            super().__init__(graph, root, gradient, True, False)

    def advance(self) -> Step | None:
        """Run one node for real."""
        with as_it_was(self._then):
            return super().advance()

    def redo(self, index: int) -> bool:
        """Do a step again."""
        with as_it_was(self._then):
            return super().redo(index)

    def lost(self, node: Node) -> dict[str, str]:
        """The saved tensors that the replay cannot use either."""
        with as_it_was(self._then):
            return super().lost(node)


def last_pass(
    root: torch.Tensor, gradient: torch.Tensor | None, variables: Mapping[str, Any]
) -> tuple[TorchGraph, Callable[[], KeptPass], list[str]]:
    """The pass that was kept: its graph, a maker of a pass through it, and the names of leaves changed since."""
    then = versions_then(reach([edge_of(root)[0]]))
    with as_it_was(then):
        graph = TorchGraph((root,), variables, opens=False)
    return graph, lambda: KeptPass(graph, root, gradient, then), [graph.names.get(leaf) or "" for leaf in then]


@unseen
def versions_then(nodes: Iterable[Any]) -> dict[Any, int]:
    """The leaves that have changed since nodes saved them, with their old versions."""
    nodes = list(nodes)
    leaves = {v: n for n in nodes if (v := variable_of(n)) is not None and not v.is_inference()}
    now = {v: v._version for v in leaves}
    then = {v: known for v, n in leaves.items() if (known := n.metadata.get(VERSION, now[v])) != now[v]}
    try:
        with reading():
            for node in nodes:
                _find(node, now, then)
    finally:
        older.set_versions({v: now[v] for v in then})
    return then


def _find(node: Node, now: Mapping[Any, int], then: dict[Any, int]) -> None:
    """Find the versions that the node accepts: set back each one that it refuses."""
    for _ in now:
        try:
            saved_tensors(node, quiet=False)
            return
        except (RuntimeError, AttributeError) as error:
            found = VERSIONS.search(str(error))
        fits = [v for v in now if found is not None and v not in then and v._version == int(found.group(1))]
        if found is None or not fits:
            return
        then.update(dict.fromkeys(fits, int(found.group(2))))
        older.set_versions(dict.fromkeys(fits, int(found.group(2))))


@unseen
def _versions(leaves: Iterable[Any]) -> dict[Any, int]:
    return {v: v._version for v in leaves}


@contextmanager
def as_it_was(then: Mapping[Any, int]) -> Iterator[None]:
    """Inside, leaves have their old versions, and closed nodes give what they have saved."""
    now = _versions(then)
    older.set_versions(then)
    try:
        with reading():
            yield
    finally:
        older.set_versions(now)


ACCESS = Access(
    is_tensor=is_tensor,
    grad_fn=grad_fn_of,
    end=lambda t: edge_of(t)[0],
    after=lambda node: [after for after, _ in node.next_functions if after is not None],
    order=lambda node: node._sequence_nr(),
    size=lambda t: t.numel(),
    passes=lambda t: [],
    is_computed=lambda t: bool(not t.requires_grad and t.numel() == 1 and t.dtype.is_floating_point),
)


roots_for = unseen(partial(roots_among, access=ACCESS))


class TorchLive(Live):
    """`reasons.Live` for a PyTorch graph. PyTorch remembers neither its passes nor who changed what."""

    @unseen
    def __init__(self, graph: TorchGraph, variables: Mapping[str, Any], history: TorchHistory) -> None:
        super().__init__(graph)
        self._history = history
        self._known = names_by_identity(variables, is_tensor)

    @cached_property
    def _hooked(self) -> list[Any]:
        return [t for t in tensors_with_hooks() if grad_fn_of(t) in self._graph.nodes]

    def has_run(self, node: str) -> bool | None:
        """Has a stepper called it? PyTorch's nodes do not remember their calls."""
        return True if self._nodes[node] in self._seen else None

    def numbers(self) -> dict[str, Value | None]:
        """The numbers that a stepper saw. PyTorch itself keeps no gradient of a pass."""
        return numbers_of(self._seen, self._graph.node_ids)

    def _leaf_behind(self, node: str, version: int) -> str | None:
        """The leaf of that version given to the node or the view before it; for PyTorch up to 2.12, which tells no tensor."""
        near = [after for after, _ in self._nodes[node].next_functions if after is not None]
        behind = [*near, *(after for n in near for after, _ in n.next_functions if after is not None)]
        leaves = [v for n in behind if (v := getattr(n, "variable", None)) is not None and version_of(v) == version]
        return next((name for name, t in self._known for v in leaves if t is v), None)

    @unseen
    def changed(self, node: str, saved: str) -> Changed | None:
        """The present version, and a variable that shares the memory."""
        found = next((k for k in saved_of(self._nodes[node]) if k.name == saved), None)
        kept = None if found is None else found.value
        if found is not None and kept is None and found.versions is not None:
            return Changed(self._leaf_behind(node, found.versions[0]), found.versions[0], None)
        if not isinstance(kept, torch.Tensor) or kept.layout is not torch.strided or kept.is_inference():
            return None
        place = kept.untyped_storage().data_ptr()
        same = (n for n, t in self._known if t.layout is torch.strided and t.untyped_storage().data_ptr() == place)
        return Changed(next(same, None), kept._version, None)

    @unseen
    def zero_rows(self, tensor: str) -> tuple[int, ...]:
        """Rows of grad that hold only zeros; empty if there is no grad."""
        t = self._graph.tensors.get(tensor)
        grad = None if t is None else grad_of(t)
        if grad is None or grad.layout is not torch.strided or grad.dim() < 2:
            return ()
        return tuple((~grad.detach().reshape(grad.shape[0], -1).any(dim=1)).nonzero().flatten().tolist())

    @unseen
    def grad_changed(self, tensor: str) -> Changed | None:
        """How grad was changed, if its version counter has moved: by accumulation, or at a recorded line."""
        t = self._graph.tensors.get(tensor)
        grad = None if t is None else grad_of(t)
        events = [] if grad is None else self._history.events_of(grad, "written")
        source = events[-1].source if events else None
        return Changed(None, version, source) if grad is not None and (version := version_of(grad)) else None

    @unseen
    def written_before_pass(self, node: str, saved: str) -> Any:
        """Known if the op was recorded and the pass is kept."""
        op, last = op_of_node(self._nodes[node]), [*self._history.passes][-1:]
        kept = self._kept(node, saved)
        is_known = op is not None and isinstance(kept, torch.Tensor) and last and not last[0].error
        known = self._history.events_of(kept, "written") if is_known else []
        return next((e for e in known if op is not None and op.number < e.number < last[0].number), None)

    def _kept(self, node: str, saved: str) -> Any:
        with reading():
            return next((k.value for k in saved_of(self._nodes[node]) if k.name == saved), None)

    @unseen
    def repeated(self, node: str, saved: str) -> tuple[int, ...]:
        """By its strides."""
        kept = self._kept(node, saved)
        if not isinstance(kept, torch.Tensor) or kept.layout != torch.strided:
            return ()
        return tuple(d for d, (n, stride) in enumerate(zip(kept.shape, kept.stride(), strict=True)) if n > 1 and stride == 0)

    @unseen
    def data_made(self, node: str, saved: str) -> Any:
        """Known while the tensor lives."""
        kept = self._kept(node, saved)
        return None if not isinstance(kept, torch.Tensor) else self._history.data_made(kept) or self._history.made_anew(kept)

    @unseen
    def kept(self, node: str, saved: str) -> Any:
        """Read on its device, and copied."""
        found = self._kept(node, saved)
        found = found[0] if isinstance(found, tuple) and len(found) == 1 else found  # the index of an index_put
        is_plain = isinstance(found, torch.Tensor) and found.layout is torch.strided and found.numel() <= MOST_READ
        return array_in(found.detach()) if is_plain else None

    @unseen
    def lost(self, node: str, saved: str) -> Any:
        """Known while the tensor lives."""
        return self._history.lost(self._kept(node, saved))

    @unseen
    def ordered(self, node: str, saved: str) -> Any:
        """Known while the tensor lives."""
        return self._history.ordered(self._kept(node, saved))

    @unseen
    def is_data(self, tensor: str) -> bool:
        """It is known where the tensor was made, or written; buffers of modules are written elsewhere."""
        t = self._graph.tensors.get(tensor)
        is_seen = t is not None and bool(self._history.events_of(t, "made", "written") or self._history.data_made(t))
        return is_seen and self._history.op_of(t) is None

    @unseen
    def made_of_data(self, tensor: str) -> Any:
        """Known while the tensor lives."""
        return self._history.data_made(self._graph.tensors.get(tensor))

    def called_as(self, node: str) -> str:
        """It may have made several nodes: those of a GRU."""
        op = op_of_node(self._nodes[node])
        return "" if op is None else op.name

    def disagrees(self, node: str, given: list[str]) -> bool | None:
        """Runs it again, as a program that nobody records."""
        function = getattr(self._nodes[node], "_forward_cls", None)
        with own_code():
            found = None if function is None else _inputs_of(self._nodes[node], [self._graph.tensors.get(id) for id in given])
            return None if function is None or found is None else disagrees(torch, function, *found)

    def written_at(self, node: str) -> Source | None:
        """The line of the `def backward` (or `vjp`) of a user's Function."""
        function = getattr(self._nodes[node], "_forward_cls", None)
        if function is None:
            return None
        is_plain = function.backward is not torch.autograd.Function.backward
        return definition_of(function.backward if is_plain else function.vjp)

    @unseen
    def hooks(self, node: str) -> tuple[str, ...]:
        """The hooks of the tensors that arrive at the node, and the hooks of the node."""
        n = self._nodes[node]
        tensors = [variable_of(n)] if is_accumulate(n) else [t for t in self._hooked if grad_fn_of(t) is n]
        kinds = ("_backward_hooks", "_post_accumulate_grad_hooks")
        found = [h for t in tensors for kind in kinds for h in (getattr(t, kind, None) or {}).values()]
        found += [*dict_of(n.register_prehook).values(), *dict_of(n.register_hook).values()]
        return tuple(name_of_hook(h) for h in found if not is_own_hook(h))


MOST_GIVEN = 200_000  # elements of all inputs
PLAIN = (bool, int, float, str, tuple, list, type(None))


@unseen
def _inputs_of(node: Any, known: list[Any]) -> tuple[list[Any], list[int]] | None:
    """The arguments of forward(), tensors as arrays; and which of them had a gradient. None if they cannot be told.

    What a node has not kept has the right shape and values between 0.1 and 1, where most functions are defined.
    """
    with reading():
        kept = [k.value for k in saved_of(node) if isinstance(k.value, torch.Tensor)]
    edges, given, wanted = list(node.next_functions), list[Any](), list[int]()
    data = [t for t in kept if not t.requires_grad]  # in the order of the inputs, as most programs save them
    arguments, without = _arguments(node), sum(edge is None for edge, _ in edges)  # arguments without a gradient
    if sum(is_one for _, is_one in arguments) != len(edges) or len(data) < without:
        return None
    for value, is_one in arguments:
        if not is_one:
            given.append(value)
            continue
        edge, index = edges.pop(0)
        if edge is None:
            given.append(array_in(data.pop(0)))
            continue
        there = next((t for t in (*kept, *known) if t is not None and edge_of(t) == (edge, index)), None)
        wanted.append(len(given))
        given.append(_made_up(outputs_of(edge)[index].shape) if there is None else array_in(there.detach()))
    size = sum(a.size for a in given if isinstance(a, np.ndarray))
    return (given, wanted) if wanted and size <= MOST_GIVEN and all(a is not None for a in given) else None


def _arguments(node: Any) -> list[tuple[Any, bool]]:
    """For each argument of forward(): its value on ctx, or else its default, if that is a plain one; and is it a tensor?"""
    function = node._forward_cls
    has_context = function.setup_context is torch.autograd.Function.setup_context
    parameters = [*inspect.signature(function.forward).parameters.values()][has_context:]
    held = {p.name: p.default for p in parameters if p.default is not None and isinstance(p.default, PLAIN)}
    held |= {k: v for k, v in vars(node).items() if isinstance(v, PLAIN)}
    return [(held.get(p.name), p.name not in held) for p in parameters]


def _made_up(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(0).uniform(0.1, 1.0, shape if math.prod(shape) <= MOST_GIVEN else (1,))
