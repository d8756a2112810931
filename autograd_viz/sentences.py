"""A step of the backward pass in plain words with its numbers."""

from __future__ import annotations

from . import words
from .graph.model import Document, Node, Value
from .graph.text import shape_text, value_text
from .graph.trace import Change, Step, Trace


class Sentences:
    """Writes the sentence of each step of one document."""

    def __init__(self, document: Document) -> None:
        self.tensors = {t.id: t for t in document.tensors}
        self.nodes = {n.id: n for n in document.nodes}
        self.outputs = {o.id: o.outputs for o in document.ops}

    def start(self, node: str | None) -> str:
        """Before the first step."""
        return words.NOTHING if node is None else words.START.format(node=self.nodes[node].name)

    def step(self, step: Step, earlier: Trace) -> str:
        """What this step did."""
        node = self.nodes[step.node]
        if node.variable is not None:
            return self._accumulated(node, step, earlier)
        if all(g is None for g in step.grad_outputs):
            return words.NO_GRADIENT.format(node=node.name)
        parts = [self._arrives(node, step), *self._sums(step, earlier), *self._retained(step.changes)]
        if unused := [str(i) for i, g in enumerate(step.grad_outputs) if g is None]:
            parts.append(
                words.UNUSED.format(indices=listed(unused)) if len(unused) < 4 else words.MANY_UNUSED.format(count=len(unused))
            )
        parts += self._sends(node, step)
        parts += self._freed(step)
        return " ".join(parts)

    def _accumulated(self, node: Node, step: Step, earlier: Trace) -> str:
        a = step.accumulation
        if a is None:
            return words.NO_GRADIENT.format(node=node.name)
        name = self._name(a.tensor, words.A_LEAF)
        if a.old is None:
            text = words.FIRST.format(name=name, new=value_text(a.new))
        elif not a.new.numbers or value_text(a.new) == shape_text(a.new.shape):
            text = words.ADDS_ARRAY.format(name=name, shape=shape_text(a.new.shape))
        else:
            text = words.ADDS.format(name=name, old=value_text(a.old), incoming=value_text(a.incoming), new=value_text(a.new))
        return " ".join([*self._sums(step, earlier), text])

    def _arrives(self, node: Node, step: Step) -> str:
        grads = listed([value_text(g) for g in step.grad_outputs if g is not None])
        made = [self._name(t, "") for t in self.outputs.get(node.op or "", ()) if t is not None]
        of = f" ({', '.join(m for m in made if m)})" if any(made) else ""
        return words.ARRIVES.format(node=node.name, of=of, grads=grads)

    def _sums(self, step: Step, earlier: Trace) -> list[str]:
        """Where several gradients arrived at one output: the parts and their sum."""
        found = []
        for change in step.changes:
            if change.at.startswith("sum:") and change.after is not None:
                index = int(change.at.rpartition(".")[2])
                parts = self._parts(step.node, index, earlier)
                total = value_text(change.after)
                found.append(words.SUM.format(count=len(parts), parts=" + ".join(map(value_text, parts)), total=total))
        return found

    def _parts(self, node: str, index: int, earlier: Trace) -> list[Value]:
        parts = []
        for before in earlier.steps:
            edges = zip(self.nodes[before.node].next_functions, before.grad_inputs, strict=True)
            parts += [g for f, g in edges if f.node == node and f.index == index and g is not None]
        return parts

    def _retained(self, changes: tuple[Change, ...]) -> list[str]:
        kept = (c.at.removeprefix("retain:") for c in changes if c.at.startswith("retain:"))
        return [words.RETAINED.format(name=self._name(t, words.A_TENSOR)) for t in kept]

    def _sends(self, node: Node, step: Step) -> list[str]:
        """Where its results go."""
        edges = list(enumerate(zip(node.next_functions, step.grad_inputs, strict=True)))
        sent = [self._sent(f.node, i, g, step) for i, (f, g) in edges if f.node is not None and g is not None]
        nowhere = [words.NOWHERE.format(index=i) for i, (f, _) in edges if f.node is None]
        return [words.SENDS.format(parts=listed(sent)), *nowhere] if sent else nowhere

    def _sent(self, node: str, index: int, value: Value, step: Step) -> str:
        shape = step.result_shapes[index]
        if shape is not None and shape != value.shape:
            from_to = {"shape": shape_text(shape), "into": shape_text(value.shape)}
            return words.UNBROADCAST.format(value=value_text(value), target=self._target(node), **from_to)
        return words.SENT.format(value=value_text(value), target=self._target(node))

    def _target(self, node: str) -> str:
        target = self.nodes[node]
        name = self._name(target.variable, words.A_LEAF) if target.variable else ""
        return f"{target.name} ({name})" if name else target.name

    def _freed(self, step: Step) -> list[str]:
        names = [c.at.rpartition(".")[2] for c in step.changes if ".saved." in c.at and c.after is None]
        return [words.FREED.format(names=", ".join(names))] if names else []

    def _name(self, tensor: str, otherwise: str) -> str:
        return self.tensors[tensor].name or otherwise


def listed(parts: list[str]) -> str:
    """a; a and b; a, b and c."""
    return words.AND.join([words.COMMA.join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
