"""A backward pass of the core, run one node at a time and written down as steps of the document."""

from __future__ import annotations

import math
from typing import Any

from ..core import engine
from ..core.backward import start
from ..core.node import AccumulateGrad, Edge, Node, PrimitiveNode, SavedTensor, gradient_edge
from ..core.symbol import number
from ..core.tensor import Tensor
from ..graph.model import Formula, Value
from ..graph.trace import Accumulation, Change, Step
from .from_core import CoreGraph, symbolic_formulas, value_of

LONGEST_NUMBERS = 90  # characters of a formula in numbers; longer ones are left in symbols


class GradCell:
    """A tensor's `grad` as it was at one moment: the object, and a copy of its values (accumulation changes them in place)."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.grad = tensor, tensor._grad
        self.values = None if self.grad is None else self.grad._data.copy()
        self.version = 0 if self.grad is None else self.grad._version

    def restore(self) -> None:
        """Make it so again."""
        self.tensor._grad = self.grad
        if self.grad is not None and self.values is not None:
            self.grad._data[...] = self.values
            self.grad._counter[0] = self.version


class SavedCell:
    """A node's saved tensors, and what had passed through it, as they were at one moment."""

    def __init__(self, node: Node) -> None:
        self.node, self.remembered = node, node.remember()

    def restore(self) -> None:
        """Make it so again."""
        self.node.recall(self.remembered)


Cell = GradCell | SavedCell


class CorePass:
    """A backward pass from one root that has not run yet.

    Args:
        graph: the graph of `root`.
        gradient: the first gradient; None for a single element.
        retain_graph, create_graph: as in `backward`.

    Raises:
        RuntimeError: as `backward` would, in PyTorch's words.
    """

    def __init__(
        self, graph: CoreGraph, root: Tensor, gradient: Tensor | None, retain_graph: bool | None, create_graph: bool
    ) -> None:
        self.graph, self.root = graph, root
        self.task = start(root, gradient, retain_graph, create_graph)
        self._before: list[list[Cell]] = []
        self._after: list[list[Cell]] = []
        self._arrivals: dict[Edge, int] = {gradient_edge(root): 1}

    def next_node(self) -> str | None:
        """Id of the node that `advance` would run, or None at the end."""
        node = self.task.peek()
        return None if node is None else self.graph.node_ids[node]

    @property
    def total(self) -> int:
        """How many steps the whole pass has: every node runs once."""
        return len(self.task.waiting_for)

    def advance(self) -> Step | None:
        """Run one node for real; None at the end.

        Raises:
            Exception: whatever the node raises; the pass stays where it was.
        """
        node = self.task.peek()
        if node is None:
            return None
        touched = [node.variable] if isinstance(node, AccumulateGrad) else self._retained(node)
        formulas_in_symbols = symbolic_formulas(node)
        saved = dict(node.saved())
        before: list[Cell] = [SavedCell(node), *(GradCell(t) for t in touched)]
        old = {t: None if t._grad is None else value_of(t._grad) for t in touched}
        step = self.task.step()
        assert step is not None
        self._before.append(before)
        self._after.append([SavedCell(node), *(GradCell(t) for t in touched)])
        return self._written_down(step, saved, formulas_in_symbols, old)

    def undo(self, index: int) -> None:
        """Take back what step `index` did to the user's tensors and to saved tensors."""
        for cell in self._before[index]:
            cell.restore()

    def redo(self, index: int) -> None:
        """Do again what step `index` did."""
        for cell in self._after[index]:
            cell.restore()

    def _retained(self, node: Node) -> list[Tensor]:
        return [t for reference in (node._retains or {}).values() if (t := reference()) is not None]

    def _written_down(
        self, step: engine.Step, saved: dict[str, Any], symbols: dict[str, str], old: dict[Tensor, Value | None]
    ) -> Step:
        """The step in the document's terms."""
        id = self.graph.node_ids[step.node]
        outputs = tuple(None if g is None else value_of(g) for g in step.grad_outputs)
        inputs = tuple(None if g is None else value_of(g) for g in step.grad_inputs)
        changes = self._arrived(step.node, id, outputs)
        accumulation = None
        for t, grad_before in old.items():
            now, at = None if t._grad is None else value_of(t._grad), self.graph.tensor_id(t)
            changes.append(Change(f"{at}.grad", grad_before, now))
            if not isinstance(step.node, AccumulateGrad):
                changes.append(Change(f"retain:{at}", None, now))
            elif outputs[0] is not None and now is not None and at is not None:
                changes.append(Change(f"grad:{id}", None, outputs[0]))
                accumulation = Accumulation(at, grad_before, outputs[0], now)
        for i, ((after, index), g) in enumerate(zip(step.node.next_functions, inputs, strict=True)):
            if after is not None and g is not None:
                self._arrivals[after, index] = self._arrivals.get((after, index), 0) + 1
                changes.append(Change(f"next:{id}.{i}", None, g))
        if not self.task.keep_graph:
            kept = ((name, s) for name, s in saved.items() if isinstance(s, SavedTensor))
            changes += [Change(f"{id}.saved.{name}", value_of(s.tensor), None) for name, s in kept]
        formulas = _with_numbers(step, saved, symbols)
        shapes = tuple(None if r is None else tuple(r.shape) for r in step.results)
        return Step(id, "", outputs, inputs, formulas, tuple(changes), accumulation, shapes)

    def _arrived(self, node: Node, id: str, outputs: tuple[Value | None, ...]) -> list[Change]:
        """Where gradients met before this node, and the first gradient at the root."""
        changes = []
        edge = gradient_edge(self.root)
        if edge[0] is node and self.root._grad_fn is not None:
            first = outputs[edge[1]]
            if self._arrivals[node, edge[1]] == 1:
                changes.append(Change(f"grad_fn:{self.graph.tensor_id(self.root)}", None, first))
        sums = ((i, v) for i, v in enumerate(outputs) if self._arrivals.get((node, i), 0) > 1)
        return changes + [Change(f"sum:{id}.{i}", None, v) for i, v in sums]


