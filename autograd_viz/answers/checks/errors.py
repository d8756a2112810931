"""What an error of autograd means for this program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...graph.model import Tensor
from ...graph.surroundings import Source
from ...graph.text import few_names
from ..causes.cause import Cause, cause_of, source_of
from ..causes.code import called_at, maker_text, spelling
from ..causes.history import Op
from ..causes.paths import behind, is_op, with_history
from ..causes.question import Question
from ..sentences import explain_error, is_differentiable
from .missing import cuts_before, number_left, without_grad
from .updates import dropped

NO_GRAPH = "does not require grad and does not have a grad_fn"
TWICE = "through the graph a second time"
MODIFIED = "modified by an inplace operation"
NOT_LEAF = "can't optimize a non-leaf Tensor"
KNOWN = ("made_of_number", "made_early", "inference", "dtype")  # other reasons why a root has no history, besides its inputs
RENAMING = re.compile(r"\s*(\w+)\s*=.*\b\1\b")
ALONE = (
    "clamp", "clip", "clamp_min", "clamp_max", "relu", "abs", "to", "float", "double", "half", "clone", "sigmoid", "tanh",
    "mul", "div",
)  # fmt: skip
SLICING = ("getitem", "select", "narrow", "index_select", "chunk", "split", "unbind")
UNUSED = ("to not have been used in the graph", "One of the differentiated Tensors")
TAKES = (  # functions with the argument requires_grad
    *("tensor", "ones", "zeros", "full", "empty", "eye", "arange", "linspace", "rand", "randn"),
    *("ones_like", "zeros_like", "full_like", "rand_like", "randn_like"),
)


def causes_of_error(
    q: Question | None, message: str, node: str, line: Source | None, call: Mapping[str, str] | None = None
) -> list[Cause]:
    """What an error was about: `q` asks about the root of the pass that raised; its node, line and call are said if known."""
    found: list[Cause] = []
    if q is not None and MODIFIED in message:
        found = _modified(q, message)
    elif q is not None and TWICE in message:
        found = _twice(q)
    elif q is not None and NO_GRAPH in message:
        found = _no_graph(q, line)
    meaning = explain_error(message, node, call)
    general = [Cause("error", source=line, said={"meaning": meaning})] if meaning else [Cause("unknown_error")]
    return found or general


def complaint(q: Question, message: str, line: Source | None) -> list[Cause]:
    """What is wrong with an argument of the failing call; empty if the arguments are right."""
    if NOT_LEAF in message and not q.is_leaf:
        at = line if q.op is None else q.op.source
        return [Cause("optimizer_not_leaf", source=at, said={"op": maker_text(q.op, q.tensor)})]
    if not any(part in message for part in UNUSED):
        return []
    if not q.tensor.requires_grad:
        found, name = without_grad(q), q.name_of(q.tensor)
        return [cause_of("wanted_not_asked", found[0], tensor=name)] if found[0].kind == "not_asked" and name else found
    if q.root_op is None or q.is_reached_from(q.root_op):
        return []
    if q.op is not None and q.op.number > q.root_op.number:
        kind = "made_for_call" if q.op.name.strip("_") in SLICING else "made_after"
        return [cause_of(kind, q.op, op=spelling(q.op))]
    return cuts_before(q, q.root_op) or [Cause("no_path", source=line)]


def _no_graph(q: Question, line: Source | None) -> list[Cause]:
    """The root of a pass has no history."""
    op, off, own = q.op, q.history.switched_off(), without_grad(q)
    leaves = [] if op is None else [g for o in behind([op]) for g in o.given if not is_op(g)]
    if own[0].kind in KNOWN or (op is None and own[0].kind == "cut_no_grad"):
        return own
    if (switched := switched_on(q)) is not None:
        return [switched]
    if off and not any(type(leaf).__name__ == "Parameter" for leaf in leaves):
        return [cause_of("root_frozen", off[-1])]
    if op is not None and (op.given or op.cut):
        return own
    if own[0].kind != "not_asked_unseen" and (number := number_left(q)) is not None:
        return [cause_of("root_of_numbers", number, op=spelling(number))]
    return _of_leaves(q, line) or [Cause("root_unseen" if own[0].kind == "not_asked_unseen" else "root_of_data", source=line)]


def switched_on(q: Question) -> Cause | None:
    """`module.requires_grad = True` of a module whose parameters do not require grad: an attribute of its own."""
    for name, model in q.models.items():
        for path, part in model.named_modules():
            own = [*part.parameters()] if vars(part).get("requires_grad") is True else []
            if own and not any(p.requires_grad for p in own):
                return Cause("switch_on_module", said={"module": f"{name}.{path}".rstrip("."), "switch": "requires_grad"})
    return None


def _twice(q: Question) -> list[Cause]:
    """Which pass freed the graph, and which part of the graph was used again."""
    root = q.root_op
    before = [p for p in q.history.passes if not (p.error or p.keeps)] or [p for p in q.history.passes if not p.error]
    if root is None or not before:
        return []
    there = with_history([root])
    used = {op: p for p in reversed(before) if p.root is not None for op in with_history([p.root]) & there}
    used = used or {op: before[-1] for op in there if op.number < before[-1].number}  # what that pass went through is unknown
    lost = [c for c in dropped(q, {*used}) if c.said["op"] == "detach()"]
    if not used or lost:
        return lost[-1:]
    old = root if root in used else max(used, key=lambda op: op.number)
    where = {"pass": used[old].source}
    if used[old].name == "grad":
        return [cause_of("twice_after_grad", used[old], op=spelling(old))]
    if old is root:
        return [cause_of("twice_root", old, **where)]
    is_again = any(op.source == old.source for op in there - used.keys() if op.number > used[old].number)
    is_loop = q.history.passes[-1].source == used[old].source
    stepped = [h for h in q.history.optimizers(q.tensor) if any(s.number > used[old].number for s in h.steps)]
    is_others = bool(stepped) and not any(leaf is p for leaf in q.leaves_of(old) for h in stepped for p in h.leaves)
    first = min((op for op in there if op.source == old.source), key=lambda op: op.number)
    if _is_renamed(q, first):
        return [cause_of("twice_renamed", first, op=spelling(first))]
    kind = "twice" if is_again else "twice_before" if is_loop else "twice_of_other" if is_others else "twice_shared"
    return [cause_of(kind, old, op=spelling(old), **where)]


def _is_renamed(q: Question, op: Op) -> bool:
    """Has an op of a leaf that an optimizer has given the leaf's name to its result: `x = x.clamp(0, 1)`?"""
    leaf = op.given[0] if len(op.given) == 1 and op.name in ALONE else None
    is_plain = leaf is not None and not is_op(leaf) and type(leaf).__name__ != "Parameter" and q.name_of(leaf) is None
    is_held = is_plain and any(leaf is p for h in q.history.optimizers(q.tensor) for p in h.leaves)
    return is_held and RENAMING.match(getattr(op.source, "text", "")) is not None


