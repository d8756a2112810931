"""Reasons and hints: what the graph and a dry run say about a grad, the order of functions, a box and saved tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .. import words
from ..answers.causes.why import Why
from ..answers.sentences import listed
from ..errors import UnknownChoiceError
from ..graph.model import Document, Node, Op, Tensor, Value
from ..graph.text import value_text
from ..graph.trace import Step, Trace
from .dry_run import DryRun, colour_of, labels, maker_of, node_named, tensor_of
from .question import Option, Question, Slip

FEW = 3  # the largest number of steps in the reason
LONGEST = 60  # the largest number of characters of a sum


def why_grad(dry_run: DryRun, tensor: str) -> str:
    """The gradients sent to the tensor, their rules, and the result."""
    arrivals, called = dry_run.arrivals(tensor), labels(dry_run.document)
    said = []
    for step, value in arrivals[-FEW:]:
        rules = words.COMMA.join(f"`{rule}`" for rule in rules_of(step, value))
        text = words.GRAD_BY_RULE if rules else words.GRAD_SENT
        said.append(text.format(node=called[step.node], rules=rules, value=value_text(value)))
    parts = " + ".join(value_text(value) for _, value in arrivals)
    if len(arrivals) > 1 and len(parts) <= LONGEST:
        said.append(words.GRAD_TOGETHER.format(count=len(arrivals), parts=parts))
    return words.BETWEEN.join([*dict.fromkeys(said), *_turns(dry_run, tensor), *filter(None, [_final(dry_run, tensor)])])


def rules_of(step: Step, value: Value) -> list[str]:
    """The formulas of a step that give this value."""
    given = value_text(value)
    return list(dict.fromkeys(f.text for f in step.formulas if f.text.endswith(given) and f.text != given))


def _final(dry_run: DryRun, tensor: str) -> str:
    """The stepper's answer to "Why is grad so?" at the end."""
    why, steps = Why(dry_run.document), dry_run.trace.steps
    found = why.at_start()
    for k, step in enumerate(steps):
        found |= why.after(step, Trace(steps[:k]))
    return found[tensor]


def slips_grad(dry_run: DryRun, tensor: str, name: str) -> tuple[Slip, ...]:
    """Wrong guesses, and the mistakes behind them."""
    right, t = dry_run.grad(tensor), tensor_of(dry_run.document, tensor)
    if right is None:
        return (("zero", words.SLIP_ZERO_FOR_NONE),)
    none = words.SLIP_NONE_RETAINED if t.retains_grad else words.SLIP_NONE if any(right.numbers) else words.SLIP_NONE_FOR_ZERO
    given = ("none", none.format(tensor=name)), ("shape", words.SLIP_SHAPE.format(shape=right.shape))
    # only one contribution, or only the gradient of this pass
    sent = [value for _, value in dry_run.arrivals(tensor)]
    added = [s.accumulation for s in dry_run.trace.steps if s.accumulation and s.accumulation.tensor == tensor]
    alone = [(v, words.SLIP_ONE_OF_MANY.format(given=value_text(v), count=len(sent))) for v in sent if len(sent) > 1]
    new = [(a.incoming, words.SLIP_NOT_ADDED.format(given=value_text(a.incoming))) for a in added if a.old is not None]
    return (*given, *alone, *new)


def hint_grad(dry_run: DryRun, tensor: str, name: str) -> str:
    """What reaches the tensor, by which rule, and what the rule needs."""
    t, arrivals = tensor_of(dry_run.document, tensor), dry_run.arrivals(tensor)
    if not t.is_leaf and not t.retains_grad:
        return words.HINT_NOT_LEAF.format(tensor=name)
    if not arrivals:
        return words.HINT_YELLOW.format(tensor=name)
    said = [words.HINT_MANY.format(count=len(arrivals), tensor=name)] if len(arrivals) > 1 else []
    said += [*_turns(dry_run, tensor), *[_rule_hint(dry_run.document, step, value) for step, value in arrivals[-FEW:]]]
    if t.grad is not None:
        said.append(words.HINT_HAS_GRAD.format(tensor=name, grad=value_text(t.grad)))
    return words.BETWEEN.join(dict.fromkeys(said))


