"""How big things are: monospace text is measured by its characters, boxes by their rows (figure grammar of Waite)."""

from __future__ import annotations

import math
import unicodedata
from itertools import accumulate, zip_longest

from ...graph.model import Document, NextFunction, Node, Op, Saved, Tensor, Value
from ...graph.text import brief_value, python_text, shape_text
from .parts import PITCH, Part
from .sizes import Sizes

ADVANCE = 0.602  # width of a character of DejaVu Sans Mono, in em
ROW_SIZE, LABEL_SIZE, CAPTION_SIZE, OP_SIZE, FRAME_SIZE = 11.4, 12, 15, 14, 13  # px
TENSOR_WIDTH, OP_WIDTH, PLAIN_WIDTH, NODE_WIDTH = 180, 200, 80, 180
WIDE_NODE = 220  # with numbers after its tuples
ROW_COLUMNS = 22  # characters of a row's text at full size: `grad_fn = MulBackward0`
MOST_COLUMNS = 28  # and drawn smaller
SCALAR_COLUMNS, SMALL_COLUMNS, ARRAY_COLUMNS = 7, 14, 18  # characters of a gradient on an arrow
LARGE_COLUMNS = 24  # the same for four elements or more: as wide as a node, so neighbours keep apart
NORM_COLUMNS = 15  # ` · norm 1.2e-05`, which follows the shape of a larger one
LABEL_HEIGHT = 14
BRIEF_COLUMNS = 14  # of a value on one line
MOST_SAVED = 12  # written saved tensors of a node
MOST_NAME = 16  # written columns of a name in next_functions
MOST_OPERANDS = 12  # written operands of an op that has numbers among them
CALLED_COLUMNS = 19  # of what a group says of its nodes, besides two numbers: `4 of 4 nodes called`
TENSOR_ROWS = ("data", "grad", "grad_fn", "is_leaf", "requires_grad")


def columns(text: str) -> int:
    """Columns of a monospace text: an East Asian wide character takes two, a combining one takes none."""
    if text.isascii():  # nearly always
        return len(text)
    rare = [c for c in text if c > "\x7f"]
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in rare)
    none = sum(unicodedata.combining(c) != 0 for c in rare)
    return len(text) + wide - none


def cut(text: str, width: int) -> str:
    """The first `width` columns of a text. A letter may have accents, but a very long text is not read to its end."""
    beginning = text[: 8 * width]
    if columns(beginning) <= width:
        return beginning
    used = accumulate(map(columns, beginning))
    return beginning[: sum(1 for so_far in used if so_far <= width)]


def text_width(text: str, size: float) -> float:
    """Width in px of a monospace text of `size` px."""
    return columns(text) * ADVANCE * size


def label_columns(shape: tuple[int, ...]) -> int:
    """Columns of a gradient of this shape on an arrow. The shape is known beforehand: it is the tensor's."""
    if (size := math.prod(shape)) > 4:
        return min(LARGE_COLUMNS, len(str(shape)) + NORM_COLUMNS)
    if size == 4:
        return LARGE_COLUMNS
    return SCALAR_COLUMNS if shape == () else SMALL_COLUMNS if size < 3 else ARRAY_COLUMNS


def label_width(shape: tuple[int, ...]) -> float:
    """The same in px, with a margin."""
    return math.ceil(label_columns(shape) * ADVANCE * LABEL_SIZE) + 6


def count_text(count: int) -> str:
    """How many edges are drawn as one; empty for one."""
    return f"× {count:,}" if count > 1 else ""


def count_width(count: int) -> float:
    """Px of that text."""
    return text_width(count_text(count), LABEL_SIZE)


def edge_width(edge: NextFunction, shape: tuple[int, ...]) -> float:
    """Width in px of the text on an edge: its count, or its gradient."""
    return math.ceil(count_width(edge.count)) + 12 if edge.count > 1 else label_width(shape)


