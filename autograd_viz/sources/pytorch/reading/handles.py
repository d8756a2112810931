"""What a recorder knows of tensors and ops.

# Note [Who keeps what]
The record of an op is stored on its node (`node.metadata`) and lives as long as the graph. Three rules follow:
- A record on a node never refers to the node: the graph would never be freed. Numbers tell a tensor's place in the graph.
- A tensor without a node, and a leaf, is found among the live tensors. Nothing here keeps it alive.
- An op and its results do not refer to each other: the elements would wait for the garbage collector. An op with a node has its
  results. For an op without a node, a result has the op.

# Note [Ops without a node]
An op that detaches its result (detach) keeps the graph behind its input, until CUTS others have run; if a backward pass has
freed that graph, only until the next such op. An op that never had a graph keeps its large inputs, until LOOSE others have run.
All of this is dropped when the next recording begins.

# Note [Few objects]
The garbage collector scans every object of every op, again and again. So a handle is itself the weak reference to its tensor.
What can be read from the elements is not stored.
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
from torch import nn

from ....twin.core.base.provenance import CUTS, UNTRACKED_DEPTH, Place
from ...shared.values import FEW
from .calls import Inside
from .nodes import is_leaf
from .saved import is_freed
from .values import is_plain, outside_modes, shape_of

KEY = "autograd_viz"  # in node.metadata
IN_MODULE = 1 / 32  # so much of `UNTRACKED_DEPTH` is an op in a module: a frozen tower has many
clock = itertools.count(1)
latest_sequence = torch._C._autograd._get_sequence_nr


class Handle(weakref.ref[Any]):
    """A tensor as an op has read or made it; after an in-place change another. The first one is a weak reference to it."""

    __slots__ = (
        "__weakref__", "_looks", "_maker", "_of", "argument", "is_leaf", "output_nr", "requires_grad", "sequence", "values",
        "version",
    )  # fmt: skip
    __hash__, __eq__, __ne__ = object.__hash__, object.__eq__, object.__ne__
    _maker: Any
    _of: Callable[[], Any] | None
    _looks: Any
    argument: str | None  # what a model calls it as its input, or ""; None if nobody has looked
    values: Any  # the same elements outside the graph: a copy if there are few; None if they cannot be read
    version: int  # the version counter at that time
    sequence: int | None  # the sequence number of its grad_fn; None for a leaf
    output_nr: int  # which output of the grad_fn
    is_leaf: bool  # it is a leaf that requires grad
    requires_grad: bool

    def ref(self) -> Any:
        """The tensor itself, if it is alive."""
        return alive(self if self._of is None else self._of)

    @property
    def edge(self) -> tuple[int, int] | None:
        """The sequence number of its grad_fn, and the output number; None for a leaf."""
        return None if self.sequence is None else (self.sequence, self.output_nr)

    @property
    def is_told(self) -> bool:
        """Are its sizes and type known?"""
        return self.values is not None or self._looks is not None

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes."""
        return shape_of(self.values) if self._looks is None else self._looks[0]

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        return self.values.dtype if self._looks is None else self._looks[1]

    @property
    def maker(self) -> Event | None:
        """The op that made it, if it was recorded and is still known."""
        return self._maker() if type(self._maker) is weakref.ref else self._maker

    def is_output(self, tensor: Any, node: Any) -> bool:
        """Is the tensor, whose grad_fn is `node`, still at the same place in the graph?"""
        if node is None:
            return self.sequence is None
        return self.sequence == node._sequence_nr() and self.output_nr == tensor.output_nr  # type: ignore[no-any-return]

    def look(self, tensor: Any, node: Any) -> None:
        """Note its place in the graph. Autograd sets it after the op has run."""
        self.requires_grad, self.version = tensor.requires_grad, version_of(tensor)
        if node is None:
            self.sequence, self.is_leaf = None, self.requires_grad
        else:
            self.sequence, self.output_nr, self.is_leaf = node._sequence_nr(), tensor.output_nr, False

    def lighten(self) -> None:
        """Drop the elements."""
        self._looks, self.values = (self.shape, self.dtype), None

    @property
    def is_overwritten(self) -> bool:
        """Have the elements been changed since, and is there no copy?"""
        tensor = self.ref()  # not `values`: a tensor detached inside a mode has its own version counter
        shares_memory = self.values is not None and self.values.numel() > FEW
        return shares_memory and tensor is not None and version_of(tensor) != self.version

    def has_copy_of(self, tensor: torch.Tensor) -> bool:
        """Do `values` equal the elements of the tensor? (Batch norm updates its buffers and leaves their version as it is.)"""
        is_constant = not self.requires_grad and self.values is not None and self.values.numel() <= FEW
        return is_constant and version_of(tensor) == self.version


