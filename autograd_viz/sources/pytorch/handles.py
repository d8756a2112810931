"""What a recorder knows of tensors and ops.

# Note [Who keeps what]
What is known of an op hangs on its node (`node.metadata`), and lives as long as the graph: nothing else has to be kept.
It must never refer to its own node, or the graph would never be freed: the place of a tensor in the graph is told by numbers.
A tensor without a node (and a leaf) is looked up among those that are alive; nothing here keeps it so. An op that cuts the
graph (detach) keeps what led to it until CUTS others did so, until the next does after a backward pass has freed it, or until
the next recording begins; one that never had a graph keeps its large inputs until LOOSE others did, or until then.
Nor may an op and its results refer to one another, or the elements would stay until the garbage collector comes: an op with a
node has its results; of one without, whoever has a result has the op.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import torch

from ...core.base.provenance import CUTS, UNTRACKED_DEPTH, Place
from ...runtime.alive import Alive
from ..values import FEW
from .parts import Inside
from .saved import is_freed
from .values import is_plain, outside_modes, shape_of

KEY = "autograd_viz"  # in node.metadata
clock = itertools.count(1)
_cuts: deque[weakref.ref[Event]] = deque()
LOOSE = 256  # ops without a node whose large inputs are kept
_loose: deque[weakref.ref[Event]] = deque()
seen: Alive[Handle] = Alive()  # what was seen of every tensor that is alive, but for parameters
latest_sequence = torch._C._autograd._get_sequence_nr


class Handle:
    """A tensor as an op has read or made it; changed in place, it is another.

    Attributes:
        values: the same elements outside the graph: a copy if there are few; None if they cannot be read.
        version: the version counter when it was seen.
        edge: sequence number of its grad_fn and which output it is; None for a leaf.
        is_leaf: it is a leaf that requires grad.
    """

    __slots__ = ("__weakref__", "_maker", "_ref", "dtype", "edge", "is_leaf", "requires_grad", "shape", "values", "version")

    def __init__(self, tensor: Any, maker: Event | None) -> None:
        # a parameter with a weak reference could not be swapped (`torch.utils.swap_tensors`); its graph keeps it anyway
        is_held = tensor.requires_grad and is_parameter(tensor)
        self._ref: Callable[[], Any] = partial(_itself, tensor) if is_held else weakref.ref(tensor)
        self._maker: Any = maker
        self.shape, self.dtype = shape_of(tensor), tensor.dtype
        self.edge: tuple[int, int] | None = None
        self.is_leaf = self.requires_grad = False
        self.version = version_of(tensor)
        self.values = _elements_of(tensor) if is_plain(tensor) else None

    def ref(self) -> Any:
        """The tensor itself, if it lives."""
        return alive(self._ref)

    @property
    def maker(self) -> Event | None:
        """The op that made it, if that was seen and is still known."""
        return self._maker() if isinstance(self._maker, weakref.ref) else self._maker

    def look(self, tensor: Any, node: Any) -> None:
        """See its place in the graph, which autograd gives it after the op has run."""
        self.edge, self.requires_grad, self.version = edge_numbers(tensor, node), tensor.requires_grad, version_of(tensor)
        self.is_leaf = self.edge is None and self.requires_grad

    @property
    def is_overwritten(self) -> bool:
        """Have the elements been changed since, without a copy?"""
        tensor = self.ref()  # not `values`: what is detached inside of a mode has a version counter of its own
        shares_memory = self.values is not None and self.values.numel() > FEW
        return shares_memory and tensor is not None and version_of(tensor) != self.version

    def has_copy_of(self, tensor: Any) -> bool:
        """Are `values` what was read, whatever became of the tensor? (Batch norm updates its buffers without counting.)"""
        is_constant = not self.requires_grad and self.values is not None and self.values.numel() <= FEW
        return is_constant and version_of(tensor) == self.version


class Event:
    """One op of the forward pass.

    Attributes:
        name: the op's name: "mul"; of a user's Function its class name.
        inputs: tensors, or Python numbers by their text.
        order: rises with time, as in `core.provenance`.
        inside: the modules and scopes in which it ran.
        is_tracked: grad mode was on.
        is_function: a user's Function.
        depth: how many ops without a node hang on this one.
        behind: the nodes of its inputs, if it cuts the graph (detach): what led there is kept as long as few others do so.
    """

    __slots__ = (
        "__weakref__", "_code", "_lasti", "_outputs", "behind", "depth", "inputs", "inside", "is_function", "is_tracked",
        "name", "order",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        inputs: tuple[Any, ...],
        at: FrameType | None,
        inside: Inside,
        is_tracked: bool,
        is_function: bool = False,
    ) -> None:
        self.name, self.inputs, self.inside = name, inputs, inside
        self._code = None if at is None else at.f_code
        self._lasti = 0 if at is None else at.f_lasti
        self.is_tracked, self.is_function = is_tracked, is_function
        self.order = (latest_sequence() - 1, next(clock))
        self._outputs: tuple[Any, ...] = ()
        self.behind: tuple[Any, ...] = ()
        self.depth = 1
        for h in inputs:
            if isinstance(h, Handle) and h.edge is None and h.maker is not None:
                self.depth = max(self.depth, h.maker.depth + 1)
        if self.depth > UNTRACKED_DEPTH:
            self.inputs, self.depth = tuple(h for h in inputs if isinstance(h, Handle) and h.maker is None), 0

    @property
    def place(self) -> Place | None:
        """Where in the user's code."""
        return None if self._code is None else Place(self._code, self._lasti)

    def made(self, handles: list[Handle]) -> None:
        """It has run, and these are its results."""
        self._outputs = tuple([weakref.ref(h) for h in handles])

    def has_node(self, result: Handle) -> None:
        """It has got a node, whose output a result is: it keeps the result from now on."""
        for i, kept in enumerate(self._outputs):
            if isinstance(kept, weakref.ref) and kept() is result:
                self._outputs = (*self._outputs[:i], result, *self._outputs[i + 1 :])
                result._maker = weakref.ref(self)

    @property
    def outputs(self) -> tuple[Handle | None, ...]:
        """The tensors that it made; None for one of which nothing is left."""
        return tuple(o() if isinstance(o, weakref.ref) else o for o in self._outputs)


