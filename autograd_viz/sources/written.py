"""One step of the engine in the document's terms: what arrived, which rules ran on which numbers, what changed."""

from __future__ import annotations

from ..core import engine
from ..core.accumulate_grad import AccumulateGrad, gradient_edge
from ..core.node import Edge, Node, PrimitiveNode
from ..core.symbol import number
from ..core.tensor import Tensor
from ..graph.model import Formula, Value
from ..graph.text import shape_text, value_text
from ..graph.trace import Accumulation, Change, HookRun, Step
from .from_core import CoreGraph, symbolic_formulas, value_of
from .jacobian import local_jacobians
from .kept import kept_array, raw_saved

LONGEST = 90  # characters of a formula; in numbers it is left out beyond this


class Seen:
    """What can be seen of a node only before it runs: formulas, saved tensors and Jacobians, and the grads it may touch."""

    def __init__(self, node: Node, touched: list[Tensor]) -> None:
        self.symbols = symbolic_formulas(node)
        arrays = {name: kept_array(kept) for name, kept in raw_saved(node).items()}
        self.saved = {name: value_of(a) for name, a in arrays.items() if a is not None}
        self.jacobians = local_jacobians(node)
        self.grads = {t: None if t._grad is None else value_of(t._grad) for t in touched}
        self.hooks: list[HookRun] = []


class StepWriter:
    """Writes down the steps of one pass.

    Args:
        graph: the graph of `root`, where the pass starts.
        keep_graph: saved tensors are not freed.
    """

    def __init__(self, graph: CoreGraph, root: Tensor, keep_graph: bool) -> None:
        self.graph, self.root, self.keep_graph = graph, root, keep_graph
        self._arrivals: dict[Edge, int] = {gradient_edge(root): 1}
        self._sent: list[tuple[bool, ...]] = []

    def written(self, step: engine.Step, seen: Seen, edited: tuple[int, ...]) -> Step:
        """The step in the document's terms."""
        id = self.graph.node_ids[step.node]
        outputs = tuple(None if g is None else value_of(g) for g in step.grad_outputs)
        inputs = tuple(None if g is None else value_of(g) for g in step.grad_inputs)
        changes = self._arrived(step.node, id, outputs)
        accumulation = None
        for t, grad_before in seen.grads.items():
            now, at = None if t._grad is None else value_of(t._grad), self.graph.tensor_id(t)
            changes.append(Change(f"{at}.grad", grad_before, now))
            if not isinstance(step.node, AccumulateGrad):
                changes.append(Change(f"retain:{at}", None, now))
            elif outputs[0] is not None and now is not None and at is not None:
                changes.append(Change(f"grad:{id}", None, outputs[0]))
                accumulation = Accumulation(at, grad_before, outputs[0], now)
        for i, ((after, index), g) in enumerate(zip(step.node.next_functions, inputs, strict=True)):
            if after is not None:
                self._arrivals[after, index] = self._arrivals.get((after, index), 0) + (g is not None)
                changes += [Change(f"next:{id}.{i}", None, g)] if g is not None else []
        self._sent.append(tuple(g is not None for g in inputs))
        if not self.keep_graph:
            changes += [Change(f"{id}.saved.{name}", value, None) for name, value in seen.saved.items()]
        return Step(
            id, "", outputs, inputs, _with_numbers(step, seen), tuple(changes), accumulation,
            result_shapes=tuple(None if r is None else tuple(r.shape) for r in step.results), hooks=tuple(seen.hooks),
            jacobians=seen.jacobians, edited=edited,
        )  # fmt: skip

    def take_back(self, node: Node) -> None:
        """The node's step is taken back: what it sent has not arrived."""
        for edge, g in zip(node.next_functions, self._sent.pop(), strict=True):
            if edge[0] is not None and g:
                self._arrivals[edge] -= 1

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


def _with_numbers(step: engine.Step, seen: Seen) -> tuple[Formula, ...]:
    """Each rule in symbols, in numbers, and what it came to: `grad * other = 1.0 * 4.0 = 4.0`."""
    if not isinstance(step.node, PrimitiveNode):
        return ()
    primitive = step.node.primitive
    zeros = (f"zeros({shape})" for shape, _ in step.node._outputs_metadata())
    grads = [number(z if g is None else value_text(value_of(g))) for g, z in zip(step.grad_outputs, zeros, strict=True)]
    values = {n: number(value_text(v)) for n, v in seen.saved.items()}
    in_numbers = primitive.formulas(step.node, grads, values)
    position = {n: i for i, n in enumerate(primitive.inputs)}
    return tuple(
        Formula(name, _one_formula(text, in_numbers[name], step, position.get(name))) for name, text in seen.symbols.items()
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
