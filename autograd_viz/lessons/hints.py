"""Hints: facts of the graph that lead to an answer and do not say it."""

from __future__ import annotations

import re

from .. import words
from ..answers.sentences import listed
from ..graph.model import Document, Node, Tensor, Value
from ..graph.text import value_text
from ..graph.trace import Step
from .dry_run import DryRun, labels, maker_of, node_named, tensor_of
from .reasons_of_grad import FEW, rules_of


def hint_grad(dry_run: DryRun, tensor: str, name: str) -> str:
    """What reaches the tensor, by which rule, and what the rule needs."""
    document, t = dry_run.document, tensor_of(dry_run.document, tensor)
    arrivals = dry_run.arrivals(tensor)
    if not t.is_leaf and not t.retains_grad:
        return words.HINT_NOT_LEAF.format(tensor=name)
    if not arrivals:
        return words.HINT_YELLOW.format(tensor=name)
    said = [_rule_hint(document, step, value) for step, value in arrivals[-FEW:]]
    if len(arrivals) > 1:
        said.insert(0, words.HINT_MANY.format(count=len(arrivals), tensor=name))
    if t.grad is not None:
        said.append(words.HINT_HAS_GRAD.format(tensor=name, grad=value_text(t.grad)))
    return words.BETWEEN.join(dict.fromkeys(said))


def _rule_hint(document: Document, step: Step, value: Value) -> str:
    """The rule of the node that sends the value, and what the reader needs to apply it."""
    node, called = node_named(document, step.node), labels(document)
    rule = next((text.split(" = ")[0] for text in rules_of(step, value)), "")
    if not rule:
        return words.HINT_NODE.format(node=called[node.id])
    saved = [s.name for s in node.saved if s.state != "none" and re.search(rf"\b{re.escape(s.name)}\b", rule)]
    asked = words.HINT_SAVED.format(saved=listed([f"`{name}`" for name in saved])) if saved else ""
    sent = words.HINT_RULE.format(node=called[node.id], rule=rule)
    return words.BETWEEN.join(filter(None, (sent, asked, _from(document, node, step))))


def _from(document: Document, node: Node, step: Step) -> str:
    """Which nodes send a gradient to this one, or that it gets the first one."""
    called = labels(document)
    before = [called[n.id] for n in document.nodes if any(after.node == node.id for after in n.next_functions)]
    first = next((value_text(v) for v in step.grad_outputs if v is not None), "")
    return words.HINT_FROM.format(nodes=listed(before)) if before else words.HINT_FIRST.format(gradient=first)


def hint_unreached(document: Document, root: str) -> str:
    """The leaves that a pass from the root reaches."""
    names = [tensor_of(document, n.variable).name for n in document.nodes if n.variable]
    reached = listed([f"`{name}`" for name in names if name])
    return words.HINT_REACHED.format(root=root, leaves=reached or words.ASK_NONE_OF_THEM)


def hint_look(document: Document, t: Tensor, name: str) -> str:
    """The op that made a tensor and its inputs, or that no op made it."""
    maker = maker_of(document, t.id)
    if maker is None:
        return (words.HINT_MADE_SOMEHOW if t.grad_fn else words.HINT_CREATED).format(tensor=name)
    given = [tensor_of(document, i.tensor) for i in maker.inputs if i.tensor]
    inputs = [words.HINT_INPUT.format(tensor=g.name or value_text(g.value), requires=g.requires_grad) for g in given]
    return words.HINT_MADE.format(op=maker.name, tensor=name, inputs=listed(inputs) or words.ASK_NONE_OF_THEM)


def hint_saves(document: Document, node: Node) -> str:
    """The inputs to which a node sends gradients: what it saves is in their formulas."""
    op = next((op for op in document.ops if op.id == node.op), None)
    given = [tensor_of(document, i.tensor) for i in op.inputs if i.tensor] if op else []
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