def _with_numbers(step: engine.Step, saved: dict[str, Any], symbols: dict[str, str]) -> tuple[Formula, ...]:
    """Each rule in symbols, in numbers, and what it came to: `grad * other = 1.0 * 4.0 = 4.0`."""
    if not isinstance(step.node, PrimitiveNode):
        return ()
    primitive = step.node.primitive
    zeros = (f"zeros({list(shape)})" for shape, _ in step.node._input_metadata)
    grads = tuple(number(z if g is None else numbers_text(value_of(g))) for g, z in zip(step.grad_outputs, zeros, strict=True))
    values = {n: number(numbers_text(value_of(s.tensor))) for n, s in saved.items() if isinstance(s, SavedTensor)}
    in_numbers = primitive.formulas(step.node, grads, values)
    position = {n: i for i, n in enumerate(primitive.inputs)}
    formulas = []
    for name, text in symbols.items():
        result, left = step.results[position.get(name, 0)], step.grad_inputs[position.get(name, 0)]
        parts = [text] + [in_numbers[name]] * (in_numbers[name] != text)
        if result is not None:
            parts += [numbers_text(value_of(result))] * (numbers_text(value_of(result)) != parts[-1])
            if value_of(result).shape != value_of(left).shape:
                parts.append(f"summed to shape {list(value_of(left).shape)}: {numbers_text(value_of(left))}")
        formulas.append(Formula(name, " = ".join(p for p in parts if len(p) <= LONGEST_NUMBERS)))
    return tuple(formulas)


def numbers_text(value: Value) -> str:
    """A value inside a formula: 4.0, [1.0, 2.0]; large arrays by type and shape."""
    if not value.numbers:
        return f"{value.dtype}{list(value.shape)}"
    words = [repr(n) if not isinstance(n, float) else _short(n) for n in value.numbers]
    return words[0] if value.shape == () else f"[{', '.join(words)}]" if len(value.shape) == 1 else value.text


def _short(x: float) -> str:
    return f"{x:.1f}" if math.isfinite(x) and abs(x) < 1e6 and x == int(x) else f"{x:.4g}"
