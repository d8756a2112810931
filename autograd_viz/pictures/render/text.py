"""The picture in plain text: for a terminal, and for screen readers."""

from __future__ import annotations

from ...graph.model import Document, Node
from ...graph.text import value_text
from ...graph.trace import State
from .escape import printable

WIDTH = 40
FEW = 12  # edges of one node
MOST = 60  # lines of tensors, and of nodes


def text_picture(document: Document, state: State, next_node: str | None = None) -> str:
    """Tensors with their grads, then backward nodes, the last op's first; `>`: it is `next_node`, `*`: it has run last."""
    tensors = [t for t in document.tensors if t.id not in state.hidden and (t.name or t.is_leaf)]
    lines = [_row("tensor", "data", "grad")]
    for t in tensors[:MOST]:
        kind, grad = "leaf" if t.is_leaf else "non-leaf", state.values.get(f"{t.id}.grad", t.grad)
        title = f"{t.name or '(unnamed)'}  [{kind}{', requires grad' if t.requires_grad else ''}]"
        lines.append(_row(title, value_text(t.value), "None" if grad is None else value_text(grad)))
    lines += [f"… and {len(tensors) - MOST} more"] * (len(tensors) > MOST)
    names = {t.id: t.name or "?" for t in document.tensors}
    titles = {n.id: n.name + (f" ({names[n.variable]})" if n.variable else "") for n in document.nodes}
    nodes = document.nodes[::-1]
    marks = {next_node: ">"} | ({state.current.node: "*"} if state.current is not None else {})
    lines += ["", "backward", *(f"{marks.get(n.id, ' ')} {_node(n, titles, state)}" for n in nodes[:MOST])]
    lines += [f"… and {len(nodes) - MOST} more"] * (len(nodes) > MOST)
    return "\n".join(printable(line).rstrip() for line in lines)


def _row(name: str, data: str, grad: str) -> str:
    return f"{name:<{WIDTH}.{WIDTH}} {data:<30.30} {grad}"


def _node(n: Node, titles: dict[str, str], state: State) -> str:
    """A node and what went along its edges."""
    sent = []
    for i, after in enumerate(n.next_functions):
        value = state.values.get(f"next:{n.id}.{i}")
        to = "None" if after.node is None else titles[after.node]
        sent.append(f"{to}{'' if value is None else f' <- {value_text(value)}'}")
    sent = sent if len(sent) <= FEW else [*sent[: FEW - 1], f"… and {len(sent) - FEW + 1:,} more"]
    return titles[n.id] + (f"  -> {', '.join(sent)}" if sent else "")
