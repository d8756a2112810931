"""A reader's own engine beside ours: the same program, both figures, and the first number that differs.

The reader's values need `data`, `grad` and `parents`, as in notebook 17.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .. import words
from ..graph.model import Document, Tensor, Value
from ..graph.text import value_text
from ..graph.trace import State, Step
from ..pictures.files.cell import cell_bundle
from ..pictures.files.image import size_of
from ..pictures.render import theme_named
from ..pictures.render.drawing import drawing_of
from ..pictures.render.svg import whole_picture
from ..sources.shared.names import callers_names
from ..sources.shared.values import value_of
from .dry_run import DryRun, dry_run_of, maker_of, tensor_of, written

GAP = 24  # px


class Beside:
    """Two engines on one program. A notebook cell that ends in it shows both figures.

    Attributes:
        first: the id of the first tensor whose numbers differ, or None.
        sentence: what differs first, or that all is the same.
        svg: ours on the left, the reader's on the right.
    """

    def __init__(self, dry_run: DryRun, theirs: dict[str, Any], missing: str, gradients: bool) -> None:
        self._run, self._theirs, self._gradients = dry_run, theirs, gradients
        self.first, self.sentence = (None, missing) if missing else self._difference()
        self.svg = self._picture()

    @property
    def right(self) -> bool:
        """Are all numbers the same?"""
        return self.first is None and self.sentence.startswith(words.ENGINE_SAME.partition("{")[0])

    def _difference(self) -> tuple[str | None, str]:
        """The first value in forward order, then the first gradient in the order of the pass."""
        document, run = self._run.document, self._run
        for t in document.tensors:
            if t.id in self._theirs and not _same(self._theirs[t.id].data, t.value):
                given = self._theirs[t.id].data
                return t.id, words.ENGINE_DATA.format(name=_name(document, t.id), theirs=given, ours=value_text(t.value))
        ours = gradients_of(run) if self._gradients else {}
        for id, value in ours.items():
            if id in self._theirs and not _same(self._theirs[id].grad, value):
                given, parts = self._theirs[id].grad, [value_text(v) for _, v in run.arrivals(id)]
                said = words.ENGINE_GRAD.format(name=_name(document, id), theirs=given, ours=value_text(value))
                several = words.ENGINE_ARRIVALS.format(count=len(parts), parts=" + ".join(parts)) if len(parts) > 1 else ""
                return id, said + several
        return None, words.ENGINE_SAME.format(values=len(self._theirs), gradients=len(ours))

    def _picture(self) -> str:
        """Both figures in brief, with a gradient for each tensor; what differs first is lit on both."""
        ours, lit = self._run.document, Step(self.first, "") if self.first else None
        known = gradients_of(self._run) if self._gradients else {}
        theirs = replace(ours, tensors=tuple([self._read(t) for t in ours.tensors]))
        given = {id: value_of(_array(v.grad)) for id, v in self._theirs.items() if id in known}
        sides, theme = [], theme_named("light")
        for document, grads, caption in ((ours, known, words.ENGINE_OURS), (theirs, given, words.ENGINE_YOURS)):
            drawing = drawing_of(document, detail="brief").without_code
            state = State({f"{id}.grad": value for id, value in grads.items()}, lit)
            sides.append((drawing.geometry.width, drawing.svg(state, theme, caption)))
        (width, left), (other, right) = sides
        right = right.replace("<svg ", f'<svg x="{width + GAP:g}" ', 1)
        return whole_picture(left + right, width + GAP + other, max(size_of(left)[1], size_of(right)[1]))

    def _read(self, t: Tensor) -> Tensor:
        """Our tensor with the reader's number."""
        value = self._theirs.get(t.id)
        return t if value is None else replace(t, value=value_of(_array(value.data)))

    def __str__(self) -> str:
        return self.sentence

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, self.sentence, said=self.sentence)


def beside(theirs: Any, ours: Any) -> Beside:
    """Compare the last value of a reader's engine with our tensor of the same program.

    Args:
        theirs: the end of the reader's graph. Each value has `data` (a number), `grad` and `parents` (the values that it was
            made from, in order; numbers may be left out). With a method `backward`, the gradients are compared, too.
        ours: the end of the same program on tensors. Its backward pass runs now and is undone.

    Raises:
        NotDrawableError, RuntimeError: as ``av.step(ours)``.
    """
    dry_run = dry_run_of(ours, None, (), callers_names())
    pairs, missing = _pairs(theirs, dry_run.document)
    return Beside(dry_run, pairs, missing, hasattr(theirs, "backward"))


def gradients_of(run: DryRun) -> dict[str, Value]:
    """The gradient that arrived at each tensor, by its id, in the order of the pass."""
    nodes = {n.id: n for n in run.document.nodes}
    results = {(t.grad_fn, t.output_nr): t.id for t in run.document.tensors if t.grad_fn}
    found: dict[str, Value] = {}
    for step in run.trace.steps:
        for index, value in enumerate(step.grad_outputs):
            id = nodes[step.node].variable or results.get((step.node, index))
            if id is not None and value is not None:
                found[id] = value
    return found


def _pairs(theirs: Any, document: Document) -> tuple[dict[str, Any], str]:
    """The reader's values by the id of our tensor, and where the two graphs differ; "" if they do not."""
    found: dict[str, Any] = {}
    todo = [(theirs, document.roots[0])]
    while todo:
        value, id = todo.pop()
        if id in found:
            continue
        found[id] = value
        maker = maker_of(document, id)
        inputs = [o.tensor for o in maker.inputs if o.tensor is not None] if maker else []
        parents = list(getattr(value, "parents", ()))
        if len(parents) != len(inputs):
            said = words.ENGINE_PARENTS.format(name=_name(document, id), theirs=len(parents), ours=len(inputs))
            return found, said
        todo += zip(parents, inputs, strict=True)
    return found, ""


def _name(document: Document, id: str) -> str:
    return tensor_of(document, id).name or written(maker_of(document, id)) or words.A_LEAF


def _same(given: Any, value: Value) -> bool:
    mine, ours = _array(given).reshape(-1), np.asarray(value.numbers, float)
    return mine.shape == ours.shape and bool(np.allclose(mine, ours, rtol=1e-5, atol=1e-7, equal_nan=True))


def _array(given: Any) -> Any:
    """A number, or nested numbers, of any library; nan if it is neither."""
    try:
        return np.asarray(getattr(given, "tolist", lambda: given)(), np.float32)
    except (TypeError, ValueError):
        return np.float32(math.nan).reshape(())