def op_title(op: Op) -> str:
    """`Mul`; `Mul(·, 3)` if a Python number was given."""
    if all(i.tensor is not None for i in op.inputs):
        return op.name
    inside = ["·" if i.tensor is not None else i.text for i in op.inputs[: MOST_OPERANDS + 1]]
    return f"{op.name}({', '.join(inside[:MOST_OPERANDS] + ['…'] * (len(inside) > MOST_OPERANDS))})"


def title_of(t: Tensor, sizes: Sizes) -> str:
    """What stands at the top of a tensor's box: its name; in brief `b = 36.0`, or `W (3, 4)` if the numbers are many."""
    if sizes.detail == "full" or (sizes.detail == "names" and t.name):
        return t.name or ""
    text = python_text(t.value)
    text = text if columns(text) <= BRIEF_COLUMNS else brief_shape(t.value.shape)
    if not t.name:
        return text
    return " ".join((cut(t.name, MOST_NAME), *(() if text.startswith("(") else ("=",)), text))


def accumulate_title(node: Node, variable: Tensor | None, sizes: Sizes) -> str:
    """`AccumulateGrad`; in brief with the name of its leaf."""
    named = sizes.detail == "brief" and variable is not None and variable.name
    return f"{node.name} {cut(named, MOST_NAME)}" if named else node.name


def brief_shape(shape: tuple[int, ...]) -> str:
    """`(3, 4)`."""
    return brief_value(shape_text(shape))


def grad_columns(shape: tuple[int, ...]) -> int:
    """Columns of a grad on one line; of a longer one the shape is written."""
    return max(BRIEF_COLUMNS if shape else SCALAR_COLUMNS + 2, columns(brief_shape(shape)))


def brief_room(shape: tuple[int, ...] | None) -> tuple[int, str]:
    """Columns of a row's text in brief, and what stands for a longer one: those of a grad of this shape, or of another text."""
    return (MOST_COLUMNS, "") if shape is None else (grad_columns(shape), brief_shape(shape))


def _brief_saved(node: Node) -> list[int]:
    """Columns of each saved tensor on one line, before and after backward has freed it, or `packed` by a hook."""
    kept = saved_tensors(node)[:MOST_SAVED]
    texts = [s.value.text if s.value is not None and s.value.summary is None else "" for s in kept]
    shapes = [brief_shape(s.value.shape) if s.value is not None else "" for s in kept]
    inside = [brief_value(t) if t and columns(t) <= MOST_COLUMNS - len(f"{s.name} = tensor()") else shape
              for s, t, shape in zip(kept, texts, shapes, strict=True)]  # fmt: skip
    least = [len("packed" if s.value is None and s.state == "kept" else "freed") for s in kept]
    return [columns(f"{s.name} = ") + max(columns(t), w) for s, t, w in zip(kept, inside, least, strict=True)]


def tensor_inputs(op: Op) -> list[str]:
    """The tensors that it takes. One that is given twice counts twice."""
    return [i.tensor for i in op.inputs if i.tensor is not None]


def entry_step(op: Op, sizes: Sizes) -> float:
    """Px between the arrows into an op: room for the numbers on them."""
    if any(i.count > 1 for i in op.inputs):
        return 100
    return 30 if op.node is None else sizes.entry


def saved_tensors(node: Node) -> list[Saved]:
    """What it keeps for backward, or kept until backward freed it. If it is something, there is a ctx."""
    return [s for s in node.saved if s.state in ("kept", "freed")]


def shown_saved(node: Node) -> int:
    """How many lines the saved row has. If there are very many, the last line counts the rest."""
    return min(len(saved_tensors(node)), MOST_SAVED + 1)


def row_width(longest: int, sizes: Sizes) -> float:
    """Width in px of a box whose longest row has so many columns: 180, or 220 at most if it `fits`."""
    wanted = 20 * math.ceil((min(longest, MOST_COLUMNS) * ADVANCE * ROW_SIZE + 27) / 20)
    return max(TENSOR_WIDTH, wanted) if sizes.fits else TENSOR_WIDTH


