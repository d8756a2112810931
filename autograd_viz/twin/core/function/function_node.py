"""The backward node of a user-defined op."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backward.node import Node, Wanted
from ..backward.saved import FREED, FREED_MESSAGE, SavedTensor, raw
from ..base import provenance
from ..base.grad_mode import recording
from ..tensor import Tensor, refuse_if


class BackwardCFunction(Node):
    """The backward node of a Function. It is also the `ctx` of forward and backward.

    # Note [Names on ctx]
    The user may set any attribute on ctx. Names such as `inputs`, `outputs` and `op` are likely, and pictures read them from a
    node. So this node keeps them in a separate Call, and leaves the names to the user.
    """

    __slots__ = (
        "__dict__", "_call", "_dirty", "_fixed", "_is_tensor", "_kept", "_materialize_non_diff_grads", "_not_differentiable",
        "_places", "_to_save", "_zeros", "at", "inputs", "needs_input_grad", "node", "op", "options", "order", "outputs",
    )  # fmt: skip
    _forward_cls: type[Any]
    _call: provenance.Call  # the op, for pictures

    def __init__(self) -> None:
        super().__init__((), ())
        self._to_save: tuple[Any, ...] = ()
        self._kept: tuple[Any, ...] = ()  # the saved tensors after forward
        self._is_tensor: tuple[bool, ...] = ()  # which arguments of forward were tensors; only those have an edge
        self._places: tuple[int | None, ...] = ()  # for each value that forward returned, its output index on the node
        self._dirty: tuple[Tensor, ...] = ()
        self._fixed: frozenset[int] = frozenset()  # the outputs without gradient
        self._not_differentiable: tuple[Tensor, ...] = ()
        self._zeros = True
        self._materialize_non_diff_grads = True  # zeros also for outputs without gradient
        self.needs_input_grad: tuple[bool, ...] = ()

    @property
    def _as_call(self) -> provenance.Call:
        return self._call

    # -- ctx ----------------------------------------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors (or None), whose changes backward detects. If it can run, other values raise after forward."""
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """For forward-mode derivatives, which autograd_viz lacks. It checks the types and saves nothing."""
        assert all(t is None or isinstance(t, Tensor) for t in tensors), (
            "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
        )

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare the inputs that forward has changed in place. Forward must return them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare the outputs that have no gradient."""
        self._not_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose the gradient of an unused output in backward: zeros (True) or None (False). Raises TypeError: not a bool."""
        if type(value) is not bool:
            got = f"got ({type(value).__name__}), but expected (bool)"
            raise TypeError(f"set_materialize_grads received an invalid combination of arguments - {got}")
        self._zeros = value

    def _check_marks(self) -> None:
        """Refuse values that are not tensors, among the marked ones, and the saved ones if an input requires grad."""
        for i, t in enumerate(self._dirty):
            if not isinstance(t, Tensor):
                raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of type {type(t).__name__}")
        for t in self._not_differentiable:
            if not isinstance(t, Tensor):
                raise RuntimeError(f"mark_non_differentiable only accepts variable arguments, but got {type(t).__name__}")
        for i, t in enumerate(self._to_save if recording() and any(self.needs_input_grad) else ()):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}")

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors; empty while forward runs. Raises RuntimeError: they have been freed, or modified in place."""
        return tuple(s.unpack(self) if isinstance(s, SavedTensor) else s for s in self._unfreed())

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        return tuple(map(raw, self._unfreed()))

    def _unfreed(self) -> tuple[Any, ...]:
        refuse_if(FREED in self._kept, FREED_MESSAGE)
        return self._kept

    # -- as a node ----------------------------------------------------------------------------------------------------

    def _saved(self) -> dict[str, Any]:
        """The saved tensors as `saved_tensors[i]`."""
        return {f"saved_tensors[{i}]": s for i, s in enumerate(self._kept)}

    def _release(self) -> None:
        self._kept = tuple(FREED if isinstance(s, SavedTensor) else s for s in self._kept)

    def _remember(self) -> tuple[Any, ...]:
        return (self._passed, self._kept)

    def _recall(self, remembered: tuple[Any, ...]) -> None:
        self._passed, self._kept = remembered

    def apply(self, grads: tuple[Any, ...], on_tensors: bool, wanted: Wanted = None) -> tuple[Any, ...]:
        """Call the user's backward, and check what it returns."""
        given = [None if place is None else self._given(grads[place], place) for place in self._places]
        returned = self._forward_cls._rule()(self, *given)
        out = self._for_tensors(returned if isinstance(returned, tuple) else (returned,))
        return out if on_tensors else tuple(r if r is None else r._data for r in out)

    def _given(self, grad: Any, place: int) -> Any:
        """A grad_output in the form that backward gets: a tensor, or zeros for an unused output."""
        if grad is None:
            shape, kind = self._outputs_metadata()[place]
            wanted = self._zeros and (self._materialize_non_diff_grads or place not in self._fixed)
            return Tensor(np.zeros(shape, kind)) if wanted else None
        return grad if isinstance(grad, Tensor) else Tensor(grad)

    def _for_tensors(self, returned: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of those arguments that are tensors."""
        returned = one_for_each(self.name(), returned, self._is_tensor, Tensor)
        of_tensors = itertools.compress(returned, self._is_tensor)
        found = tuple(r if after is not None else None for r, after in zip(of_tensors, self._next, strict=True))
        for i, (r, after, at) in enumerate(zip(found, self._next, self._index, strict=True)):
            if r is not None and after is not None and r.is_complex() and after._outputs_metadata()[at][1].kind != "c":
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {i} - got a complex gradient ({r.dtype}) "
                    "for a real input; return its real part"
                )
        return found


def one_for_each(name: str, returned: tuple[Any, ...], is_tensor: Sequence[bool], kind: type) -> tuple[Any, ...]:
    """What a function's backward has returned, as one result for each argument; `is_tensor`: a tensor may have a gradient.
    RuntimeError: a wrong number of them, a gradient of another argument, or one that is no tensor (`kind`).
    """
    expected = len(is_tensor)
    if len(returned) > expected and all(r is None for r in returned[expected:]):
        returned = returned[:expected]
    if len(returned) != expected:
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {expected}, got {len(returned)})"
        )
    for i, (r, may_have_one) in enumerate(zip(returned, is_tensor, strict=True)):
        if r is not None and not may_have_one:
            raise RuntimeError(
                f"function {name} returned a gradient different than None at position {i + 1}, but the corresponding forward "
                "input was not a Variable"
            )
        if r is not None and not isinstance(r, kind):
            raise RuntimeError(f"expected Variable or None (got {type(r).__name__})")
    return returned
