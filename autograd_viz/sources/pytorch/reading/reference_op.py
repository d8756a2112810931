"""The core's node for the op of a torch node, called its reference op. It has the formulas and a local Jacobian.

PyTorch's rules are compiled; ours can be read. A reference is made of what the torch node has saved, so its formulas say what
PyTorch computes. `agrees` checks that: where the two differ, no formula is shown.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from ....twin.core.backward.node import Node
from ....twin.core.backward.saved import FREED, SavedResult
from ....twin.core.base.quiet import quiet
from ....twin.core.base.readings import TENSOR_NAMES
from ....twin.core.methods import load_more
from ....twin.core.op.primitive import Primitive
from ....twin.core.op.primitive_node import PrimitiveNode
from ....twin.core.tensor.former import Overwritten
from ....twin.core.tensor.tensor import Tensor
from ...shared.formulas import symbolic_formulas
from ...shared.values import FEW
from .nodes import Metadata, name_of, outputs_of
from .saved import SavedValue
from .values import as_array, dtype_name, is_plain, unseen

CLOSE = 1e-3  # tolerance: float32 sums in another order


@functools.cache
def _ops(has_rare: bool = True) -> list[Primitive]:
    """The ops of the core. The rare ones load SciPy."""
    if has_rare:
        load_more()
    return list(dict.fromkeys(p for p in TENSOR_NAMES.values() if isinstance(p, Primitive)))


@functools.cache
def _primitives(has_rare: bool) -> dict[str, list[Primitive]]:
    """The ops of the core by the class name of their node."""
    found: dict[str, list[Primitive]] = {}
    for op in _ops(has_rare):
        if op.rules:
            found.setdefault(op.node_name.rpartition("::")[2], []).append(op)
    return found


@functools.cache
def titles() -> dict[str, str]:
    """The titles of the core's ops, by the op's name: "mul" -> "Mul"."""
    return {op.name: op.title for op in _ops()}


@functools.cache
def primitive_of(name: str, saved: frozenset[str]) -> Primitive | None:
    """The core's op whose node has this name and these saved values; None if there is none."""
    for op in (op for has_rare in (False, True) for op in _primitives(has_rare).get(name, ())):
        if {n for n in op.saved_names if not n.startswith("_")} == saved:
            return op
    return None


def reference_of(name: str, node: Any, saved: list[SavedValue]) -> PrimitiveNode | None:
    """The core's node with the same saved values. None if the core has no such op, or a saved value cannot be read."""
    op = primitive_of(name, frozenset(k.name for k in saved))
    metadata = outputs_of(node)
    if op is None or op.node_class is None or any(not m.is_known or _numpy(m.dtype) is None for m in metadata):
        return None
    if any(isinstance(n, torch.SymInt) for m in metadata for n in m.shape) or any(map(_is_nested, saved)):
        return None
    receivers = {after: Node((), _looks(outputs_of(after)), 0) for after in _distinct(node)}  # stand-ins, alike from outside
    edges = tuple((receivers.get(after), index) for after, index in node.next_functions)
    if (op.variadic is None and len(edges) != len(op.inputs)) or not all(m.is_known for a in receivers for m in outputs_of(a)):
        return None
    reference = op.node_class.__new__(op.node_class)
    Node.__init__(reference, edges, _looks(metadata), 0)
    known = {k.name: FREED if k.state == "freed" else k.value for k in saved}
    for slot, saved_name in zip(op.slots, op.saved_names, strict=True):
        value = _in_the_core(known[saved_name]) if saved_name in known else _private(op, saved_name, edges)
        if saved_name.endswith("_strides") and value is not None:  # the core keeps strides in bytes
            value = tuple(n * reference._dtype.itemsize for n in value) if reference._dtype is not None else None
        is_result = op.result_index(saved_name) is not None and isinstance(value, Tensor)
        setattr(reference, slot, SavedResult(value) if is_result else value)
    return reference


@unseen
def frozen(name: str, saved: list[SavedValue]) -> list[SavedValue] | None:
    """Copies of saved values for a reference that is made later; None if a value cannot be copied."""
    if primitive_of(name, frozenset([k.name for k in saved])) is None or any(map(_is_nested, saved)):
        return None
    return [k._replace(value=_in_the_core(k.value)) for k in saved]