def tensor_part(t: Tensor, row: int, sizes: Sizes, grad_fn: str) -> Part:
    """Five rows, which are taller if a value takes two lines. `grad_fn` is the name of its node."""
    if sizes.detail != "full":
        return _brief_tensor(t, row, sizes)
    inside = 0 if t.value.summary is not None else columns(t.value.text) + (3 if t.value.shape else len("data = tensor()"))
    longest = max(inside, len("grad_fn = ") + columns(grad_fn))
    part = Part(t.id, "tensor", row, row_width(longest, sizes), 0)
    y = sizes.head
    for key in TENSOR_ROWS:
        tall = sizes.pair if key in ("data", "grad") and t.value.shape != () else sizes.row
        part.rows.append((key, y, tall))
        part.ports[key] = y + tall - sizes.row / 2
        y += tall
    part.h = y + sizes.foot
    return part


def _brief_tensor(t: Tensor, row: int, sizes: Sizes) -> Part:
    text = columns(title_of(t, sizes)) * ADVANCE * sizes.name
    part = Part(t.id, "tensor", row, 0, 0)
    part.ports |= {"grad_fn": sizes.head / 2 - 4, "grad": sizes.head / 2 + 5}
    y = sizes.head
    if sizes.detail == "brief":
        part.rows.append(("grad", y, sizes.row))
        part.ports["grad"] = y + sizes.row / 2
        y += sizes.row
        text = max(text, (len("grad = ") + grad_columns(t.value.shape)) * ADVANCE * ROW_SIZE + 8)
    part.h = y + sizes.foot
    part.w = 20 * math.ceil((text + 18) / 20)
    return part


def op_part(op: Op, node: Node | None, row: int, is_beside: bool, sizes: Sizes) -> Part:
    """A rounded box: 200 wide with the save row. It is 80 wide in a side chain, or if nothing is recorded. It is wider for many
    inputs or outputs.
    """
    plain, inputs = node is None, tensor_inputs(op)
    if sizes.detail != "full":
        wide = max(title_width(op_title(op)) + 24, entry_step(op, sizes) * len(inputs) + 20, 40 * len(op.outputs) + 20)
        return Part(op.id, "op", row, 20 * math.ceil(wide / 20), sizes.plain)
    width = max(
        PLAIN_WIDTH if node is None or (is_beside and not saved_tensors(node)) else OP_WIDTH,
        entry_step(op, sizes) * len(inputs) + (20 if plain else 0) if len(inputs) > 1 else 0,
        40 * len(op.outputs) + 20,
        20 * math.ceil((title_width(op_title(op)) + 16) / 20),
    )
    part = Part(op.id, "op", row, width, sizes.plain)
    if op.members:
        part.w = max(OP_WIDTH, part.w)
        part.rows.append(("members", sizes.head, sizes.row))
    if node is not None and saved_tensors(node):
        part.rows.append(("save", sizes.head, sizes.row))
        part.ports["save"] = sizes.head + sizes.row / 2
    part.h = sizes.op if part.rows else sizes.plain
    return part


