"""The backward node of a primitive: the arguments of its op, and the saved values for its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..backward.gradients import validate_outputs
from ..backward.node import Node, Wanted
from ..backward.saved import FREED, SavedTensor, holds_tensor, raw, unpack
from ..base.grad_mode import State
from ..base.quiet import quiet
from ..tensor.tensor import Tensor


class PrimitiveNode(Node):
    """The backward node of a primitive. Its subclass, one per primitive, has a slot for each argument and each saved value."""

    __slots__ = ()
    primitive: ClassVar[Any]  # the op
    is_plain = True
    argument_slots: ClassVar[tuple[str, ...]] = ()  # slots of the inputs; an op with any number of inputs has one slot
    is_variadic: ClassVar[bool] = False
    option_slots: ClassVar[tuple[tuple[str, str], ...]] = ()  # names and slots of the other arguments
    slots: ClassVar[tuple[str, ...]] = ()  # slots of the saved values, in the order of saved_names
    saved_names: ClassVar[tuple[str, ...]] = ()
    strided: ClassVar[tuple[str, ...]] = ()  # the saved values that are strides

    @property
    def op(self) -> str:
        """The op's name in pictures: "Mul"."""
        title: str = self.primitive.title
        return title

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The input tensors of the op; a Python number is a 0-d tensor."""
        if self.is_variadic:
            return tuple(getattr(self, self.argument_slots[0]))
        return tuple([getattr(self, slot) for slot in self.argument_slots])

    @inputs.setter
    def inputs(self, tensors: tuple[Any, ...]) -> None:
        for slot, tensor in zip(self.argument_slots, (tensors,) if self.is_variadic else tensors, strict=True):
            setattr(self, slot, tensor)

    @property
    def options(self) -> dict[str, Any]:
        """The op's other arguments by name."""
        return {n: getattr(self, slot) for n, slot in self.option_slots}

    @options.setter
    def options(self, values: dict[str, Any]) -> None:
        for name, slot in self.option_slots:
            setattr(self, slot, values[name])

    def vjp(self, grads: Any, wanted: Wanted = None) -> tuple[Any, ...]:
        """The rules on arrays, for each input that wants a gradient. Its program is made when the first such node runs."""
        self.primitive.write_backward()
        return self.vjp(grads, wanted)

    def vjp_on_tensors(self, grads: Any, wanted: Wanted = None) -> tuple[Any, ...]:
        """The rules on tensors. Their ops are recorded if grad mode is on. Its program is made like `vjp`."""
        self.primitive.write_backward()
        return self.vjp_on_tensors(grads, wanted)

    def _release(self) -> None:
        """Free the saved tensors. Its program is made like `vjp`."""
        self.primitive.write_backward()
        self._release()

    def pass_on(self, grads: Any, wanted: Wanted, keep_graph: bool) -> Sequence[Any]:
        """What the receivers get; the saved tensors are then freed. It is a program like `vjp` for an op with one output."""
        found = validate_outputs(self, self.vjp(grads, wanted))
        if not keep_graph:
            self._release()
        return found

    def apply(self, grads: tuple[Any, ...], on_tensors: bool, wanted: Wanted = None) -> tuple[Any, ...]:
        """Run the rule of each input that wants a gradient."""
        if on_tensors:
            before, State.in_rule = State.in_rule, True
            try:
                return self.vjp_on_tensors(grads, wanted)
            finally:
                State.in_rule = before
        if self._extra is not None:  # an unpack hook may run, and compute with tensors
            with np.errstate(all="ignore"):
                return self.vjp(grads, wanted)
        found: tuple[Any, ...] = quiet.run(self.vjp, grads, wanted)
        return found

    def _saved(self) -> dict[str, Any]:
        """The saved values by name; tensors as SavedTensor."""
        return {name: SavedTensor(v) if isinstance(v, Tensor) else v for name, v in self._kept().items()}

    def _kept(self) -> dict[str, Any]:
        """The saved values by name. A tensor that had never been changed is stored directly."""
        kept = {name: getattr(self, slot) for name, slot in zip(self.saved_names, self.slots, strict=True)}
        for name in self.strided:
            kept[name] = self.in_elements(kept[name])
        return kept

    def in_elements(self, strides: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """Strides in elements, from strides in bytes. Ops that save strides have one type for all inputs."""
        return None if strides is None else tuple(n // self._dtype.itemsize for n in strides)

    def _remember(self) -> tuple[Any, ...]:
        """The last gradients, and the saved values."""
        return (self._passed, *(getattr(self, s) for s in self.slots))

    def _recall(self, remembered: tuple[Any, ...]) -> None:
        """Restore both."""
        self._passed = remembered[0]
        for slot, value in zip(self.slots, remembered[1:], strict=True):
            setattr(self, slot, value)

    def unpack(self, index: int) -> Any:
        """A saved value for use: a tensor, or a plain value."""
        kept = getattr(self, self.slots[index])
        return self.in_elements(kept) if self.slots[index].endswith("_strides") else unpack(self, kept)

    def raw_saved(self, index: int) -> Any:
        """A saved tensor as the object on which hooks are registered; a tuple of them if several were saved as one."""
        slot = self.slots[index]
        kept = getattr(self, slot)
        self._more_of()  # hooks may be registered on it, so this node may run user code
        if isinstance(kept, tuple) and holds_tensor(kept):
            several = tuple(map(raw, kept))
            setattr(self, slot, tuple(k if k is None else r for k, r in zip(kept, several, strict=True)))
            return several
        if kept is not None and kept is not FREED and not holds_tensor(kept):
            raise AttributeError(f"{self.name()!r} object has no attribute '_raw_saved_{self.primitive.saved_names[index]}'")
        found = raw(kept)
        if isinstance(kept, Tensor):
            setattr(self, slot, found)
        return found
