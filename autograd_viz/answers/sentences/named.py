"""The rules of a step in the user's names: `to a: (gradient of c) × b = 4.0 × 3.0 = 12.0`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from ... import words
from ...graph.model import Document, Formula, Node, Saved, Value
from ...graph.text import call_text, value_text
from ...graph.trace import NamedRule, Step, Term
from .past import Arrival, Arrivals, sent
from .text import before_hooks, is_shape

LONGEST = 110  # characters of a rule
MOST_PARTS = 3  # of a sum that is written out
_TOKEN = re.compile(r"[^\W\d]\w*(?:\[\d+\])?ᵀ?|[\d.]+(?:e[+-]?\d+)?\w*|\*\*|\s+|.", re.DOTALL)
_TRANSPOSED = re.compile(r"\b(?:t|mT)\(([^\W\d]\w*)\)")
_NAME = r"([^\W\d]\w*?(?:\[\d+\])?)(ᵀ?)"
_ONE, _TWO = re.compile(rf"{_NAME}|(?:expand|sum_to)\({_NAME}, \([\d, ]*\)\)"), re.compile(rf"{_NAME} ([-+*/@]) {_NAME}")
_OUTER = re.compile(rf"ger\({_NAME}, {_NAME}\)")
# functions that take one element of each argument
_EXPONENTIAL, _ROUND = {"exp", "exp2", "log", "log1p", "sigmoid", "sqrt", "ndtr", "bell"}, {"sin", "cos", "sinh", "cosh"}
_CHOOSING = {"abs", "sgn", "sign", "eq", "ne", "logical_and", "logical_or", "where", "zeros_like", "expand"}
_POINTWISE = _EXPONENTIAL | _ROUND | _CHOOSING
SIGNS = {"*": "×", "@": "·"}  # other signs stay


class NamedRules:
    """Writes the rules of the steps of one document."""

    def __init__(self, document: Document) -> None:
        self.names = {t.id: t.name or "" for t in document.tensors}
        self.has_grad = {t.id for t in document.tensors if t.grad is not None}
        self.nodes = {n.id: n for n in document.nodes}
        self.ops = {o.id: o for o in document.ops}
        self.makers = {t: (o.id, i) for o in document.ops for i, t in enumerate(o.outputs) if t is not None}

    def of(self, step: Step, arrivals: Arrivals) -> tuple[NamedRule, ...]:
        """The sums of what arrived, what was added to a grad, and the rules that ran."""
        node = self.nodes[step.node]
        sums = [self._sum(node, step, i, several) for i, several in arrivals.items() if _is_added(step, i, several)]
        return (*sums, *self._accumulated(step, bool(sums)), *self._rules(node, step))

    def _sum(self, node: Node, step: Step, index: int, several: Sequence[Arrival]) -> NamedRule:
        """The gradients that were added before the node."""
        terms = tuple([Term(self._sender(a), f"next:{a.sender.node}.{a.edge}") for a in several])
        values = [*sent(several), step.grad_outputs[index]]
        leaf, name = node.variable or "", self._variable(node.id, index)
        is_grad = self.names.get(leaf) and leaf not in self.has_grad  # AccumulateGrad sets it to the sum
        target = f"{name}.grad" if is_grad else words.GRADIENT_OF.format(name=name) if name else ""
        return _sum(target, terms, values, f"grad_outputs.{index}")

    def _sender(self, arrival: Arrival) -> str:
        node = self.nodes[arrival.sender.node]
        of = self._made(node.op, 0)
        return words.FROM_NODE.format(node=f"{node.name} ({of})" if of else node.name)

    def _accumulated(self, step: Step, is_sum: bool) -> list[NamedRule]:
        """What AccumulateGrad added to a grad. A first gradient is said if it is an array, and not already a sum."""
        a = step.accumulation
        if a is None or (a.old is None and (is_sum or not _is_array(a.new))):
            return []
        name = self.names[a.tensor]
        gradient = words.GRADIENT_OF.format(name=name or words.A_LEAF)
        target = f"{name}.grad" if name else gradient
        came = Term(gradient, "accumulation.incoming")
        if a.old is None:
            return [NamedRule(f"{target} = {gradient}", "accumulation.new", (came,))]
        return [_sum(target, (Term(target, "accumulation.old"), came), [a.old, a.incoming, a.new], "accumulation.new")]

    def _rules(self, node: Node, step: Step) -> list[NamedRule]:
        edges = [i for i, after in enumerate(node.next_functions) if after.node is not None]
        unclear = self._unclear(node)
        known = self._known(node, unclear)
        if len(edges) != len(step.formulas):  # one rule returns all gradients
            return [NamedRule(f"grad_{f.input} = {' = '.join(_sides(node, f, known))}") for f in step.formulas]
        targets = [self._variable(node.next_functions[i].node or "", node.next_functions[i].index) for i in edges]
        names = ["" if name in unclear else name for name in targets]
        return [self._rule(node, step, *told, known) for told in zip(edges, names, step.formulas, strict=True)]

    def _rule(self, node: Node, step: Step, edge: int, name: str, formula: Formula, known: Known) -> NamedRule:
        left, text = step.grad_inputs[edge], " = ".join(_sides(node, formula, known))
        text = words.SENT_TO.format(name=name, rule=text) if name else f"grad_{formula.input} = {text}"
        if left is None:
            return NamedRule(text)
        if step.result_shapes and step.result_shapes[edge] not in (None, left.shape):
            size = f"({'×'.join(map(str, left.shape))})"  # as under the heat maps
            text = words.SUMMED.format(text=text, value=size if is_shape(left) else value_text(left))
        terms, sign = terms_of(_rule_text(node, formula), known)
        values = [left, *step.grad_outputs, *(s.value for s in node.saved)]
        has_arrays = any(v is not None and _is_array(v) for v in values)
        return NamedRule(text, f"grad_inputs.{edge}", terms, sign) if has_arrays else NamedRule(text)

    def _unclear(self, node: Node) -> set[str]:
        """Expressions that stand for two of the tensors in the node's rules, as in a chain of `h = sigmoid(h)`."""
        after = [(self.nodes[e.node].op, e.index) for e in node.next_functions if e.node is not None]
        made = [*after, *[(node.op, i) for i in range(node.outputs)], *[self.makers.get(s.tensor or "") for s in node.saved]]
        called = Counter(self._made(*m) for m in {*made} if m is not None)
        return {call for call, count in called.items() if count > 1}

    def _known(self, node: Node, unclear: set[str]) -> dict[str, Operand]:
        """What the names in the node's rules stand for. What is `unclear` keeps PyTorch's name, which its box shows, too."""
        kept = {s.name: self._kept(node, s) for s in node.saved if s.value is not None}
        known = {name: Operand(name if text in unclear else text, f"saved.{name}") for name, text in kept.items()}
        for i in range(node.outputs):
            if name := self._made(node.op, i):
                gradient = "" if name in unclear else words.GRADIENT_OF.format(name=name)
                text = gradient or (f"grads[{i}]" if node.outputs > 1 else "grad")
                known[f"grads[{i}]"] = Operand(text, f"grad_outputs.{i}", is_phrase=bool(gradient))
        return known | ({"grad": known["grads[0]"]} if "grads[0]" in known else {})

    def _variable(self, node: str, index: int) -> str:
        """The tensor to whose node a gradient goes: its name or its expression; "" if it is not known."""
        leaf = self.nodes[node].variable
        return (self.names[leaf] or words.A_LEAF) if leaf is not None else self._made(self.nodes[node].op, index)

    def _made(self, id: str | None, index: int) -> str:
        """The tensor that an op made as this result, whose gradient arrives at that output of its node."""
        op = self.ops.get(id or "")
        if op is None or index >= len(op.outputs):
            return ""
        return self.names.get(op.outputs[index] or "") or self._call(op.id, index)

    def _kept(self, node: Node, saved: Saved) -> str:
        """A saved tensor: its name, its expression, or the number in the user's code; else PyTorch's name."""
        if saved.tensor is not None:
            made = self.makers.get(saved.tensor)
            return self.names.get(saved.tensor) or (self._call(*made) if made else saved.name)
        op = self.ops.get(node.op or "")
        text = "" if saved.value is None else value_text(saved.value)
        return text if op is not None and text in [o.text for o in op.inputs if o.tensor is None] else saved.name

    def _call(self, op: str, index: int) -> str:
        call = call_text(self.names, self.ops[op])
        return f"{call}[{index}]" if len(self.ops[op].outputs) > 1 else call


