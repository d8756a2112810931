"""A backward pass of the core, run one node at a time and written down as steps of the document."""

from __future__ import annotations

from typing import Any

from ..core import engine
from ..core.accumulate_grad import AccumulateGrad, gradient_edge
from ..core.backward import start
from ..core.node import Edge, Node, PrimitiveNode
from ..core.saved import SavedTensor
from ..core.symbol import number
from ..core.tensor import Tensor
from ..graph.model import Formula, Value
from ..graph.text import shape_text, value_text
from ..graph.trace import Accumulation, Change, Step
from .from_core import CoreGraph, symbolic_formulas, value_of

LONGEST = 90  # characters of a formula; in numbers it is left out beyond this


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
            self.grad._shared_counter()[0] = self.version


class SavedCell:
    """A node's saved tensors, and what had passed through it, as they were at one moment."""

    def __init__(self, node: Node) -> None:
        self.node, self.remembered = node, node._remember()

    def restore(self) -> None:
        """Make it so again."""
        self.node._recall(self.remembered)


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
        return len(self.task.inbox)

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
        saved = dict(node._saved())
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
        return [t for reference in (node._extra.retains if node._extra else {}).values() if (t := reference()) is not None]

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
    zeros = (f"zeros({shape})" for shape, _ in step.node._outputs_metadata())
    grads = [number(z if g is None else value_text(value_of(g))) for g, z in zip(step.grad_outputs, zeros, strict=True)]
    values = {n: number(value_text(value_of(s.tensor))) for n, s in saved.items() if isinstance(s, SavedTensor)}
    in_numbers = primitive.formulas(step.node, grads, values)
    position = {n: i for i, n in enumerate(primitive.inputs)}
    return tuple(
        Formula(name, _one_formula(text, in_numbers[name], step, position.get(name))) for name, text in symbols.items()
    )


def _one_formula(text: str, in_numbers: str, step: engine.Step, index: int | None) -> str:
    """One rule; `index` is None for an op with any number of inputs, whose rule returns all their gradients."""
    results = [value_of(r) for r in (step.results if index is None else step.results[index : index + 1]) if r is not None]
    shown = ", ".join(value_text(r) for r in results)
    parts = [text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"]
    parts += [in_numbers] * (in_numbers not in (text, shown) and len(in_numbers) <= LONGEST)
    parts += [shown] * (shown != parts[-1])
    left = None if index is None else step.grad_inputs[index]
    if left is not None and results and value_of(left).shape != results[0].shape:
        reduced = value_of(left)
        return f"{' = '.join(parts)}, summed to {shape_text(reduced.shape)}: {value_text(reduced)}"
    return " = ".join(parts)
