"""A step of the backward pass, or an op of the forward pass, in plain words with its numbers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from ... import words
from ...graph.model import Document, NextFunction, Node, Op, Tensor, Value
from ...graph.text import call_text, gradient_text, shape_text, value_text
from ...graph.trace import Change, HookRun, Step
from .named import NamedRules
from .past import Arrivals, sent
from .text import before_hooks, first_few, hook_kind, is_differentiable, is_shape, listed, same, size_text, together, written

FEW = 4  # leaves that are named one by one
MANY_PARTS = 8  # a sum with more parts is not written out
MANY_UNUSED = 4  # outputs that are counted, not listed
MANY_BYTES = 1000  # the sentence tells the freed memory from here on


class Sentences:
    """Writes the sentence of each step of one document, the graph before the pass, and its rules in the user's names (`rules`).

    Args:
        document: the graph.
        recorded: the pass itself is recorded (create_graph).
        frees: steps free saved tensors; else the sentence says what backward() would free.
    """

    def __init__(self, document: Document, recorded: bool = False, frees: bool = True) -> None:
        self.tensors = {t.id: t for t in document.tensors}
        self.nodes = {n.id: n for n in document.nodes}
        self.namesakes = Counter(n.name for n in document.nodes)
        self.order, self.ops = document.ops, {o.id: o for o in document.ops}
        self.used = {(f.node, f.index) for n in document.nodes for f in n.next_functions}
        self.recorded, self.frees = recorded, frees
        self.rules = NamedRules(document)

    def start(self, node: str | None) -> str:
        """Before the first step."""
        return words.NOTHING if node is None else words.START.format(node=self.nodes[node].name)

    def forward(self, position: int) -> str:
        """The last event of the forward pass: -F (before the first of F ops: the leaves) to 0 (the last op has run).

        Raises:
            IndexError: there is no such position.
        """
        done = position + len(self.order)
        if not 0 <= done <= len(self.order):
            raise IndexError(f"position {position} is out of range; the forward pass has positions -{len(self.order)} to 0")
        return self._ran(self.order[done - 1]) if done else self._leaves()

    def _leaves(self) -> str:
        """The tensors that no op has made."""
        made = {id for op in self.order for id in op.outputs}
        given = [t for t in self.tensors.values() if t.id not in made]
        if not given:
            return words.NO_LEAVES
        if len(given) > FEW:
            return words.MANY_LEAVES.format(count=len(given), wanted=sum(t.requires_grad for t in given))
        said = [(words.LEAF_WITH_GRAD if t.requires_grad else words.LEAF, t) for t in given]
        leaves = [text.format(name=t.name or words.A_TENSOR, value=value_text(t.value)) for text, t in said]
        return words.LEAVES.format(leaves=listed(leaves))

    def _ran(self, op: Op) -> str:
        """What one op computed, saved and created."""
        outputs = [None if id is None else self.tensors[id] for id in op.outputs]
        values = [value_text(t.value) for t in outputs if t is not None]
        node = None if op.node is None else self.nodes[op.node]
        saved = [s.name for s in node.saved if s.state in ("kept", "freed")] if node else []
        computed, ran = (words.COMPUTES_AND_SAVES, words.RAN_AND_SAVES) if saved else (words.COMPUTES, words.RAN)
        template = computed if values else ran
        text = template.format(call=self._call(op, outputs), value=listed(values), names=listed(saved))
        if node is not None and node.name == "CopySlices" and values:  # a view was changed, and so its base
            name = next((t.name for t in outputs if t is not None and t.name), words.A_TENSOR)
            text = words.WRITES_THROUGH.format(call=self._call(op, []), name=name, value=listed(values))
        return together([text, self._created(op, node, outputs)])

    def _call(self, op: Op, outputs: list[Tensor | None]) -> str:
        """`c = Mul(a, b)`; an unnamed operand is its value."""
        given = [(None if o.tensor is None else self.tensors[o.tensor], o.text) for o in op.inputs]
        operands = [text if t is None else t.name or value_text(t.value) for t, text in given]
        call = f"{op.name}({', '.join(first_few(operands))})"
        names = [t.name if t is not None and t.name else "_" for t in outputs]
        return f"{', '.join(first_few(names))} = {call}" if any(n != "_" for n in names) else call

    def _created(self, op: Op, node: Node | None, outputs: list[Tensor | None]) -> str:
        """The node that was created, or why there is none."""
        if node is not None:
            return words.CREATED.format(node=node.name)
        dtypes = [t.value.dtype for t in outputs if t is not None]
        if dtypes and not any(map(is_differentiable, dtypes)):
            return words.NOT_DIFFERENTIABLE.format(dtype=dtypes[0])
        if op.name == "Detach":
            return words.CUT_OFF.format(op=op.name)
        wanted = any(o.tensor is not None and self.tensors[o.tensor].requires_grad for o in op.inputs)
        return words.NOT_RECORDED if wanted else words.NOT_WANTED

    def said(self, step: Step, arrivals: Arrivals) -> str:
        """What this step did; `arrivals` had been sent to its node."""
        node = self.nodes[step.node]
        if node.variable is not None:
            came, after = self._arrived(step, arrivals), _hooks(step, "post_accumulate")
            return together([*came, *self._accumulated(node, step), *after])
        if all(g is None for g in (*step.grad_outputs, *step.grad_inputs)):
            return together([words.NO_GRADIENT_PASSED.format(node=node.name), *self._freed(step)])
        came = [self._arrives(node, step), *self._arrived(step, arrivals), *self._unused(node, step)]
        left = [*_hooks(step, "post"), *self._sends(node, step), *([words.RECORDED] if self.recorded else [])]
        op = self.ops.get(node.op or "")  # a compiled pass frees all at once
        freed = [] if op is not None and op.reason == "opened" else self._freed(step)
        return together([*came, *left, *self._interpreted(op, node, step), *freed])

    def _accumulated(self, node: Node, step: Step) -> list[str]:
        a = step.accumulation
        if a is None:
            return [words.NO_GRADIENT.format(node=node.name)]
        name = self.tensors[a.tensor].name or words.A_LEAF
        if a.old is None:
            return [words.FIRST.format(name=name, new=gradient_text(a.new))]
        if is_shape(a.new):
            return [words.ADDS_ARRAY.format(name=name, shape=shape_text(a.new.shape))]
        return [words.ADDS.format(name=name, old=value_text(a.old), incoming=value_text(a.incoming), new=value_text(a.new))]

    def _arrives(self, node: Node, step: Step) -> str:
        """What arrived, before hooks."""
        made = self._results(node)
        of = words.OF.format(names=words.COMMA.join(made)) if made else ""
        values = [before_hooks(step, i) for i in range(len(step.grad_outputs))]
        grads = [gradient_text(g) for g in values if g is not None]
        return (words.ARRIVES if grads else words.ALL_ZERO).format(node=node.name, of=of, grads=listed(grads))

    def _arrived(self, step: Step, arrivals: Arrivals) -> list[str]:
        """What happened to it on arrival: edits, sums, hooks, retain_grad."""
        edits = [words.EDITED.format(value=written(before_hooks(step, i))) for i in step.edited]
        retained = [self._retained(c) for c in step.changes if c.at.startswith("retain:") and c.after is not None]
        return [*edits, *self._sums(step, arrivals), *_hooks(step, "tensor"), *retained, *_hooks(step, "pre")]

    def _retained(self, kept: Change) -> str:
        """What retain_grad() has kept, and its earlier value."""
        tensor = kept.at.removeprefix("retain:")
        name, old = self.tensors[tensor].name or words.A_TENSOR, kept.before
        if old is None:
            return words.RETAINED.format(name=name)
        return words.RETAINED_ADDED.format(name=name, old=gradient_text(old), new=written(kept.after))

    def _sums(self, step: Step, arrivals: Arrivals) -> list[str]:
        """Outputs at which several gradients arrived: the parts and their sum."""
        found = []
        for index, several in arrivals.items():
            parts, total = sent(several), before_hooks(step, index)
            if len(parts) < 2 or total is None or index in step.edited:
                continue
            if is_shape(total):
                found.append(words.SUM_ARRAY.format(count=len(parts), shape=shape_text(total.shape)))
            elif len(parts) > MANY_PARTS:
                found.append(words.SUM_MANY.format(count=len(parts), total=value_text(total)))
            else:
                terms = " + ".join(map(value_text, parts))
                found.append(words.SUM.format(count=len(parts), parts=terms, total=value_text(total)))
        return found

    def _unused(self, node: Node, step: Step) -> list[str]:
        """Outputs without a gradient, and the reason."""
        empty = [i for i, g in enumerate(step.grad_outputs) if g is None]
        if len(empty) == len(step.grad_outputs):
            return []
        unused, dropped = ([str(i) for i in empty if ((node.id, i) in self.used) is used] for used in (False, True))
        form = words.UNUSED if len(unused) < MANY_UNUSED else words.MANY_UNUSED
        said = [form.format(indices=listed(unused), count=len(unused))] if unused else []
        return said + [words.NONE_ARRIVED.format(indices=listed(dropped))] * bool(dropped)

    def _sends(self, node: Node, step: Step) -> list[str]:
        edges = list(enumerate(zip(node.next_functions, step.grad_inputs, strict=True)))
        sent = self._each(node, [(f, self._sent(f, i, g, step)) for i, (f, g) in edges if g is not None and f.node is not None])
        none = [self._target(f, node) for _, (f, g) in edges if f.node is not None and g is None]
        nowhere = [str(i) for i, (f, _) in edges if f.node is None]
        said = [words.SENDS.format(parts=listed(sent))] if sent else []
        said += [words.SENDS_NONE.format(target=listed(none))] if none else []
        if nowhere:
            form = words.NOWHERE if len(nowhere) == 1 else words.MANY_NOWHERE
            said.append(form.format(index=nowhere[0], indices=listed(nowhere)))
        return said

    def _each(self, sender: Node, sent: list[tuple[NextFunction, str]]) -> list[str]:
        """What was sent. Several nodes that get the same once, and that nothing tells apart, are counted."""
        to: dict[str, list[NextFunction]] = defaultdict(list)
        for after, text in sent:
            to[text].append(after)
        found = []
        for after, text in sent:
            if len(to[text]) == 1 or len({a.node for a in to[text]}) < len(to[text]):
                found.append(text)
            elif after is to[text][0]:
                target = self._target(after, sender)
                found.append(text.replace(target, words.EACH_OF.format(count=len(to[text]), node=target)))
        return found

    def _sent(self, after: NextFunction, index: int, value: Value, step: Step) -> str:
        shape = step.result_shapes[index] if step.result_shapes else None
        target = self._target(after, self.nodes[step.node])
        if shape is not None and shape != value.shape:
            from_to = {"shape": shape_text(shape), "into": shape_text(value.shape)}
            return words.UNBROADCAST.format(value=value_text(value), target=target, **from_to)
        return words.SENT.format(value=gradient_text(value), target=target)

    def _target(self, after: NextFunction, sender: Node) -> str:
        target = self.nodes[after.node or ""]
        name = self.tensors[target.variable].name or words.A_LEAF if target.variable else self._result_of(target, sender)
        return f"{target.name}{words.OF.format(names=name)}" if name else target.name

    def _result_of(self, node: Node, sender: Node) -> str:
        """The name of its op's result, if another node has the same name; else, if that one gets a gradient too, its call."""
        if self.namesakes[node.name] < 2:
            return ""
        receivers = {after.node for after in sender.next_functions if after.node is not None}
        alike = [self._called(self.nodes[id]) for id in receivers if self.nodes[id].name == node.name]
        called = self._called(node)
        return next(iter(self._results(node)), called if len(alike) > 1 and alike.count(called) == 1 else "")

    def _called(self, node: Node) -> str:
        """The name of its op's result, else the call as rules and marks write it: `Mul(a, b)`."""
        call = call_text(self.rules.names, self.ops[node.op]) if node.op in self.ops else ""
        return next(iter(self._results(node)), call)

    def _results(self, node: Node) -> list[str]:
        made = () if node.op not in self.ops else self.ops[node.op].outputs
        return [name for t in made if t is not None and (name := self.tensors[t].name)]

    def _interpreted(self, op: Op | None, node: Node, step: Step) -> list[str]:
        """How the numbers of a compiled region were made."""
        if op is not None and op.reason == "cached":
            return [words.REASON_CACHED]
        if op is None or op.reason != "opened":
            return []
        if step.interpreted is None:
            return [words.COMPILED_RAN, *([words.GRAPH_BREAK.format(reason=op.graph_break)] if op.graph_break else [])]
        gap = step.interpreted
        told = words.INTERPRETED_GAP.format(gap=gap) if gap else words.INTERPRETED_SAME
        told = words.INTERPRETED if math.isnan(gap) else told
        again = [f"{s.name} = {s.text}" for s in node.saved if s.state == "plain"]
        return [*([words.COMPUTED_AGAIN.format(values=listed(again))] if again else []), told]

    def _freed(self, step: Step) -> list[str]:
        freed = [c.at.rpartition(".")[2] for c in step.changes if ".saved." in c.at and c.after is None]
        if not freed:
            return []
        names = words.COMMA.join(first_few(freed))
        if step.freed >= MANY_BYTES:
            names = f"{names} ({size_text(step.freed)})"
        return [(words.FREED if self.frees else words.WOULD_FREE).format(names=names)]


def _hooks(step: Step, kind: str) -> list[str]:
    """What the user's hooks of one kind did to the gradient."""
    return [_hook(h) for h in step.hooks if h.kind == kind]


def _hook(hook: HookRun) -> str:
    before, after = written(hook.before), written(hook.after)
    if same(hook.before, hook.after):
        form = words.HOOK_RAN if hook.before is None else words.HOOK_SAW
    elif hook.after is None:
        form = words.HOOK_TOOK if hook.kind == "post_accumulate" else words.HOOK_DROPPED
    else:
        form = words.HOOK_CHANGED_ARRAY if before == after else words.HOOK_CHANGED
    return form.format(kind=hook_kind(hook), name=hook.name, before=before, after=after, shape=after)