def signature_of(node: Any, saved: list[SavedValue], outputs_of: Callable[[Any], tuple[Metadata, ...]]) -> Any:
    """A key: nodes with equal keys have the same rules in symbols."""
    outputs = tuple((m.shape, m.dtype) for m in outputs_of(node))
    kept = tuple((k.name, k.state, _look(k.value)) for k in saved)
    place = {after: i for i, after in enumerate(_distinct(node))}
    receivers = tuple(tuple(m.shape for m in outputs_of(after)) for after in place)
    signature = (name_of(node), outputs, kept, receivers, tuple(place.get(after) for after, _ in node.next_functions))
    try:
        hash(signature)
    except TypeError:  # sizes of nested tensors
        return repr(signature)
    return signature


def _look(value: object) -> Any:
    """The shape and type of a tensor, the text of anything else."""
    return (tuple(value.shape), value.dtype) if isinstance(value, torch.Tensor) and not value.is_nested else repr(value)


def _is_nested(kept: SavedValue) -> bool:
    return isinstance(kept.value, torch.Tensor) and bool(kept.value.is_nested)


def formulas_of(reference: PrimitiveNode | None) -> dict[str, str]:
    """The rules in symbols, by input; empty if they need what PyTorch's node does not tell."""
    try:
        return {} if reference is None else symbolic_formulas(reference)
    except Exception:  # a rule reads a value that the torch node does not show
        return {}


def _private(op: Primitive, name: str, edges: tuple[tuple[Node | None, int], ...]) -> Any:
    """What PyTorch's node does not show, but its receivers tell: the sizes of the inputs of `cat`."""
    base, what = op.metadata_name(name)
    shapes = [None if after is None else after._outputs_metadata()[0][0] for after, _ in edges]
    if what != "sizes" or None in shapes:
        return None
    return tuple(shapes) if base == op.variadic else shapes[op.inputs.index(base)] if base in op.inputs else None


def agrees(reference: PrimitiveNode, grads: list[Any], results: list[Any]) -> bool:
    """Do the core's rules give PyTorch's results? It is asked only if all that they need is small."""
    is_large = any(t is not None and (t.numel() > FEW or not is_plain(t)) for t in (*grads, *results))
    if is_large or any(isinstance(getattr(reference, s), Overwritten) for s in reference.slots):
        return True
    try:
        arrays = [None if g is None else np.asarray(as_array(g)) for g in grads]
        ours = quiet.run(reference.vjp, [a if a is None or a.shape else a[()] for a in arrays])
    except Exception:  # a rule that does not run proves nothing
        return False
    return all(_close(o, r) for o, r in zip(ours, results, strict=True))


def _close(ours: Any, theirs: object) -> bool:
    if ours is None or theirs is None:
        return theirs is None
    expected = as_array(theirs)
    if np.shape(ours) != expected.shape:
        return False
    if (ours == expected).all():
        return True
    with np.errstate(all="ignore"):
        largest = float(np.max(np.abs(expected), initial=0.0))
        return bool(np.allclose(ours, expected, rtol=CLOSE, atol=CLOSE * largest, equal_nan=True))


def _distinct(node: Any) -> dict[Any, None]:
    """The distinct nodes that its gradients go to. A node with very many outputs can have as many edges to one of them."""
    return dict.fromkeys(after for after, _ in node.next_functions if after is not None)


def _looks(outputs: Iterable[Metadata]) -> tuple[tuple[Any, Any], ...]:
    return tuple((m.shape, _numpy(m.dtype)) for m in outputs)


@functools.cache
def _numpy(dtype: torch.dtype) -> Any:
    """NumPy's element type; None if NumPy lacks it."""
    try:
        found = np.dtype(dtype_name(dtype))
    except TypeError:
        return None
    return found if found.isbuiltin else None


def _in_the_core(value: object) -> Any:
    """A saved value for a node of the core; a large tensor becomes its shape and type."""
    if isinstance(value, tuple | list):
        return tuple(map(_in_the_core, value))
    if isinstance(value, torch.dtype):
        return _numpy(value)
    if not isinstance(value, torch.Tensor):
        return value
    kind = _numpy(value.dtype)
    if value.numel() > FEW or not is_plain(value) or kind is None:
        return _large(tuple(value.shape), kind or np.float32)
    return Tensor(np.array(as_array(value)))


@functools.lru_cache(maxsize=1000)
def _large(shape: tuple[int, ...], kind: Any) -> Overwritten:
    """A tensor without elements, for rules that need only shape and type."""
    return Overwritten(np.broadcast_to(np.zeros((), kind), shape))
