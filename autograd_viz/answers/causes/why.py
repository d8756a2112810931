"""Why is this tensor's grad what it is? One answer per tensor, at the start and whenever a step changes it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ... import words
from ...graph.model import Document, Node, Op, Tensor, Value
from ...graph.order import reached_from
from ...graph.text import shape_text
from ...graph.trace import Change, Step, Trace
from ..sentences import PROPERTIES, Births, after_hooks, hook_kind, is_differentiable, listed, same, together, written
from .answer import sentence
from .facts import Facts
from .ops import cuts_of

RULES = (  # the beginning of a node's name, and how its rule makes a gradient zero
    ("ReluBackward", "WHY_ZERO_RELU"),
    ("ClampBackward", "WHY_ZERO_CLAMP"),
    ("HardtanhBackward", "WHY_ZERO_CLAMP"),
    ("MulBackward", "WHY_ZERO_MUL"),
)
BIRTHS = {  # by the way in which a property began
    "node": "WHY_{}", "sum": "WHY_SUM_{}", "start": "WHY_{}_FROM_START", "hook": "WHY_HOOKED_{}", "edit": "WHY_EDITED_THERE",
}  # fmt: skip
FEW = 3  # nodes that an answer names
MOST_CUT = 40  # tensors that are followed to where they were detached from the loss


class Why:
    """Explains the grads of the tensors of one document, the graph before the pass, step by step."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = {n.id: n for n in document.nodes}
        self.makers: dict[str, Op] = {id: op for op in document.ops for id in op.outputs if id is not None}
        self.births = Births(document)
        leaves = {n.variable: n.id for n in document.nodes if n.variable is not None}
        self.node_of = {t.id: leaves.get(t.id) if t.is_leaf else t.grad_fn for t in document.tensors}
        self.tensors_at: dict[str, list[Tensor]] = {}
        for t in document.tensors:
            self.tensors_at.setdefault(self.node_of[t.id] or "", []).append(t)
        starts = [node for root in document.roots if (node := self.node_of[root]) is not None]
        self.expected = dict.fromkeys(starts, 1)
        self.senders: dict[str, list[str]] = {}
        for id in reached_from(self.nodes, starts):
            for after in self.nodes[id].next_functions:
                if after.node is not None:
                    self.expected[after.node] = self.expected.get(after.node, 0) + 1
                    self.senders.setdefault(after.node, []).append(id)
        self.starts = set(starts)
        freed = [n.id for n in document.nodes if any(s.state == "freed" for s in n.saved)]
        self.cut = reached_from(self.nodes, (f.node for id in freed for f in self.nodes[id].next_functions if f.node))

    def at_start(self) -> dict[str, str]:
        """The answer for every tensor of the document before the pass, by id."""
        found = {t.id: self._without_gradient(t) or self._pending(t) for t in self.document.tensors}
        unreached = (t.id for t in self.document.tensors if self._is_unreached(t) and (t.name or t.is_leaf))
        cuts = _cut_sentences(self.document, islice(unreached, MOST_CUT))
        return found | {id: together([found[id], cut]) for id, cut in cuts.items() if cut}

    def _is_unreached(self, t: Tensor) -> bool:
        """Could it keep a gradient, and does no path lead to it?"""
        return t.requires_grad and self.node_of[t.id] not in self.expected

    def _without_gradient(self, t: Tensor) -> str:
        """Why no gradient will be kept; "" if one will."""
        grad = written(t.grad)
        if not t.requires_grad:
            return words.WHY_BEFORE.format(grad=grad) if t.grad is not None else self._not_required(t)
        if self._is_unreached(t):
            return words.WHY_UNREACHED.format(grad=grad)
        node = self.node_of[t.id] or ""
        if not t.is_leaf and not t.retains_grad:
            return words.WHY_NOT_RETAINED.format(node=self.nodes[node].name)
        return words.WHY_FREED.format(grad=grad) if node in self.cut else ""

    def _not_required(self, t: Tensor) -> str:
        maker = self.makers.get(t.id)
        if not is_differentiable(t.value.dtype):
            return words.WHY_DTYPE.format(dtype=t.value.dtype)
        if maker is None:
            return words.WHY_NOT_REQUIRED
        if maker.node is not None and not maker.members:  # another result of the op requires grad
            return words.WHY_NOT_DIFFERENTIABLE.format(op=maker.name)
        return (words.WHY_DETACHED if maker.name == "Detach" else words.WHY_NOT_RECORDED).format(op=maker.name)

    def _pending(self, t: Tensor, arrived: int = 0) -> str:
        """What must happen before a gradient is kept here."""
        node = self.node_of[t.id] or ""
        grad, name, expected = written(t.grad), self.nodes[node].name, self.expected[node]
        arrived += node in self.starts
        if arrived >= expected:
            return words.WHY_READY.format(grad=grad, node=name)
        if arrived or expected > 1:
            return words.WHY_WAITS.format(grad=grad, node=name, arrived=arrived, expected=expected)
        names = list(dict.fromkeys(self.nodes[s].name for s in self.senders[node]))[:FEW]
        return words.WHY_NOT_YET.format(grad=grad, nodes=listed(names))

    def after(self, step: Step, earlier: Trace) -> dict[str, str]:
        """The answers that a step changed, by tensor id, after the steps before it."""
        self.births.follow(earlier.steps)
        return self.next(step)

    def next(self, step: Step) -> dict[str, str]:
        """The answers that the next step changed, by tensor id."""
        self.births.add(step)
        number = len(self.births.past.steps)
        found = {}
        for node in dict.fromkeys(after.node for after in self.nodes[step.node].next_functions if after.node):
            arrived = sum(len(self.births.past.arrivals.get((node, i), ())) for i in range(self.nodes[node].outputs))
            for t in self.tensors_at.get(node, ()):
                if t.requires_grad and (t.is_leaf or t.retains_grad):
                    found[t.id] = self._pending(t, arrived)
        changes = {c.at: c for c in step.changes}
        for t in self.tensors_at.get(step.node, ()):
            found[t.id] = self._reached(t, step, number, changes.get(f"{t.id}.grad"))
        return found

    def _reached(self, t: Tensor, step: Step, number: int, change: Change | None) -> str:
        """The step ran the node of this tensor."""
        node = self.nodes[step.node]
        index = t.output_nr if node.variable is None else 0
        incoming = after_hooks(step, index) if index < len(step.grad_outputs) else None
        if incoming is None:
            return words.WHY_NOTHING_ARRIVED.format(grad=written(t.grad), node=node.name, step=number)
        extras = [*self._changed_on_the_way(step, number, index), *self._properties(number, index)]
        if change is None or change.after is None:
            form = words.WHY_PASSED if change is None or step.accumulation is None else words.WHY_TAKEN
            return together([form.format(value=written(incoming), node=node.name, step=number), *extras])
        made = step.accumulation.new if step.accumulation is not None else change.after
        was = [n for n in ("nan", "inf") if change.before and PROPERTIES[n](change.before) and not PROPERTIES[n](incoming)]
        old = [words.WHY_OLD_BAD.format(what=n) for n in was]
        return together([_kept(node, change, made, incoming, number), *extras, *old])

    def _changed_on_the_way(self, step: Step, number: int, index: int) -> list[str]:
        """Hooks and edits at this node."""
        said = []
        for h in step.hooks:
            if h.kind in ("tensor", "pre", "post_accumulate") and h.index == index and not same(h.before, h.after):
                before, after = written(h.before), written(h.after)
                said.append(words.WHY_HOOK.format(kind=hook_kind(h), name=h.name, before=before, after=after, step=number))
        return said + [words.WHY_EDITED.format(step=number)] * (index in step.edited)

    def _properties(self, number: int, index: int) -> list[str]:
        """Where zeros, nan and inf began, if the gradient has them and no other sentence says it."""
        said = []
        for name in ("zero", "nan", "inf"):
            birth = self.births.of(number, index, name)
            if birth is None or (birth.how in ("hook", "edit") and birth.step == number):
                continue
            node = self.nodes[birth.node]
            form = getattr(words, BIRTHS[birth.how].format("ZERO" if name == "zero" else "BAD"))
            said.append(form.format(what=name, node=node.name, step=birth.step))
            if name == "zero" and birth.how == "node":
                said += [getattr(words, rule).format(node=node.name) for begin, rule in RULES if _has_rule(node, begin)]
        return said


