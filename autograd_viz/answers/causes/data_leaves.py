"""A root without a graph in a program without a model: its leaves do not require grad, and one line changes that."""

from __future__ import annotations

from typing import Any

from ...graph.model import Tensor
from ...graph.surroundings import Source
from ...graph.text import few_names
from ..sentences import is_differentiable
from .cause import Cause
from .code import called_at
from .question import Question

TAKES = (  # functions with the argument requires_grad
    *("tensor", "ones", "zeros", "full", "empty", "eye", "arange", "linspace", "rand", "randn"),
    *("ones_like", "zeros_like", "full_like", "rand_like", "randn_like"),
)


def of_leaves(q: Question, line: Source | None) -> list[Cause]:
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
