"""The backward graph: nodes, and the edges between them.

As in PyTorch, grad_outputs *arrive* at a node: they are gradients of its op's outputs. grad_inputs *leave* it: they are
gradients of its op's inputs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..base.device import CPU, device
from ..base.dtypes import from_numpy_dtype
from ..base.grad_mode import recording, sequence
from ..base.provenance import Place
from ..tensor.as_array import Size
from ..tensor.tensor import Tensor
from . import hooks
from .hooks import RemovableHandle

if TYPE_CHECKING:
    from ..base.dtypes import dtype

# next_functions[i] = (the node that gets the gradient of input i, or None; an output index of that node)
Edge = tuple[Any, int]  # a node or None, and the index of an output
Wanted = Set[Any] | None  # the nodes that a pass runs; None for all
LAST_SEQUENCE_NR = 2**64 - 1
SMALL = 64  # elements: a gradient up to this size is kept for drawings


class Metadata(NamedTuple):
    """The required shape and element type of the gradient of an output."""

    shape: Size
    dtype: dtype
    device: device = CPU
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False
    is_tensor_subclass: bool = False


# what a drawing shows of the last pass, if they are small: grad_outputs, grad_inputs; and whether the pass started there
Passed = tuple[Sequence[Any], Sequence[Any], bool]


Done = tuple["Node", Sequence[Any], Sequence[Any], Sequence[Any]]  # the fields of a Step


class Step(NamedTuple):
    """What one call of one backward node did. Gradients are NumPy arrays, or Tensors in a recorded pass (create_graph).

    Attributes:
        node: the node that ran.
        grad_outputs: the gradients that arrived, one per output of the op; None for an unused output.
        results: the values of its rules.
        grad_inputs: the gradients sent along next_functions: the results reduced to the receiver's shape, in its type.
    """

    node: Node
    grad_outputs: Sequence[Any]
    results: Sequence[Any]
    grad_inputs: Sequence[Any]


class NodeExtra:
    """The rare attributes of a node: hooks, retained outputs, the user's metadata."""

    __slots__ = ("detached", "metadata", "posthooks", "prehooks", "retains", "tensor_hooks")

    def __init__(self) -> None:
        self.tensor_hooks: dict[int, dict[int, Any]] = {}  # by output, from Tensor.register_hook
        self.retains: dict[int, weakref.ref[Tensor]] = {}  # by output, from Tensor.retain_grad
        self.prehooks: dict[int, Any] = {}
        self.posthooks: dict[int, Any] = {}
        self.metadata: dict[Any, Any] = {}
        self.detached: list[Tensor] = []  # the outputs before detach_() (former.py)


