"""Steppers for tests: over any program, and over one whose five steps are known."""

from __future__ import annotations

from typing import Any

import autograd_viz as av
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.sources.twin.node_pass import CorePass
from autograd_viz.stepper import Stepper


def stepper_of(root: av.Tensor, names: dict[str, Any], **options: Any) -> Stepper:
    graph = CoreGraph([root], names)
    live = CorePass(graph, root, options.get("gradient"), options.get("retain_graph"), options.get("create_graph", False))
    return Stepper(graph.document, live)


def three_leaves(**options: Any) -> tuple[Stepper, dict[str, av.Tensor]]:
    """e = (a * b) * d: MulBackward0, AccumulateGrad (d), MulBackward0, AccumulateGrad (a), AccumulateGrad (b)."""
    a, b, d = (av.tensor(v, requires_grad=True) for v in (2.0, 3.0, 4.0))
    c = a * b
    names = {"a": a, "b": b, "c": c, "d": d, "e": c * d}
    return stepper_of(names["e"], names, **options), names


def address(s: Stepper, name: str) -> str:
    """Where the picture writes the grad of a tensor."""
    return next(t.id for t in s.document.tensors if t.name == name) + ".grad"


def drift(s: Stepper) -> dict[str, Any]:
    names = {t.id: t.name for t in s.document.tensors}
    return {names[at.removesuffix(".grad")] or "": v and v.numbers for at, v in s.drift().items()}


def grad_fn_of(s: Stepper, name: str) -> str | None:
    return next(t.grad_fn for t in s.document.tensors if t.name == name)


def names_of(s: Stepper, ids: Any) -> list[str]:
    """The names of nodes by id, of AccumulateGrad with its tensor."""
    nodes = {n.id: n for n in s.document.nodes}
    tensors = {t.id: t.name for t in s.document.tensors}
    return [nodes[i].name + (f" {tensors[nodes[i].variable]}" if nodes[i].variable else "") for i in ids]
