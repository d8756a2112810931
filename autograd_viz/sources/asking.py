"""A question about a tensor, whoever it belongs to, as `reasons` wants it: the document, the numbers, and what is live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..graph.model import Document, Value
from . import asked_core
from .anything import is_torch
from .from_core import CoreGraph


class Question(NamedTuple):
    """Everything that is known about one tensor.

    Attributes:
        graph: the live graph.
        document: the same as a document.
        subject: the tensor's id.
        past: the numbers of the last pass.
        live: what only the live graph can tell (`reasons.Live`).
        loss: ids of the roots.
    """

    graph: Any
    document: Document
    subject: str
    past: Mapping[str, Value | None]
    live: Any
    loss: tuple[str, ...]


def question(tensor: Any, loss: Any, variables: Mapping[str, Any]) -> Question:
    """The question about a tensor.

    Args:
        tensor: of the core's or of PyTorch's.
        loss: the root; None to look for it among the variables.
        variables: the caller's names.
    """
    if is_torch(tensor):
        from .pytorch import asked
        from .pytorch.graph import TorchGraph

        roots = asked.roots_for(tensor, variables) if loss is None else (loss,)
        graph: Any = TorchGraph((*roots, tensor), variables)
        live: Any = asked.TorchLive(graph, variables)
        past = {**graph.past().values, **live.numbers()}
    else:
        roots = asked_core.roots_for(tensor, variables) if loss is None else (loss,)
        graph = CoreGraph((*roots, tensor), variables)
        live = asked_core.CoreLive(graph)
        past = {**asked_core.numbers_of(graph), **live.numbers()}
    ids = tuple(id for r in roots if (id := graph.tensor_id(r)) is not None)
    return Question(graph, graph.document, graph.tensor_id(tensor) or graph.document.roots[-1], past, live, ids)


def losses_beside(tensor: Any, variables: Mapping[str, Any]) -> list[Any]:
    """Losses among the variables that no path leads from to the tensor: it may be cut off from them. The latest first."""
    if is_torch(tensor):
        from .pytorch import asked

        return asked.roots_beside(tensor, variables)
    return asked_core.roots_beside(tensor, variables)


def is_lost(loss: Any, tensor: Any) -> bool:
    """Is the loss a number without a graph, and the tensor another, without a grad yet?"""
    if is_torch(tensor) != is_torch(loss):
        return False
    if is_torch(tensor):
        from .pytorch import asked

        return asked.is_lost(loss, tensor)
    return asked_core.is_lost(loss, tensor)