class _Again(weakref.ref[Any]):
    """A weak reference shared by several handles of one tensor. Many weak references to one tensor would be slow to search."""

    __slots__ = ("latest",)
    __hash__, __eq__, __ne__ = object.__hash__, object.__eq__, object.__ne__
    latest: Handle


_seen: set[Handle | _Again] = set()  # one for each live tensor, except parameters
_dies = _seen.discard  # C code: see Note [No line of Python when a thing dies] in runtime/alive.py
_nothing = nn.Module()  # the weak referent of a handle that finds its tensor in another way


def seen(tensor: object) -> Handle | None:
    """The latest handle of a tensor."""
    for known in weakref.getweakrefs(tensor):
        if type(known) is Handle and known in _seen:
            return known
        if type(known) is _Again and known in _seen:
            return known.latest
    return None


def see(tensor: torch.Tensor, maker: Event | None) -> Handle:
    """Make the latest handle of a tensor."""
    if is_parameter(tensor):
        # a tensor with a weak reference could not be swapped (`torch.utils.swap_tensors`); its graph keeps it alive anyway
        handle = Handle(_nothing)
        handle._of = partial(_itself, tensor) if tensor.requires_grad else weakref.ref(tensor)
    elif (before := seen(tensor)) is None:
        handle = Handle(tensor, _dies)
        handle._of = None
        _seen.add(handle)
    else:
        handle = Handle(_nothing)
        handle._of = weakref.ref(tensor)  # shared by all its handles
        entry = next((r for r in weakref.getweakrefs(tensor) if type(r) is _Again and r in _seen), None)
        if entry is None:
            _dies(before)
            entry = _Again(tensor, _dies)
            _seen.add(entry)
        entry.latest = handle
    handle._maker, handle.sequence, handle.output_nr, handle.is_leaf, handle.requires_grad = maker, None, 0, False, False
    handle.argument, handle.version = None, version_of(tensor)
    handle.values = _elements_of(tensor) if is_plain(tensor) else None
    handle._looks = None if handle.values is not None else (shape_of(tensor), tensor.dtype)
    return handle


def stand_for(tensor: Any, maker: Event, requires_grad: bool) -> Handle:
    """A handle that `seen` does not find, of a result that nobody has recorded; `tensor` is None if it is gone."""
    handle = Handle(_nothing)
    handle._of, handle._maker, handle.sequence, handle.output_nr = partial(_itself, tensor), maker, None, 0
    handle.is_leaf, handle.requires_grad, handle.argument = False, requires_grad, None
    handle.version = 0 if tensor is None else version_of(tensor)
    handle.values, handle._looks = None, None if tensor is None else (shape_of(tensor), tensor.dtype)
    return handle


def _itself(tensor: Any) -> Any:
    return tensor