def keep_behind(event: Event, has_passed: bool) -> None:
    """The op has no node: what led to its inputs is kept by it, until CUTS other ops do the same; its large inputs until LOOSE
    others do.

    Args:
        event: the op.
        has_passed: a backward pass, which frees what it has gone through, came after the op before it that was given here.
    """
    _loose.append(weakref.ref(event))
    _lighten(LOOSE)
    if event.behind:
        others = [cut for r in _cuts if (cut := r()) is not None and cut is not event]
        for earlier in others if has_passed else others[-1:]:  # which may have cut what was freed before
            if is_freed(earlier.behind):
                _forget(earlier)
        _cuts.append(weakref.ref(event))
        let_go(CUTS)


def _lighten(but: int = 0) -> None:
    """Of the ops without a node, all but the latest keep no elements of their large inputs: a live tensor has them."""
    while len(_loose) > but:
        event = _loose.popleft()()
        for handle in () if event is None else event.inputs:
            if isinstance(handle, Handle) and handle.edge is None and handle.values is not None and handle.values.numel() > FEW:
                handle.values = None


def begin_anew() -> None:
    """What earlier recordings have kept of cut graphs and of ops without a node is let go."""
    let_go()
    _lighten()


def let_go(but: int = 0) -> None:
    """Of the ops that keep a graph, all but the latest keep it no more."""
    while len(_cuts) > but:
        oldest = _cuts.popleft()()
        if oldest is not None:
            _forget(oldest)


def _forget(cut: Event) -> None:
    cut.inputs, cut.behind = (), ()


def is_parameter(tensor: Any) -> bool:
    """Does a module own it?"""
    return type(tensor) is not torch.Tensor and isinstance(tensor, torch.nn.Parameter)  # which PyTorch answers in Python


def _itself(tensor: Any) -> Any:
    return tensor


def alive(reference: Callable[[], Any]) -> Any:
    """The tensor of a weak reference, if it lives: what `TensorWeakRef` does, which is an object more for each."""
    tensor = reference()
    if tensor is not None:
        tensor._fix_weakref()
    return tensor


def _elements_of(tensor: Any) -> Any:
    """The elements of a tensor outside the graph: a copy if they are few."""
    with outside_modes():
        if tensor.numel() > FEW:
            return tensor.detach()
        return (tensor.detach() if tensor.requires_grad else tensor).clone()


def version_of(tensor: Any) -> int:
    """How often it was changed in place; 0 where that is not counted."""
    return 0 if tensor.is_inference() else tensor._version


def edge_numbers(tensor: Any, node: Any) -> tuple[int, int] | None:
    """The sequence number of its grad_fn, which is `node`, and which output of that op it is."""
    return None if node is None else (node._sequence_nr(), tensor.output_nr)


def current(tensor: Any) -> Handle | None:
    """What was seen of a tensor without a grad_fn, if it is still that."""
    handle = seen.get(tensor)
    is_same = handle is not None and handle.edge is None and handle.version == version_of(tensor)
    return handle if is_same and tensor.is_leaf else None
