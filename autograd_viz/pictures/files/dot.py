"""The graph for Graphviz, in the theme's colours for further editing, and its structure for Mermaid, which READMEs show.

Edges of the backward graph are written from head to tail and drawn backwards, so that both graphs run down the page.
"""

from __future__ import annotations

from typing import Any

from ...graph.model import Document, Node, Op, Tensor
from ...graph.trace import State
from ..layout.measure import op_title, tensor_inputs
from ..render import Theme, Writer
from ..render.escape import element, is_unwanted, text
from ..render.pen import tensor_kind
from ..render.svg import FONT
from ..render.writer import Lines, Run, clipped, label_text, node_title

ROWS = ("data", "grad", "grad_fn", "is_leaf", "requires_grad")
MOST_COLUMNS = 200  # of a line; Graphviz refuses a text of 16,384 bytes, and a box of 10,000 letters
BLANKS = str.maketrans("\t\n", "  ")  # Graphviz ignores both, and a line of only these is an error


def digraph(document: Document, state: State, theme: Theme) -> Any:
    """A graphviz.Digraph of a document in a state."""
    return _Drawing(document, state, theme).graph


class _Drawing:
    def __init__(self, document: Document, state: State, theme: Theme) -> None:
        from graphviz import Digraph

        self.document, self.state, self.theme = document, state, theme
        self.colour, self.writer = theme.colours(), Writer(document, theme)
        self.tensors, self.nodes = {t.id: t for t in document.tensors}, {n.id: n for n in document.nodes}
        self.lit = state.current.node if state.current else None
        plain = {"shape": "plain", "fontname": FONT, "fontsize": "11"}
        edges = {"fontname": FONT, "fontsize": "10", "fontcolor": self.colour["link"]}
        self.graph = Digraph("autograd", graph_attr={"bgcolor": theme.canvas}, node_attr=plain, edge_attr=edges)
        for tensor in document.tensors:
            self.tensor(tensor)
        for op in document.ops:
            self.op(op)
        for node in document.nodes:
            self.node(node)

    def tensor(self, t: Tensor) -> None:
        """Five rows, and an arrow from grad_fn to the backward node."""
        rows = [(key, self.writer.lines(f"{t.id}.{key}", self.state)) for key in ROWS]
        self.box(t.id, t.name or "", rows, tensor_kind(t), 3)
        if t.grad_fn is not None:
            self.edge(t.id, t.grad_fn, "blue", f"grad_fn:{t.id}", tail="grad_fn:e", constraint="false")

    def op(self, o: Op) -> None:
        """One word, next to its backward node."""
        kind = "brown" if o.node else "yellow"
        self.box(o.id, op_title(o), [], kind, 3 if o.node else 2)
        for t in tensor_inputs(o):
            self.edge(t, o.id, tensor_kind(self.tensors[t]))
        for output in filter(None, o.outputs):
            self.edge(o.id, output, kind)
        if o.node is not None:
            with self.graph.subgraph() as beside:
                beside.attr(rank="same")
                beside.node(o.id)
                beside.node(o.node)

    def node(self, n: Node) -> None:
        """Saved tensors and next_functions, with an arrow from each."""
        saved = self.writer.lines(f"{n.id}.saved", self.state)
        rows: list[tuple[str, Lines]] = [("saved", saved)] if saved else []
        for i, f in enumerate(n.next_functions):
            name = node_title(self.nodes[f.node].name, self.theme) if f.node else "None"
            rows.append((f"next{i}", ((Run(f"next_functions[{i}] = ({name}, {f.index})"),),)))
        self.box(n.id, node_title(n.name, self.theme), rows, "blue", 2)
        for i, f in enumerate(n.next_functions):
            if f.node is not None:  # up the page
                self.edge(f.node, n.id, "blue", f"next:{n.id}.{i}", head=f"next{i}:e", dir="back")
        if n.variable is not None:
            self.edge(n.id, n.variable, "blue", f"grad:{n.id}", head="grad:e", constraint="false")

    def box(self, id: str, title: str, rows: list[tuple[str, Lines]], kind: str, width: int) -> None:
        """A table: the title, then white rows."""
        cells = [element("TD", self.runs((Run(title or " "),)), BORDER=0)]
        for port, lines in rows:
            said = element("BR").join(map(self.runs, lines)) or " "
            cells.append(element("TD", said, PORT=port, BGCOLOR=self.colour["row"], ALIGN="LEFT", BALIGN="LEFT"))
        stroke = self.colour["grad" if id == self.lit else f"{kind}-stroke"]
        table = element(
            "TABLE", "".join(element("TR", cell) for cell in cells), BORDER=width, CELLBORDER=1, CELLSPACING=3, CELLPADDING=3,
            COLOR=stroke, BGCOLOR=self.colour[f"{kind}-fill"], STYLE=None if kind in ("green", "yellow") or rows else "ROUNDED",
        )  # fmt: skip
        self.graph.node(id, label=f"<{table}>")

    def runs(self, runs: tuple[Run, ...]) -> str:
        """Coloured words. Spaces are kept."""
        return "".join(element("FONT", literal(run.text), COLOR=self.colour[run.role]) for run in runs if run.text)

    def edge(self, source: str, target: str, kind: str, at: str = "", *, tail: str = "", head: str = "", **more: str) -> None:
        value = self.state.values.get(at)  # the gradient that passed there
        label = f"<{literal(label_text(value))}>" if value is not None else ""
        ends = [":".join(filter(None, (id, port))) for id, port in ((source, tail), (target, head))]
        thick = {"blue": "1.2", "yellow": "1.2"}.get(kind, "3")
        self.graph.edge(*ends, label=label, color=self.colour[f"{kind}-stroke"], penwidth=thick, **more)


def literal(words: str) -> str:
    r"""Words inside an HTML-like label. Spaces are kept, and a backslash, which is special there, is escaped."""
    shown = clipped(words, MOST_COLUMNS).translate(BLANKS)
    return text(shown).replace("\\", "\\\\").replace(" ", "&#160;")


PLAIN = set(" ._-=,\ufffd")


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
    for kind in ("green", "yellow", "brown", "blue"):
        fill, stroke = colour[f"{kind}-fill"], colour[f"{kind}-stroke"]
        lines.append(f"    classDef {kind} fill:{fill},stroke:{stroke},color:{colour['text']}")
    return "\n".join(lines) + "\n"


def quoted(words: str) -> str:
    """Words for inside quotes. Special characters become numeric entities."""
    shown = (" " if c.isspace() else "\ufffd" if is_unwanted(c) else c for c in words)
    return "".join(c if c.isalnum() or c in PLAIN else f"#{ord(c)};" for c in shown) or " "