def _turns(dry_run: DryRun, tensor: str) -> list[str]:
    """What is not seen in the rules: hooks that change a gradient on its way to the tensor, and ops that let none through."""
    document, called = dry_run.document, labels(dry_run.document)
    after, ways = {n.id: {e.node for e in n.next_functions} for n in document.nodes}, set[str | None]()
    found: set[str | None] = {tensor_of(document, tensor).grad_fn, *[n.id for n in document.nodes if n.variable == tensor]}
    while found:
        ways |= found
        found = {node for node, edges in after.items() if edges & found and node not in ways}
    ran = [(step.node, hook) for step in dry_run.trace.steps if step.node in ways for hook in step.hooks]
    changed = dict.fromkeys((hook.name, called[node]) for node, hook in ran if hook.before != hook.after)
    cut = dict.fromkeys(op.name for op in _cuts(document, tensor))
    hooks = [words.GRAD_HOOK.format(hook=hook, node=node) for hook, node in changed]
    return [*hooks, *[words.GRAD_CUT.format(op=op) for op in cut]]


def _cuts(document: Document, tensor: str) -> list[Op]:
    """The ops that took something computed from a tensor and were not recorded, though their result has gone on to the root."""
    takes = [(op, {i.tensor for i in op.inputs}, set(op.outputs)) for op in document.ops]
    used, made = set[str | None](document.roots), {tensor}
    for _, given, outputs in reversed(takes):
        used |= given if outputs & used else set()
    for op, given, outputs in takes:
        made |= {o for o in outputs if o} if op.node is not None and given & made else set()
    return [op for op, given, outputs in takes if op.node is None and given & made and outputs & used]


def _rule_hint(document: Document, step: Step, value: Value) -> str:
    """The rule of the node that sends the value, and what the reader needs to apply it."""
    node, called = node_named(document, step.node), labels(document)
    rule = next((text.split(" = ")[0] for text in rules_of(step, value)), "")
    if not rule:
        return words.HINT_NODE.format(node=called[node.id])
    said = [words.HINT_RULE.format(node=called[node.id], rule=rule)]
    saved = [s.name for s in node.saved if s.state != "none" and re.search(rf"\b{re.escape(s.name)}\b", rule)]
    if saved:
        said.append(words.HINT_SAVED.format(saved=listed([f"`{name}`" for name in saved])))
    before = [called[n.id] for n in document.nodes if any(after.node == node.id for after in n.next_functions)]
    first = next((value_text(v) for v in step.grad_outputs if v is not None), "")
    said.append(words.HINT_FROM.format(nodes=listed(before)) if before else words.HINT_FIRST.format(gradient=first))
    return words.BETWEEN.join(said)


def hint_unreached(document: Document, root: str) -> str:
    """The leaves that a pass from the root reaches."""
    leaves = [tensor_of(document, n.variable) for n in document.nodes if n.variable]
    reached = listed([f"`{t.name}`" if t.name else words.HINT_UNNAMED.format(value=value_text(t.value)) for t in leaves])
    return words.HINT_REACHED.format(root=root, leaves=reached or words.ASK_NONE_OF_THEM)


def hint_look(document: Document, t: Tensor, name: str) -> str:
    """The op that made a tensor and its inputs, or that no op made it."""
    maker = maker_of(document, t.id)
    if maker is None:
        return (words.HINT_MADE_SOMEHOW if t.grad_fn else words.HINT_CREATED).format(tensor=name)
    given = [tensor_of(document, i.tensor) for i in maker.inputs if i.tensor]
    inputs = [words.HINT_INPUT.format(tensor=g.name or value_text(g.value), requires=g.requires_grad) for g in given]
    said = words.HINT_MADE.format(op=maker.name, tensor=name, inputs=listed(inputs) or words.ASK_NONE_OF_THEM)
    return said + words.BETWEEN + words.HINT_ROW if t.requires_grad and t.grad_fn is None else said


def hint_saves(document: Document, node: Node) -> str:
    """The inputs to which a node sends gradients: what it saves is in their formulas."""
    given = [tensor_of(document, i.tensor) for op in document.ops if op.id == node.op for i in op.inputs if i.tensor]
    needed = listed(list(dict.fromkeys(f"`{g.name or value_text(g.value)}`" for g in given if g.requires_grad)))
    return words.HINT_SAVES.format(node=node.name, inputs=needed) if needed else ""


def hint_edges(document: Document) -> str:
    """The `next_functions` of the root's node, or that it has none."""
    called = labels(document)
    root = tensor_of(document, document.roots[0])
    if root.grad_fn is None:
        return words.HINT_NO_GRAD_FN.format(tensor=root.name or value_text(root.value))
    after = [(called[n.node] if n.node else "None", n.index) for n in node_named(document, root.grad_fn).next_functions]
    edges = ", ".join(f"({name}, {index})" for name, index in after)
    return words.HINT_EDGES.format(node=called[root.grad_fn], edges=edges)


MOST_HINTED = 20  # calls with a hint of their own