def _is_added(step: Step, index: int, several: Sequence[Arrival]) -> bool:
    """Were a few gradients added, and did nobody change their sum?"""
    parts, total = sent(several), before_hooks(step, index)
    is_plain = total is not None and total == step.grad_outputs[index] and index not in step.edited
    return is_plain and len(parts) == len(several) and 2 <= len(parts) <= MOST_PARTS


def _sum(target: str, terms: tuple[Term, ...], values: Sequence[Value | None], result: str) -> NamedRule:
    """A sum: with numbers if they are few, else with names."""
    there = [v for v in values if v is not None]
    if any(map(is_shape, there)):
        return NamedRule(f"{target} = {' + '.join(t.name for t in terms)}", result, terms, "+")
    *numbers, total = map(value_text, there)
    text = f"{target} = {' + '.join(numbers)} = {total}"
    return NamedRule(text, result, terms, "+") if any(map(_is_array, there)) else NamedRule(text)


def _is_array(value: Value) -> bool:
    return math.prod(value.shape) > 1


def _rule_text(node: Node, formula: Formula) -> str:
    """The rule in PyTorch's names, whole: a step cuts a long one."""
    whole = next((f.text for f in node.formulas if f.input == formula.input), "")
    return whole or _parts(formula)[0]


def _parts(formula: Formula) -> list[str]:
    """The rule, its numbers and its result."""
    return formula.text.partition(", summed to ")[0].split(" = ")


