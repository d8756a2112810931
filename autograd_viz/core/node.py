"""The backward graph: nodes, the edges between them, and what a node saves.

Two words are used as PyTorch uses them: grad_outputs *arrive* at a node (gradients of its op's outputs), grad_inputs
*leave* it (gradients of its op's inputs).
"""

from __future__ import annotations

import itertools
import re
import weakref
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from .grad_mode import is_grad_enabled
from .tensor import Tensor

if TYPE_CHECKING:
    from .primitive import Primitive

# next_functions[i] = (the node that wants the gradient of input i or None, which of that node's outputs it belongs to)
Edge = tuple["Node | None", int]
# shape and element type that a gradient arriving at an output must have
Metadata = tuple[tuple[int, ...], "np.dtype[Any]"]

_sequence = itertools.count()
LAST_SEQUENCE_NR = 2**64 - 1

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


def op_name(node: Node) -> str:
    """The op of a backward node: "Exp" of ExpBackward0."""
    return re.sub(r"Backward\d*$", "", node.name())


class SavedTensor:
    """A tensor kept for backward, with the version it had: a change in place afterwards is noticed when it is used.

    An op's own result is kept without its history (`node` gives it back when unpacked): a result that held its node
    and a node that held its result would be a reference cycle in every graph.
    """

    __slots__ = ("original", "output_nr", "tensor", "version")

    def __init__(self, tensor: Tensor, output_nr: int | None = None) -> None:
        self.tensor = tensor if output_nr is None else tensor._without_history()
        self.original = None if output_nr is None else weakref.ref(tensor)
        self.version = tensor._version
        self.output_nr = output_nr

    def unpack(self, node: Node) -> Tensor:
        """The tensor as it was saved.

        Raises:
            RuntimeError: it was modified in place since.
        """
        self.check(node)
        if self.output_nr is None:
            return self.tensor
        result = self.tensor._with_history(node, self.output_nr)
        original = self.original() if self.original is not None else None
        result._made_by = None if original is None else original._made_by
        return result

    def check(self, node: Node) -> None:
        """Raise if the tensor was modified in place since it was saved."""
        now = self.tensor._version
        if now != self.version:
            maker = self.tensor._grad_fn or (node if self.output_nr is not None else None)
            which = f", which is output {self.output_nr or self.tensor.output_nr} of {op_name(maker)}," if maker else ""
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[torch.{self.tensor.dtype.legacy}Tensor {list(self.tensor.shape)}]{which} is at version {now}; "
                f"expected version {self.version} instead. Hint: enable anomaly detection to find the operation that "
                "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
            )


class Passed(NamedTuple):
    """The gradients that went through a node in the last backward pass, as far as they are small: a drawing shows them."""

    grad_outputs: tuple[Any, ...]
    grad_inputs: tuple[Any, ...]
    is_root: bool


class _Freed:
    """Stands in a node's saved values where backward has freed a tensor."""

    def __repr__(self) -> str:
        return "freed"


FREED = _Freed()