def order_question(dry_run: DryRun, root: str) -> Question:
    """The question: put all functions of a pass in order."""
    called = labels(dry_run.document)
    ran = [s.node for s in dry_run.trace.steps]
    created = [n.id for n in dry_run.document.nodes if n.id in ran]
    offered = created if created != ran else created[::-1]  # not in the order of running
    text, right = words.ASK_ORDER.format(root=root), tuple(offered.index(node) for node in ran)
    why = words.BETWEEN.join([words.ORDER_FIRST.format(node=called[ran[0]], root=root), words.ORDER_LATEST])
    options, slips = tuple(Option(called[node], "blue") for node in offered), tuple(_slips(dry_run, offered, called))
    return Question("order", text, right, why, options, words.HINT_ROOT.format(root=root), slips)


def _slips(dry_run: DryRun, offered: list[str], called: dict[str, str]) -> Iterator[Slip]:
    """At each position after the first, what a wrong choice there shows."""
    for k, (last, step) in enumerate(pairwise(dry_run.trace.steps[:MOST_HINTED]), 1):
        ready = listed([called[n] for n in last.engine.queue])
        said = words.ORDER_READY.format(count=k, before=called[last.node], ready=ready)
        waits = {  # what a function still waits for, if it has begun to wait
            w.node: words.BETWEEN + words.SLIP_WAITS.format(node=called[w.node], arrived=w.arrived, expected=w.expected)
            for w in last.engine.waiting
        }
        yield from (((k, i), said + waits.get(node, "")) for i, node in enumerate(offered) if node != step.node)


COLOURS = ("green", "yellow", "brown", "blue")
ROWS = ("is_leaf", "requires_grad", "grad_fn")


def color_question(document: Document, name: str) -> Question:
    """The colour of the root's box."""
    t = tensor_of(document, document.roots[0])
    texts = (words.COLOUR_GREEN, words.COLOUR_YELLOW, words.COLOUR_BROWN, words.COLOUR_BLUE)
    right, slip = (COLOURS.index(colour_of(t)),), ((COLOURS.index("blue"),), words.SLIP_BLUE.format(tensor=name))
    why, hint = why_look(document, t, name), hint_look(document, t, name)
    return Question("one", words.ASK_COLOR.format(tensor=name), right, why, tuple(map(Option, texts, COLOURS)), hint, (slip,))


def row_question(document: Document, name: str, row: str) -> Question:
    """The content of a row of the root's box. UnknownChoiceError if there is no such row."""
    if row not in ROWS:
        raise UnknownChoiceError("row", row, ROWS)
    t = tensor_of(document, document.roots[0])
    if row == "grad_fn":
        options = list(dict.fromkeys(["None", *(n.name for n in document.nodes)]))
        right = node_named(document, t.grad_fn).name if t.grad_fn else "None"
    else:
        options, right = ["True", "False"], str(getattr(t, row))
    text, choices = words.ASK_ROW.format(tensor=name, row=row), tuple(Option(f"`{o}`") for o in options)
    hint = hint_look(document, t, name)
    return Question("one", text, (options.index(right),), why_look(document, t, name), choices, hint)


def why_look(document: Document, t: Tensor, name: str) -> str:
    """The reason for a box's colour."""
    maker = maker_of(document, t.id)
    op = maker.name if maker else ""
    if t.grad_fn is not None:
        node = node_named(document, t.grad_fn).name
        written_over = words.LOOK_BROWN_SLICE if node == "CopySlices" else words.LOOK_BROWN
        return (written_over if maker else words.LOOK_BROWN_GONE).format(tensor=name, node=node, op=op)
    if t.requires_grad:
        return words.LOOK_GREEN.format(tensor=name)
    made = words.LOOK_YELLOW_DETACHED if op == "Detach" else words.LOOK_YELLOW_MADE
    return (made if maker else words.LOOK_YELLOW).format(tensor=name, op=op)


def saves_question(document: Document) -> Question:
    """Which tensors around the root's op does its node save?"""
    root = tensor_of(document, document.roots[0])
    op, node = maker_of(document, root.id), node_named(document, root.grad_fn or "")
    around = [i.tensor for i in op.inputs if i.tensor] + [o for o in op.outputs if o] if op else [root.id]
    tensors = [tensor_of(document, id) for id in dict.fromkeys(around)]
    kept = {s.tensor for s in node.saved}
    rules = [words.SAVES_RULE.format(input=f.input, rule=f.text) for f in node.formulas]
    why = words.BETWEEN.join([*rules, words.SAVES_NAMED] if rules else [words.SAVES_NO_RULE.format(node=node.name)])
    right = tuple(i for i, t in enumerate(tensors) if t.id in kept)
    options = tuple(Option(f"`{t.name or getattr(maker_of(document, t.id), 'name', t.value.text)}`") for t in tensors)
    return Question("many", words.ASK_SAVES.format(node=node.name), right, why, options, hint_saves(document, node))
