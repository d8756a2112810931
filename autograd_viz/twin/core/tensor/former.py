"""The value of a tensor before an in-place change. A picture shows the values that an op read, not the present ones."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..base.provenance import UNTRACKED_DEPTH, Call, callers_place
from .tensor import Tensor

FEW = 64  # elements; of a larger tensor only the old history is kept


class Overwritten(Tensor):
    """A former tensor whose values were not kept: shape, type and history. It stands in pictures; ops never see it."""

    __slots__ = ()


class Former(NamedTuple):
    """A tensor before an in-place change: the same history, and the values if there were few."""

    tensor: Tensor | weakref.ref[Tensor]  # weak if the tensor has left the graph
    version: int
    earlier: Former | None  # of the change before


def history_of(tensor: Tensor, twin: Tensor) -> Tensor:
    """Give `twin` the history of `tensor`, and return it."""
    twin._requires_grad, twin._node, twin._output_nr = tensor.requires_grad, tensor._node, tensor._output_nr
    twin._made_by = tensor._made_by
    return twin


def as_it_is(tensor: Tensor) -> Tensor:
    """A copy of `tensor` with its history, for pictures. Of a large tensor it has no values."""
    return history_of(tensor, Tensor(tensor._data.copy("K")) if tensor._data.size <= FEW else gone(tensor))


def gone(tensor: Tensor) -> Overwritten:
    """Shape and type of `tensor`, without its values or history."""
    return Overwritten(np.broadcast_to(np.zeros((), tensor._data.dtype), tensor._data.shape))


def remember(tensor: Tensor, former: Tensor, version: int) -> None:
    """Remember the former value of `tensor`. At the end of a chain of untracked calls, older values are forgotten."""
    more, made_by = tensor._more, former._made_by
    ends = type(made_by) is Call and made_by.depth == 0
    more.former = Former(former, version, None if ends else more.former)


def remember_before_sum(grad: Tensor) -> None:
    """A pass adds to a grad in place that something else holds: for an op that has read it, the former value stays."""
    former = as_it_is(grad)
    remember(grad, former, grad._version)
    grad._made_by = Call("AccumulateGrad", (), None, callers_place())
    depth = (0 if former._made_by is None else former._made_by.depth) + 1
    grad._made_by.depth = depth if depth <= UNTRACKED_DEPTH else 0


def forget_history(tensor: Tensor) -> None:
    """The tensor leaves the graph. Its former value lives only while others hold its grad_fn, which keeps the value."""
    node, more = tensor._node, tensor._more
    if node is None:
        more.former = None
        return
    twin = history_of(tensor, Tensor(tensor._data))
    tensor._made_by = Call("Detach", (), None, callers_place())
    tensor._made_by.depth = 1  # not the end of a chain, so `remember` keeps older values
    twin._more.former = more.former
    node._more_of().detached.append(twin)
    more.former = Former(weakref.ref(twin), tensor._version, None)


def values_at(tensor: Tensor, version: int) -> Tensor | None:
    """The former value of `tensor` at a version, if it was kept."""
    found = next((t for t, then in formers(tensor) if then <= version), None)
    return None if found is None or isinstance(found, Overwritten) else found


def formers(tensor: Tensor) -> Iterator[tuple[Tensor, int]]:
    """The former values of the tensor, each with its version, latest first."""
    former = tensor._extra.former if tensor._extra is not None else None
    while former is not None:
        known = former.tensor() if isinstance(former.tensor, weakref.ref) else former.tensor
        if known is not None:
            yield known, former.version
        former = former.earlier if known is None or known._extra is None else known._extra.former
