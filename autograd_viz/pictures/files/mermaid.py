"""The structure of the graph as a Mermaid flowchart, which READMEs on the web show. It has names, no values."""

from __future__ import annotations

from ...graph.model import Document
from ..layout.measure import op_title
from ..render import Theme
from ..render.escape import is_unwanted
from ..render.pen import tensor_kind
from ..render.writer import node_title

PLAIN = set(" ._-=,")


def mermaid(document: Document, theme: Theme) -> str:
    """A flowchart: solid lines for the forward graph, dotted lines for the backward graph."""
    lines = ["flowchart TD"]
    lines += [f'    {t.id}["{quoted(t.name or t.value.dtype)}"]:::{tensor_kind(t)}' for t in document.tensors]
    lines += [f'    {o.id}(["{quoted(op_title(o))}"]):::{"brown" if o.node else "yellow"}' for o in document.ops]
    lines += [f'    {n.id}("{quoted(node_title(n.name, theme))}"):::blue' for n in document.nodes]
    edges: list[tuple[str | None, str, str | None]] = [(i.tensor, "-->", o.id) for o in document.ops for i in o.inputs]
    edges += [(o.id, "-->", t) for o in document.ops for t in o.outputs]
    edges += [(t.id, "-.->", t.grad_fn) for t in document.tensors]
    edges += [(n.id, "-.->", f.node) for n in document.nodes for f in n.next_functions]
    edges += [(n.id, "-.->", n.variable) for n in document.nodes]
    lines += [f"    {a} {arrow} {b}" for a, arrow, b in edges if a is not None and b is not None]
    colour = theme.colours()
    lines += [
        f"    classDef {kind} fill:{colour[f'{kind}-fill']},stroke:{colour[f'{kind}-stroke']},color:{colour['text']}"
        for kind in ("green", "yellow", "brown", "blue")
    ]
    return "\n".join(lines) + "\n"


def quoted(words: str) -> str:
    """Words for inside quotes. Special characters become numeric entities."""
    return "".join(_quoted(c) for c in words) or " "


def _quoted(c: str) -> str:
    if c.isspace():
        return " "
    if is_unwanted(c):
        return "\ufffd"
    return c if c.isalnum() or c in PLAIN else f"#{ord(c)};"