class Node:
    """One backward function. A call turns grad_outputs into grad_inputs.

    For pictures of the forward pass, it also remembers its op (`op`, `inputs`, `options`, `at`).
    """

    __slots__ = (
        "__weakref__", "_code", "_dtype", "_extra", "_index", "_lasti", "_next", "_others", "_passed", "_results", "_sequence",
        "_shape",
    )  # fmt: skip
    _next: tuple[Any, ...]  # next_functions, as two tuples
    _index: tuple[int, ...]
    _shape: tuple[int, ...]
    _dtype: Any
    _others: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...] | None  # shape and type of the outputs, without the first
    inputs: tuple[Any, ...] = ()  # the tensors given to the op; a Python number is a 0-d tensor
    depth: ClassVar[int] = 0
    vjp_on_tensors: ClassVar[Any]  # the rules on tensors; only plain nodes have it and `pass_on`
    pass_on: ClassVar[Any]  # (grads, wanted, keep_graph): the grad_inputs, in the engine's loop
    is_plain: ClassVar[Any] = False  # True for a node that runs no user code: it consists of its rules on arrays

    def __init__(
        self, edges: tuple[Edge, ...], metadata: tuple[tuple[tuple[int, ...], Any], ...], number: int | None = None
    ) -> None:
        self._next, self._index = tuple(e[0] for e in edges), tuple(e[1] for e in edges)
        self._shape, self._dtype = metadata[0] if metadata else ((), None)
        self._others = metadata[1:] or None
        self._sequence = next(sequence) if number is None else number
        self._extra: NodeExtra | None = None
        self._passed: Passed | None = None
        self._results: tuple[weakref.ref[Tensor], ...] | None = None
        self._code: Any = None
        self._lasti = 0

    # -- PyTorch's attributes of a node -------------------------------------------------------------------------------

    def name(self) -> str:
        """The class name, as PyTorch spells it."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {hex(id(self))}>"

    def _sequence_nr(self) -> int:
        return self._sequence

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """One edge per input of the op: (node or None, which of its outputs)."""
        return tuple(zip(self._next, self._index, strict=True))

    @property
    def _input_metadata(self) -> tuple[Metadata, ...]:
        return tuple(Metadata(Size(shape), from_numpy_dtype(kind)) for shape, kind in self._outputs_metadata())

    def _outputs_metadata(self) -> tuple[tuple[tuple[int, ...], Any], ...]:
        return ((self._shape, self._dtype), *(self._others or ()))

    def _output_metadata(self, index: int) -> tuple[tuple[int, ...], Any]:
        """Of one output, because an op can have very many."""
        return (self._shape, self._dtype) if index == 0 or self._others is None else self._others[index - 1]

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user."""
        return self._more_of().metadata

    def _more_of(self) -> NodeExtra:
        if self._extra is None:
            self._extra = NodeExtra()
        return self._extra

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node has run. It may return other grad_inputs."""
        return hooks.register(self._more_of().posthooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the node runs. It may return other grad_outputs."""
        return hooks.register(self._more_of().prehooks, hook)

    def _register_hook_dict(self, tensor: Tensor) -> None:
        """PyTorch's internal entry for tensor hooks. The node already has the hooks."""

    # -- as a record of the forward op --------------------------------------------------------------------------------

    @property
    def op(self) -> str:
        """The op's name in pictures."""
        return self.name()

    @property
    def node(self) -> Node:
        """The backward node that the op recorded: this one."""
        return self

    @property
    def _as_call(self) -> Any:
        """The record of the op for pictures: the node itself."""
        return self

    @property
    def options(self) -> dict[str, Any]:
        """The op's other arguments by name."""
        return {}

    @property
    def order(self) -> tuple[int, int]:
        """A number that rises with time over all ops and events."""
        return (self._sequence, 0)

    @property
    def at(self) -> Place | None:
        """The user's place in the code."""
        return None if self._code is None else Place(self._code, self._lasti)

    @property
    def outputs(self) -> tuple[weakref.ref[Tensor], ...]:
        """Weak references to the results, if there are several."""
        return self._results or ()

    # -- running it ---------------------------------------------------------------------------------------------------

    def vjp(self, grads: Any, wanted: Wanted = None) -> tuple[Any, ...]:
        """The grad_inputs for these grad_outputs, as arrays. Only plain nodes have it."""
        raise NotImplementedError

    def apply(self, grads: tuple[Any, ...], on_tensors: bool, wanted: Wanted = None) -> tuple[Any, ...]:
        """The grad_inputs, as arrays, or as tensors if `on_tensors`; as in PyTorch, only those that lead to a node `wanted`."""
        raise NotImplementedError

    def _saved(self) -> dict[str, Any]:
        """The saved values by name: SavedTensor, FREED, None or a plain value."""
        return {}

    def _release(self) -> None:
        """Free the saved tensors."""

    def _remember(self) -> tuple[Any, ...]:
        """The state that a call of the node changes, for `recall`."""
        return (self._passed,)

    def _recall(self, remembered: tuple[Any, ...]) -> None:
        """Restore that state. A stepper that goes back restores freed tensors so."""
        self._passed = remembered[0]

    def __call__(self, *grads: Tensor | None) -> Any:
        """Run this node alone, and record it if grad mode is on. It frees nothing, runs no hooks, and keeps broadcast shapes.

        Several inputs of the op give a tuple. Raises TypeError: a gradient is missing or is not a tensor.
        """
        expected = 1 + len(self._others or ())
        if len(grads) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(grads)} instead")
        for i, g in enumerate(grads):
            if g is not None and not isinstance(g, Tensor):
                raise TypeError(f"argument {i} is not a Variable")
        if recording():
            out = self.apply(grads, on_tensors=True)
        else:
            out = self.apply(tuple(None if g is None else g._data for g in grads), on_tensors=False)
            out = tuple(None if g is None else Tensor(g) for g in out)
        return out[0] if len(out) == 1 else out
