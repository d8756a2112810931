"""The backward node of an op that is a primitive: what its op was given, and what it keeps for its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .grad_mode import State
from .node import Node
from .quiet import quiet
from .saved import SavedTensor, unpack
from .tensor import Tensor

if TYPE_CHECKING:
    from .primitive import Primitive


class PrimitiveNode(Node):
    """The backward node of a primitive; node_class.py makes one subclass per primitive, with a slot for each argument of the op
    and one for each saved value.
    """

    __slots__ = ()
    primitive: ClassVar[Primitive]
    is_plain = True
    slots: ClassVar[tuple[str, ...]] = ()  # of the saved values, in the order of primitive.saved_names

    @property
    def op(self) -> str:
        """The op's name in pictures: "Mul"."""
        title: str = self.primitive.title
        return title

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The tensors that the op was given, Python numbers among them as 0-d tensors."""
        if self.primitive.variadic:
            return tuple(getattr(self, f"given_{self.primitive.variadic}"))
        return tuple(getattr(self, f"given_{n}") for n in self.primitive.inputs)

    @inputs.setter
    def inputs(self, tensors: tuple[Any, ...]) -> None:
        if self.primitive.variadic:
            setattr(self, f"given_{self.primitive.variadic}", tensors)
            return
        for name, tensor in zip(self.primitive.inputs, tensors, strict=True):
            setattr(self, f"given_{name}", tensor)

    @property
    def options(self) -> dict[str, Any]:
        """The op's other arguments by name."""
        return {n: getattr(self, f"given_{n}") for n in self.primitive.options}

    @options.setter
    def options(self, values: dict[str, Any]) -> None:
        for name in self.primitive.options:
            setattr(self, f"given_{name}", values[name])

    def vjp(self, grads: Any) -> tuple[Any, ...]:
        """The rules on arrays, for every input that wants a gradient; written out when the first node of its kind runs."""
        self.primitive.write_backward()
        return self.vjp(grads)

    def vjp_on_tensors(self, grads: Any) -> tuple[Any, ...]:
        """The rules on tensors, whose ops are recorded if grad mode is on; written out like `vjp`."""
        self.primitive.write_backward()
        return self.vjp_on_tensors(grads)

    def _release(self) -> None:
        """Free the saved tensors; written out like `vjp`."""
        self.primitive.write_backward()
        self._release()

    def apply(self, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """Run the rule of every input that wants a gradient."""
        if on_tensors:
            before, State.in_rule = State.in_rule, True
            try:
                return self.vjp_on_tensors(grads)
            finally:
                State.in_rule = before
        if self._extra is not None:  # an unpack hook may be among what runs, and compute with tensors
            with np.errstate(all="ignore"):
                return self.vjp(grads)
        found: tuple[Any, ...] = quiet.run(self.vjp, grads)
        return found

    def _saved(self) -> dict[str, Any]:
        """What is saved, by name; tensors as SavedTensor."""
        return {name: SavedTensor(v) if isinstance(v, Tensor) else v for name, v in self._kept().items()}

    def _kept(self) -> dict[str, Any]:
        """What is saved, by name; a tensor that had never been changed when it was saved stands there bare."""
        values = ((name, getattr(self, slot)) for name, slot in zip(self.primitive.saved_names, self.slots, strict=True))
        return {name: self.in_elements(v) if name.endswith("_strides") else v for name, v in values}

    def in_elements(self, strides: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """Strides, which are kept in bytes, in elements; ops that keep them have one type throughout."""
        return None if strides is None else tuple(n // self._dtype.itemsize for n in strides)

    def _remember(self) -> tuple[Any, ...]:
        """What passed, and the saved values."""
        return (self._passed, *(getattr(self, s) for s in self.slots))

    def _recall(self, remembered: tuple[Any, ...]) -> None:
        """Put both back."""
        self._passed = remembered[0]
        for slot, value in zip(self.slots, remembered[1:], strict=True):
            setattr(self, slot, value)

    def unpack(self, index: int) -> Any:
        """A saved value for use: a tensor, or a plain value.

        Raises:
            RuntimeError: it has been freed, or modified in place.
        """
        kept = getattr(self, self.slots[index])
        return self.in_elements(kept) if self.slots[index].endswith("_strides") else unpack(self, kept)

    def raw_saved(self, index: int) -> Any:
        """A saved tensor as the object that hooks can be registered on.

        Raises:
            RuntimeError: it has been freed.
        """
        kept = getattr(self, self.slots[index])
        self._more_of()  # hooks may be registered on it: this node is no longer one that runs no code of the user's
        if isinstance(kept, Tensor):
            kept = SavedTensor(kept)
            setattr(self, self.slots[index], kept)
        if not isinstance(kept, SavedTensor):
            return unpack(self, kept)
        return kept
