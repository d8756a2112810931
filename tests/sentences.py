"""A stepped pass for tests of what is said about it."""

from __future__ import annotations

from typing import Any

import autograd_viz as av
from autograd_viz.answers.causes.why import Why
from autograd_viz.answers.sentences import Past, Sentences
from autograd_viz.graph import Document
from autograd_viz.graph.trace import Step, Trace
from autograd_viz.sources.twin.graph import CoreGraph
from autograd_viz.sources.twin.node_pass import CorePass


def stepped(root: av.Tensor, names: dict[str, Any], **options: Any) -> tuple[Document, tuple[Step, ...]]:
    """The document of `root` before the pass, and all steps of the pass."""
    graph = CoreGraph([root], names)
    live = CorePass(graph, root, options.get("gradient"), options.get("retain_graph"), options.get("create_graph", False))
    steps = []
    while (step := live.advance()) is not None:
        steps.append(step)
    return graph.document, tuple(steps)


def said(document: Document, steps: tuple[Step, ...], recorded: bool = False) -> list[str]:
    """The sentence of each step."""
    past, writer = Past(document), Sentences(document, recorded)
    return [sentence_after(past, writer, steps[: i + 1]) for i in range(len(steps))]


def sentence_after(past: Past, writer: Sentences, steps: tuple[Step, ...]) -> str:
    """The sentence of the last of some steps."""
    past.follow(steps[:-1])
    return writer.said(steps[-1], past.arrived_at(steps[-1].node))


def whys(document: Document, steps: tuple[Step, ...]) -> list[dict[str | None, str]]:
    """Why each grad is so, by the tensor's name: at the start, and what each step changed."""
    why = Why(document)
    names = {t.id: t.name for t in document.tensors}
    found = [why.at_start(), *(why.after(step, Trace(steps[:i])) for i, step in enumerate(steps))]
    return [{names[id]: text for id, text in changed.items()} for changed in found]


def finally_why(document: Document, steps: tuple[Step, ...]) -> dict[str | None, str]:
    """The last answer for each tensor."""
    return {name: text for changed in whys(document, steps) for name, text in changed.items()}