class Event:
    """One op of the forward pass."""

    __slots__ = (
        "__weakref__", "_code", "_lasti", "_outputs", "behind", "depth", "inputs", "inside", "is_function", "is_tracked",
        "name", "sequence", "tick",
    )  # fmt: skip

    def __init__(
        self,
        name: str,  # "mul"; of a user's Function its class name
        inputs: tuple[Any, ...],  # tensors, or Python numbers by their text
        at: FrameType | None,
        inside: Inside,  # the modules and scopes in which it ran
        is_tracked: bool,  # grad mode was on
        is_function: bool = False,  # a user's Function
        is_part: bool = False,  # a module ran it
    ) -> None:
        self.name, self.inputs, self.inside = name, inputs, inside
        self._code = None if at is None else at.f_code
        self._lasti = 0 if at is None else at.f_lasti
        self.is_tracked, self.is_function = is_tracked, is_function
        self.sequence, self.tick = latest_sequence() - 1, next(clock)  # they rise with time, as in `core.provenance`
        self._outputs: Any = ()  # one, or several: a handle, or a weak reference to it
        self.behind: tuple[Any, ...] = ()  # nodes of its inputs, if it detaches its result; Note [Ops without a node]
        # how many ops without a node depend on this one
        self.depth = step = IN_MODULE if is_part else 1.0
        for h in inputs:
            if type(h) is Handle and h.sequence is None and (maker := h.maker) is not None and maker.depth + step > self.depth:
                self.depth = maker.depth + step
        if self.depth > UNTRACKED_DEPTH:
            self.inputs, self.depth = tuple(h for h in inputs if isinstance(h, Handle) and h.maker is None), 0.0

    @property
    def order(self) -> tuple[int, int]:
        """Rises with time."""
        return self.sequence, self.tick

    @property
    def place(self) -> Place | None:
        """The place in the user's code."""
        return None if self._code is None else Place(self._code, self._lasti)

    def made(self, handles: list[Handle]) -> None:
        """It has run, and these are its results."""
        self._outputs = weakref.ref(handles[0]) if len(handles) == 1 else tuple([weakref.ref(h) for h in handles])

    def has_node(self, result: Handle) -> None:
        """It has a node now, and keeps its result: an output of the node."""
        before = self._outputs
        if type(before) is tuple:
            for i, kept in enumerate(before):
                if type(kept) is weakref.ref and kept() is result:
                    self._outputs = (*before[:i], result, *before[i + 1 :])
                    result._maker = weakref.ref(self)
        elif type(before) is weakref.ref and before() is result:
            self._outputs, result._maker = result, weakref.ref(self)

    @property
    def outputs(self) -> tuple[Handle | None, ...]:
        """The tensors that it made; None for one that is gone."""
        several = self._outputs if type(self._outputs) is tuple else (self._outputs,)
        return tuple(o() if type(o) is weakref.ref else o for o in several)


def is_parameter(tensor: object) -> bool:
    """Is it a parameter?"""
    return type(tensor) is not torch.Tensor and isinstance(tensor, torch.nn.Parameter)  # PyTorch's isinstance is slow


def alive(reference: Callable[[], Any]) -> Any:
    """The tensor of a weak reference, if it is alive. `TensorWeakRef` does the same, with one object more for each."""
    tensor = reference()
    if tensor is not None:
        tensor._fix_weakref()
    return tensor


def _elements_of(tensor: torch.Tensor) -> Any:
    """The elements of a tensor outside the graph: a copy if they are few."""
    with outside_modes():
        if tensor.numel() > FEW:
            return tensor.detach()
        return (tensor.detach() if tensor.requires_grad else tensor).clone()


def version_of(tensor: Any) -> int:
    """The version counter; 0 if the tensor has none."""
    return 0 if tensor.is_inference() else tensor._version


def current(tensor: object) -> Handle | None:
    """The latest handle of a tensor without a grad_fn, if the tensor has not changed since."""
    handle = seen(tensor)
    is_same = handle is not None and handle.sequence is None and handle.version == version_of(tensor)
    return handle if is_same and is_leaf(tensor) else None


LOOSE = 256  # ops without a node that keep their large inputs
_cuts: deque[weakref.ref[Event]] = deque()
_loose: deque[weakref.ref[Event]] = deque()


def keep_behind(event: Event, has_passed: bool) -> None:
    """Let an op without a node keep what Note [Ops without a node] says. `has_passed`: a pass has freed its graph since."""
    _loose.append(weakref.ref(event))
    _lighten(LOOSE)
    if event.behind:
        others = [cut for r in _cuts if (cut := r()) is not None and cut is not event]
        for earlier in others if has_passed else others[-1:]:  # the latest may have detached from a freed graph
            if is_freed(earlier.behind):
                _forget(earlier)
        _cuts.append(weakref.ref(event))
        let_go(CUTS)


def _lighten(but: int = 0) -> None:
    """Drop the elements of large inputs of ops without a node, except for the latest. A live tensor has its own elements."""
    while len(_loose) > but:
        event = _loose.popleft()()
        for handle in () if event is None else event.inputs:
            if type(handle) is Handle and handle.sequence is None and handle.values is not None and handle.values.numel() > FEW:
                handle.lighten()


def begin_anew() -> None:
    """Drop what earlier recordings have kept of detached graphs and of ops without a node."""
    let_go()
    _lighten()


def let_go(but: int = 0) -> None:
    """Drop the graphs that ops keep, except for the latest."""
    while len(_cuts) > but:
        oldest = _cuts.popleft()()
        if oldest is not None:
            _forget(oldest)


def _forget(cut: Event) -> None:
    cut.inputs, cut.behind = (), ()