def node_part(node: Node, row: int, labels: float, sizes: Sizes, next_name: str) -> Part:
    """Rows for title, saved tensors, next_functions. `next_name` is the longest name in these."""
    part = Part(node.id, "node", row, 0, 0, left=10, right=30 + labels + PITCH * len(node.next_functions))
    y = sizes.head
    if sizes.detail != "full":
        return _brief_node(part, node, sizes)
    edges = len(node.next_functions)
    width = 20 * math.ceil(max(NODE_WIDTH, 40 * node.outputs + 20, title_width(node.name) + 24) / 20)
    if node.members:  # a group: how many have been called, and an arrow for each edge out of it
        part.rows.append(("called", y, sizes.row))
        first = y + sizes.row + 15
        part.ports |= {f"next{i}": first + 15 * i for i in range(edges)} | {"grad_fn": 10.0}
        part.h, part.w = 10 * math.ceil((first + 5 + 15 * max(0, edges - 1)) / 10), width
        return part
    if lines := shown_saved(node):
        tall = sizes.row if lines == 1 else 14 * lines + 4
        if sizes.closes:  # on Waite's grid
            tall = 30 if lines <= 2 else 10 * math.ceil(tall / 10)
        part.rows.append(("saved", y, tall))
        part.ports["saved"] = y + 10
        y += tall + sizes.between
    tall = 40 + 15 * max(1, edges) if sizes.closes else sizes.line * (1 + edges) + 4
    part.rows.append(("next_functions", y, tall))
    part.ports |= {f"next{i}": y + sizes.first - 5 + sizes.line * (i + 1) for i in range(edges)}
    part.h = 10 * math.ceil((y + tall + sizes.foot) / 10)
    part.ports["grad_fn"] = 10 * round(part.h * 0.075)
    values = [(s.name, s.value.text) for s in node.saved if s.value is not None and s.value.summary is None]
    longest = [columns(f"{name} = tensor({text})") for name, text in values]
    longest.append(min(columns(next_name), MOST_NAME) + len("  (, 0))") + (edges == 1))
    wide = WIDE_NODE if any(f.count > 1 for f in node.next_functions) else 0
    part.w = max(width, wide, row_width(max(longest), sizes))
    return part


def _brief_node(part: Part, node: Node, sizes: Sizes) -> Part:
    """A title, and what it has saved, two in a line. Its arrows leave from the right edge."""
    y, edges, longest = sizes.head + 2, len(node.next_functions), 0
    if node.members:
        part.rows.append(("called", y, sizes.row))
        y += sizes.row
        longest = CALLED_COLUMNS + 2 * len(f"{node.members:,}")
    elif sizes.detail == "brief" and (lines := math.ceil(shown_saved(node) / 2)):
        part.rows.append(("saved", y, 14 * lines + 3))
        y += 14 * lines + 3
        saved = _brief_saved(node)
        longest = max(a + (b and b + 2) for a, b in zip_longest(saved[::2], saved[1::2], fillvalue=0))
    part.h = 10 * math.ceil(max(y, LABEL_HEIGHT * edges + 4) / 10)
    part.ports |= {f"next{i}": part.h / 2 + LABEL_HEIGHT * (i - (edges - 1) / 2) for i in range(edges)} | {"grad_fn": 10.0}
    part.w = 20 * math.ceil(max(40 * node.outputs + 20, title_width(node.name) + 20, longest * ADVANCE * ROW_SIZE + 28) / 20)
    return part


def title_width(title: str) -> float:
    """Width in px of the shown part of a box's title."""
    return min(text_width(title, OP_SIZE), 2 * NODE_WIDTH - 24)


def accumulate_part(node: Node, row: int, variable: Tensor | None, sizes: Sizes) -> Part:
    """180 wide, with one row: variable. In brief only the title."""
    if sizes.detail != "full":
        title = accumulate_title(node, variable, sizes)
        return Part(node.id, "accumulate", row, 20 * math.ceil((columns(title) * ADVANCE * sizes.title + 32) / 20), sizes.plain)
    return Part(node.id, "accumulate", row, NODE_WIDTH, sizes.op, rows=[("variable", sizes.head, sizes.row)])


def gradient_shapes(document: Document) -> dict[tuple[str, int], tuple[int, ...]]:
    """The shape of the gradient that arrives at output i of a node: that of the output's tensor."""
    shapes = {(t.grad_fn, t.output_nr): t.value.shape for t in document.tensors if t.grad_fn is not None}
    by_id: dict[str, Value] = {t.id: t.value for t in document.tensors}
    return shapes | {(n.id, 0): by_id[n.variable].shape for n in document.nodes if n.variable is not None}