def _has_rule(node: Node, begin: str) -> bool:
    """Is it such a node? A product counts only if it has saved a zero: a product of tiny numbers may be zero, too."""
    factors = [s.value for s in node.saved if s.value is not None]
    return node.name.startswith(begin) and (begin != "MulBackward" or any(map(PROPERTIES["zero"], factors)))


def _kept(node: Node, change: Change, made: Value, incoming: Value, number: int) -> str:
    """What is in grad now, and how it got there; `made`: before post-accumulate hooks."""
    new = change.after or made
    if change.before is None:
        template = words.WHY_FIRST if node.variable is not None else words.WHY_RETAINED
        return template.format(new=written(new), incoming=written(incoming), node=node.name, step=number)
    if written(new) == shape_text(new.shape):
        return words.WHY_ADDED_ARRAY.format(shape=written(new), step=number)
    said = {"old": written(change.before), "incoming": written(incoming), "made": written(made), "step": number}
    return words.WHY_ADDED.format(new=written(new), **said)


def _cut_sentences(document: Document, tensors: Iterable[str]) -> dict[str, str]:
    """Where the path to a tensor was detached, for those of the tensors that get no gradient."""
    f: Facts | None = None
    found = {}
    for id in tensors:
        f = f or Facts(document, id, {}, None, tuple(document.roots))
        if id in f.behind_loss:
            cuts = cuts_of(f.about(id))
            found[id] = sentence(cuts[0], f.tensors[id].name or words.THE_TENSOR) if cuts else ""
    return found