def _modified(q: Question, message: str) -> list[Cause]:
    """Which op saved a tensor, and which line has modified it since."""
    saver, writer = q.history.modified(q.tensor, message)
    op = "" if saver is None else spelling(saver)
    if writer is not None:
        kind = "modified_by_step" if writer.kind == "step" else "modified"
        if kind == "modified_by_step" and (carried := _carried(q)):
            return carried
        return [cause_of(kind, writer, op=op, saved=source_of(saver))]
    return _carried(q) if saver is None else [cause_of("modified_unseen", saver, op=op)]


def _carried(q: Question) -> list[Cause]:
    """An op before the last step() is a part of the graph, and its line has run again since."""
    steps = [s for h in q.history.optimizers(q.tensor) for s in h.steps]
    last = max(steps, key=lambda s: s.number, default=None)
    there = with_history([q.root_op]) if last is not None and q.root_op is not None else set()
    old = max((op for op in there if last is not None and op.number < last.number), key=lambda op: op.number, default=None)
    is_again = old is not None and any(op.source == old.source for op in there if op.number > old.number)
    return [cause_of("modified_carried", last, op=spelling(old), saved=source_of(old))] if old is not None and is_again else []


def _of_leaves(q: Question, line: Source | None) -> list[Cause]:
    """Which leaves do not require grad; empty if something here does, or could: then the root was not computed from it."""
    kind: Any = next((k for k in type(q.tensor).__mro__ if k.__name__ == "Tensor"), object)
    named = {name: t for name, t in q.names.items() if isinstance(t, kind)}
    if q.models or any(t.requires_grad or type(t).__name__ == "Parameter" for t in named.values()):
        return []
    f = q.facts
    leaves = [t for t in f.tensors.values() if t.id not in f.makers and t.name and is_differentiable(t.value.dtype)]
    if f.subject.id not in f.makers and f.subject.source is None:  # nobody has seen what made it
        is_whole = line is not None and not line.function  # in a function, the variables around it are unknown
        others = [name for name, t in named.items() if is_whole and t is not q.tensor and t.is_floating_point()]
        return [Cause("root_of_leaves", source=line, said={"names": few_names(others)})] if others else []
    if len(leaves) == 1 and (code := _asking(leaves[0])):
        return [Cause("root_of_leaf", source=leaves[0].source, said={"leaf": leaves[0].name, "code": code})]
    return [Cause("root_of_leaves", source=line, said={"names": few_names([str(t.name) for t in leaves])})] if leaves else []


def _asking(leaf: Tensor) -> str:
    """The line that makes the leaf, with requires_grad=True; "" if that is not sure."""
    source, code = leaf.source, "" if leaf.source is None else leaf.source.expression
    is_its = source is not None and source.text[: source.column].replace(" ", "").endswith(f"{leaf.name}=")
    if not is_its or called_at(source) not in TAKES or "requires_grad" in code:
        return ""
    given = code[:-1].rstrip(" ,")
    return f"{leaf.name} = {given}{'' if given.endswith('(') else ', '}requires_grad=True)"