def _sides(node: Node, formula: Formula, known: Known) -> list[str]:
    """The rule in the user's names, and its numbers if they are few."""
    rule = rewritten(_rule_text(node, formula), known)
    numbers = [rewritten(part, {}) for part in _parts(formula)[1:] if "shape (" not in part]
    return [rule if len(rule) <= LONGEST else rule[: LONGEST - 1] + "…", *numbers]


class Operand(NamedTuple):
    """What a name in a rule stands for."""

    text: str  # the user's name for it
    at: str  # where its value is, as in `Term`
    is_phrase: bool = False  # the text has words, so it needs brackets beside a sign


Known = Mapping[str, Operand]  # by name in the rule; a name that is not known stays


def rewritten(rule: str, known: Known) -> str:
    """The rule in other names and signs: `grad * other` as `(gradient of c) × b`."""
    tokens = _TOKEN.findall(_TRANSPOSED.sub(r"\1ᵀ", rule))
    return "".join(_token_text(tokens, i, known) for i in range(len(tokens)))


def _token_text(tokens: list[str], i: int, known: Known) -> str:
    token = tokens[i]
    before, after = (next((t for t in side if not t.isspace()), "") for side in (reversed(tokens[:i]), tokens[i + 1 :]))
    if token in SIGNS and tokens[i - 1 : i + 2] == [" ", token, " "]:
        return SIGNS[token]
    name = token.removesuffix("ᵀ")
    if name not in known or after in ("(", "=") or before == ".":
        return token
    text, is_alone = known[name].text, before in ("", "(", ",", "[") and after in ("", ")", ",", "]") and name == token
    return (f"({text})" if known[name].is_phrase and not is_alone else text) + "ᵀ" * (name != token)


def terms_of(rule: str, known: Known) -> tuple[tuple[Term, ...], str]:
    """The arrays in a rule, and its sign, as in `NamedRule`. No arrays if one of two is not known."""
    rule = _TRANSPOSED.sub(r"\1ᵀ", rule)
    if found := _TWO.fullmatch(rule):
        first, first_turned, sign, second, second_turned = found.groups()
        if first in known and second in known:
            return (_term(first, first_turned, known), _term(second, second_turned, known)), SIGNS.get(sign, sign)
        return (), ""
    if found := _ONE.fullmatch(rule):
        name, turned = found[1] or found[3], found[2] or ""
        return ((_term(name, turned, known),) if name in known else ()), ""
    if (found := _OUTER.fullmatch(rule)) and found[1] in known and found[3] in known:
        return (_term(found[1], "", known), _term(found[3], "", known)), "⊗"
    tokens = _TOKEN.findall(rule)
    called = {t for t, after in pairwise([*tokens, ""]) if after == "(" and t.isidentifier()}
    names = dict.fromkeys(t for t, after in pairwise([*tokens, ""]) if after not in ("(", "=") and t in known)
    is_pointwise = called <= _POINTWISE and not {"@", "["} & {*tokens}
    return tuple([_term(name, "", known) for name in names]), "∘" if is_pointwise else ","


def _term(name: str, turned: str, known: Known) -> Term:
    text, at, is_phrase = known[name]
    return Term(f"({text}){turned}" if turned and is_phrase else text + turned, at, bool(turned))
