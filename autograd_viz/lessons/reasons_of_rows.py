"""Questions about a box and about saved tensors. The document has the answers."""

from __future__ import annotations

from .. import words
from ..errors import UnknownChoiceError
from ..graph.model import Document, Tensor
from .dry_run import colour_of, maker_of, node_named, tensor_of
from .hints import hint_look, hint_saves
from .question import Option, Question

COLOURS = ("green", "yellow", "brown", "blue")
ROWS = ("is_leaf", "requires_grad", "grad_fn")


def color_question(document: Document, name: str) -> Question:
    """The colour of the root's box."""
    t = tensor_of(document, document.roots[0])
    colour = colour_of(t)
    texts = {
        "green": words.COLOUR_GREEN,
        "yellow": words.COLOUR_YELLOW,
        "brown": words.COLOUR_BROWN,
        "blue": words.COLOUR_BLUE,
    }
    return Question(
        "one",
        words.ASK_COLOR.format(tensor=name),
        (COLOURS.index(colour),),
        why_look(document, t, name),
        tuple(Option(texts[c], c) for c in COLOURS),
        hint_look(document, t, name),
        (((COLOURS.index("blue"),), words.SLIP_BLUE.format(tensor=name)),),
    )


def row_question(document: Document, name: str, row: str) -> Question:
    """The content of a row of the root's box. UnknownChoiceError if there is no such row."""
    if row not in ROWS:
        raise UnknownChoiceError("row", row, ROWS)
    t = tensor_of(document, document.roots[0])
    if row == "grad_fn":
        options = list(dict.fromkeys(["None", *(n.name for n in document.nodes)]))
        right = node_named(document, t.grad_fn).name if t.grad_fn else "None"
    else:
        options, right = ["True", "False"], str(getattr(t, row))
    why = why_look(document, t, name)
    text = words.ASK_ROW.format(tensor=name, row=row)
    hint = hint_look(document, t, name)
    return Question("one", text, (options.index(right),), why, tuple(Option(f"`{o}`") for o in options), hint)


def why_look(document: Document, t: Tensor, name: str) -> str:
    """The reason for a box's colour."""
    maker = maker_of(document, t.id)
    op = maker.name if maker else ""
    if t.grad_fn is not None:
        template = words.LOOK_BROWN if maker else words.LOOK_BROWN_GONE
        return template.format(tensor=name, node=node_named(document, t.grad_fn).name, op=op)
    if t.requires_grad:
        return words.LOOK_GREEN.format(tensor=name)
    return (words.LOOK_YELLOW_MADE if maker else words.LOOK_YELLOW).format(tensor=name, op=op)


def saves_question(document: Document) -> Question:
    """Which tensors around the root's op does its node save?"""
    root = tensor_of(document, document.roots[0])
    op, node = maker_of(document, root.id), node_named(document, root.grad_fn or "")
    around = [i.tensor for i in op.inputs if i.tensor] + [o for o in op.outputs if o] if op else [root.id]
    tensors = [tensor_of(document, id) for id in dict.fromkeys(around)]
    kept = {s.tensor for s in node.saved}
    rules = [words.SAVES_RULE.format(input=f.input, rule=f.text) for f in node.formulas]
    why = [*rules, words.SAVES_NAMED] if rules else [words.SAVES_NO_RULE.format(node=node.name)]
    return Question(
        "many",
        words.ASK_SAVES.format(node=node.name),
        tuple(i for i, t in enumerate(tensors) if t.id in kept),
        words.BETWEEN.join(why),
        tuple(Option(f"`{t.name or op_text(document, t)}`") for t in tensors),
        hint_saves(document, node),
    )


def op_text(document: Document, t: Tensor) -> str:
    """A label for a tensor without a name."""
    maker = maker_of(document, t.id)
    return maker.name if maker else t.value.text
