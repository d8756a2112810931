"""A tensor that was changed in place has several boxes: one for each earlier value, and one for the present value."""

from __future__ import annotations

from bisect import bisect_left

from ...twin.core.op.former import formers
from ...twin.core.tensor.tensor import Tensor

Moment = tuple[int, int]  # Call.order, Node.order


class Versions:
    """Which version of a tensor an op read or made."""

    def __init__(self) -> None:
        self._known: dict[Tensor, tuple[list[Moment], list[Tensor]]] = {}

    def at(self, tensor: Tensor, moment: Moment) -> Tensor:
        """The tensor as it was right after `moment`."""
        if tensor._extra is None or tensor._extra.former is None:
            return tensor
        if tensor not in self._known:
            tensors = [tensor, *(t for t, _ in formers(tensor))][::-1]
            self._known[tensor] = ([_moment(t) for t in tensors[1:]], tensors)
        changed, tensors = self._known[tensor]
        return tensors[bisect_left(changed, (*moment, 1))]  # a change at `moment` itself is the op's own


def _moment(tensor: Tensor) -> Moment:
    return tensor._made_by.order if tensor._made_by is not None else (-1, 0)