class Node:
    """One backward function; calling it turns grad_outputs into grad_inputs.

    Attributes:
        next_functions: one edge per input of the op.
    """

    __slots__ = ("__weakref__", "_input_metadata", "_passed", "_retains", "_sequence", "next_functions")

    def __init__(self, next_functions: tuple[Edge, ...], input_metadata: tuple[Metadata, ...]) -> None:
        self.next_functions = next_functions
        self._input_metadata = input_metadata
        self._sequence = next(_sequence)
        self._passed: Passed | None = None
        self._retains: dict[int, weakref.ref[Tensor]] | None = None  # outputs whose .grad is kept (retain_grad)

    def name(self) -> str:
        """The class name, as PyTorch spells it."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(id(self))}>"

    def _sequence_nr(self) -> int:
        return self._sequence

    def apply(self, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """The grad_inputs for these grad_outputs: NumPy arrays to arrays, or, if `on_tensors`, tensors to tensors."""
        raise NotImplementedError

    def saved(self) -> dict[str, Any]:
        """What is saved, by name: SavedTensor, FREED, None or a plain value."""
        return {}

    def release(self) -> None:
        """Free the saved tensors."""

    def remember(self) -> tuple[Any, ...]:
        """What a call of the node changes in it, as it is now, for `recall`."""
        return (self._passed,)

    def recall(self, remembered: tuple[Any, ...]) -> None:
        """Make it so again (a stepper that goes back un-frees saved tensors)."""
        self._passed = remembered[0]

    def __call__(self, *grads: Tensor | None) -> Any:
        """Run this one node by hand, recording if grad mode is on; nothing is freed and broadcasting is not undone.

        Returns:
            The gradient, or a tuple of them if the op has several inputs.

        Raises:
            TypeError: a gradient is missing or is no tensor.
        """
        expected = len(self._input_metadata)
        if len(grads) != expected:
            raise TypeError(f"{self.name()} expects {expected} gradient(s), one per output of its op, got {len(grads)}")
        for i, g in enumerate(grads):
            if g is not None and not isinstance(g, Tensor):
                raise TypeError(f"{self.name()}: gradient {i} must be a Tensor or None, got {type(g).__name__}")
        with np.errstate(all="ignore"):
            if is_grad_enabled():
                out = self.apply(grads, on_tensors=True)
            else:
                out = self.apply(tuple(None if g is None else g._data for g in grads), on_tensors=False)
                out = tuple(None if g is None else Tensor._of(g) for g in out)
        return out[0] if len(out) == 1 else out or None


class PrimitiveNode(Node):
    """The backward node of a primitive; one subclass per primitive is made from its table of rules."""

    __slots__ = ("_needs", "_saved")
    primitive: ClassVar[Primitive]

    def __init__(self, next_functions: tuple[Edge, ...], input_metadata: tuple[Metadata, ...], saved: tuple[Any, ...]) -> None:
        super().__init__(next_functions, input_metadata)
        self._saved = saved
        self._needs = tuple(edge[0] is not None for edge in next_functions)

    def apply(self, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """Run the rule of every input that wants a gradient (`Primitive.vjp`)."""
        if all(g is None for g in grads):  # nobody used an output
            return (None,) * len(self.next_functions)
        grad_inputs: tuple[Any, ...] = self.primitive.vjp(self, grads, on_tensors)
        return grad_inputs

    def saved(self) -> dict[str, Any]:
        """What is saved, by name."""
        return dict(zip(self.primitive.saved_names, self._saved, strict=True))

    def release(self) -> None:
        """Free the saved tensors; plain values (a dim, an exponent) stay."""
        self._saved = tuple(FREED if _holds_tensor(s) else s for s in self._saved)

    def remember(self) -> tuple[Any, ...]:
        """What passed, and the saved values."""
        return (self._passed, self._saved)

    def recall(self, remembered: tuple[Any, ...]) -> None:
        """Put both back."""
        self._passed, self._saved = remembered

    def unpack(self, index: int) -> Any:
        """A saved value for use: a tensor, or a plain value.

        Raises:
            RuntimeError: it has been freed, or modified in place.
        """
        value = self._saved[index]
        if value is FREED:
            raise RuntimeError(FREED_MESSAGE)
        if isinstance(value, SavedTensor):
            return value.unpack(self)
        if _holds_tensor(value):
            return tuple(s.unpack(self) if isinstance(s, SavedTensor) else s for s in value)
        return value


def _holds_tensor(saved: Any) -> bool:
    """Is there a tensor in this saved value (alone, or in a tuple as the indices of an advanced index)?"""
    return isinstance(saved, SavedTensor) or (isinstance(saved, tuple) and any(isinstance(s, SavedTensor) for s in saved))


class AccumulateGrad(Node):
    """The end of a path: adds what arrives to ``variable.grad``."""

    __slots__ = ("variable",)

    def name(self) -> str:
        """The name with PyTorch's namespace; the class is plain AccumulateGrad."""
        return "torch::autograd::AccumulateGrad"

    def __init__(self, variable: Tensor) -> None:
        super().__init__((), ((variable._data.shape, variable._data.dtype),))
        self.variable = variable
        self._sequence = LAST_SEQUENCE_NR  # runs as soon as it is ready

    def apply(self, grads: tuple[Any, ...], on_tensors: bool) -> tuple[Any, ...]:
        """Add in place to an existing `grad` (out of place if this is being recorded), else keep a copy."""
        if grads[0] is not None and self.variable._requires_grad:  # it may have been switched off meanwhile
            accumulate(self.variable, grads[0], on_tensors)
        return ()


def accumulate(variable: Tensor, grad: Any, on_tensors: bool) -> None:
    """``variable.grad += grad``, as PyTorch's AccumulateGrad does it.

    The first gradient is copied, never aliased: an op may send one array to two leaves.
    """
    old = variable._grad
    if on_tensors:
        variable._grad = Tensor(np.empty_like(grad._data)).copy_(grad) if old is None else old + grad
    elif old is None:
        variable._grad = Tensor._of(np.array(grad, dtype=variable._data.dtype))
    else:
        old._data += grad
        old._bump_version()


def gradient_edge(tensor: Tensor) -> Edge:
    """Where the gradient of `tensor` goes: its grad_fn, a leaf's AccumulateGrad, or nowhere."""
    if tensor._grad_fn is not None:
        return tensor._grad_fn, tensor._output_nr
    if not tensor._requires_grad:
        return None, 0
    accumulator = tensor._accumulator() if tensor._accumulator is not None else None
    if accumulator is None:
        accumulator = AccumulateGrad(tensor)
        tensor._accumulator = weakref.ref(accumulator)  # weak: the node holds the leaf
    return accumulator, 0
