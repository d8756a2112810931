"""A reader's own engine beside ours: the same program, both figures, and the first number that differs.

The reader's values need `data`, `grad` and `parents`, as in notebook 17.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import words
from ..errors import NotDrawableError
from ..graph.groups import WHOLE
from ..graph.model import Document, Value
from ..graph.text import value_text
from ..graph.trace import State, Step
from ..pictures.files.cell import pictures_bundle
from ..pictures.layout import DETAILS, layout
from ..pictures.render import theme_named
from ..pictures.render.drawing import drawing_of
from ..pictures.render.svg import render_svg, stacked
from ..sources.anything import is_drawable
from ..sources.shared.names import callers_names
from ..sources.shared.values import value_of
from .dry_run import DryRun, dry_run_of, maker_of, tensor_of, written


class Beside:
    """Two engines on one program. A notebook cell that ends in it shows both figures, side by side where they fit.

    Attributes:
        first: the id of the first tensor that differs, or None.
        sentence: what differs first, or that all is the same.
    """

    def __init__(self, dry_run: DryRun, theirs: dict[str, Any], missing: tuple[str, str] | None, gradients: bool) -> None:
        self._run, self._theirs, self._gradients = dry_run, theirs, gradients
        self.first, self.sentence = missing or self._difference()
        self._is_paired = missing is None

    @property
    def right(self) -> bool:
        """Are all numbers the same?"""
        return self.first is None

    @property
    def svg(self) -> str:
        """Our figure, and the reader's under it."""
        return stacked(self._sides, theme_named("light"))

    def _difference(self) -> tuple[str | None, str]:
        """The first value in forward order, then the first gradient in the order of the pass."""
        document, run = self._run.document, self._run
        for t in document.tensors:
            if t.id in self._theirs and not _same(self._theirs[t.id].data, t.value):
                given = self._theirs[t.id].data
                return t.id, words.ENGINE_DATA.format(name=name_of(document, t.id), theirs=given, ours=value_text(t.value))
        ours = gradients_of(run) if self._gradients else {}
        for id, value in ours.items():
            if id in self._theirs and not _same(given := _grad(self._theirs[id]), value):
                parts = [value_text(v) for _, v in run.arrivals(id)]
                said = words.ENGINE_GRAD.format(name=name_of(document, id), theirs=given, ours=value_text(value))
                several = words.ENGINE_ARRIVALS.format(count=len(parts), parts=" + ".join(parts)) if len(parts) > 1 else ""
                return id, said + several + self._passes(id, given, ours)
        return None, words.ENGINE_SAME.format(values=len(self._theirs), gradients=len(ours))

    def _passes(self, id: str, given: Any, ours: dict[str, Value]) -> str:
        """The end has a gradient of 2: so it is after two passes. What they have made of the leaves; else ""."""
        count = float(_array(given)) if id in self._run.document.roots and _array(given).ndim == 0 else 0.0
        if not (1 < count < 100 and count.is_integer() and ours[id].numbers == (1.0,)):
            return ""
        said = words.ENGINE_PASSES.format(count=int(count))
        leaf = next((t for t in self._run.document.tensors if t.is_leaf and t.id in ours and t.id in self._theirs), None)
        if leaf is None or not leaf.name:
            return said
        grad = words.ENGINE_GRAD.format(name=leaf.name, theirs=_grad(self._theirs[leaf.id]), ours=value_text(ours[leaf.id]))
        return said + words.BETWEEN + grad

    @cached_property
    def _sides(self) -> list[tuple[str, str]]:
        """The title and figure of each: every value by its name or code, and its gradient. What differs first is lit on both. A
        graph that cannot be paired with ours is not drawn.
        """
        whole = self._run.document
        ours = replace(whole, tensors=tuple([replace(t, name=name_of(whole, t.id)) for t in whole.tensors]))
        known = gradients_of(self._run) if self._gradients else {}
        sides = [(words.ENGINE_OURS, self._drawn(ours, known))]
        if self._is_paired:
            read = [(t, self._theirs[t.id]) for t in ours.tensors if t.id in self._theirs]
            theirs = replace(ours, tensors=tuple([replace(t, value=value_of(_array(v.data))) for t, v in read]))
            given = {id: value_of(_array(_grad(v))) for id, v in self._theirs.items() if id in known}
            sides.append((words.ENGINE_YOURS, self._drawn(theirs, given)))
        return sides

    def _drawn(self, document: Document, grads: dict[str, Value]) -> str:
        """The forward part of a figure in brief: the reader's engine has no nodes."""
        state = State({f"{id}.grad": v for id, v in grads.items()}, Step(self.first, "") if self.first else None)
        if len(document.ops) > WHOLE:
            return drawing_of(document, detail="brief").without_code.svg(state, theme_named("light"))
        ops = tuple([replace(o, node=None) for o in document.ops])
        tensors = tuple([replace(t, grad_fn=None) for t in document.tensors])
        bare = replace(document, nodes=(), statements=(), ops=ops, tensors=tensors)
        return render_svg(document, layout(bare, (), DETAILS["brief"]), state, theme_named("light"))

    def __repr__(self) -> str:
        return self.sentence

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return pictures_bundle(self._sides, self.svg, self.sentence)


def beside(theirs: Any, ours: Any) -> Beside:
    """Compare the last value of a reader's engine with our tensor of the same program. Errors are those of ``av.step(ours)``.

    Args:
        theirs: the end of the reader's graph. Each value has `data` (a number), `grad` and `parents` (the values that it was
            made from, in order; numbers may be left out). With a method `backward`, the gradients are compared, too.
        ours: the end of the same program on tensors. Its backward pass runs now and is undone.
    """
    if not is_drawable(ours):
        swapped = "; swap them: yours comes first" if is_drawable(theirs) else ""
        raise NotDrawableError(
            f"beside(yours, ours) takes our tensor second, got {type(ours).__name__} ({ours!r:.60}){swapped}"
        )
    dry_run = dry_run_of(ours, None, (), callers_names())
    pairs, missing = _pairs(theirs, dry_run.document)
    return Beside(dry_run, pairs, missing, hasattr(theirs, "backward"))


def gradients_of(run: DryRun) -> dict[str, Value]:
    """The gradient that arrived at each tensor, by its id, in the order of the pass."""
    leaves = {n.id: n.variable for n in run.document.nodes}
    results = {(t.grad_fn, t.output_nr): t.id for t in run.document.tensors if t.grad_fn}
    arrived = ((s.node, k, value) for s in run.trace.steps for k, value in enumerate(s.grad_outputs) if value is not None)
    return {id: value for node, k, value in arrived if (id := leaves[node] or results.get((node, k))) is not None}


def _pairs(theirs: Any, document: Document) -> tuple[dict[str, Any], tuple[str, str] | None]:
    """The reader's values by the id of our tensor, and where the two graphs differ: the id, and a sentence."""
    found: dict[str, Any] = {}
    todo = [(theirs, document.roots[0], document.roots[0])]
    while todo:
        value, id, result = todo.pop()
        if id in found:
            continue
        if lacks := [name for name in ("data", "parents") if not hasattr(value, name)]:
            among = None if id == result else name_of(document, result)
            return found, (id, _no_value(value, lacks, name_of(document, id), among))
        maker = maker_of(document, id)
        inputs = [o.tensor for o in maker.inputs if o.tensor is not None] if maker else []
        found[id], parents = value, list(value.parents)
        if len(parents) != len(inputs):
            said = words.ENGINE_PARENTS.format(name=name_of(document, id), theirs=len(parents), ours=len(inputs))
            return found, (id, said)
        todo += [(parent, input, id) for parent, input in zip(parents, inputs, strict=True)]
    return found, None


def _no_value(given: Any, lacks: list[str], name: str, result: str | None) -> str:
    """What stands where a value of the reader's should be: at the end, or among the parents of a `result`."""
    if len(lacks) == 1 and given is not None:
        return words.ENGINE_LACKS.format(name=name, attribute=lacks[0])
    text = "None" if given is None else f"{given!r:.20} ({type(given).__name__})"
    return words.ENGINE_NO_VALUE.format(name=name, given=text) + (words.ENGINE_AMONG.format(result=result) if result else "")


def name_of(document: Document, id: str) -> str:
    """The name of a tensor, else the code that made it."""
    return tensor_of(document, id).name or written(maker_of(document, id)) or words.A_LEAF


def _grad(value: Any) -> Any:
    """Its gradient; None before a pass has set one."""
    return getattr(value, "grad", None)


def _same(given: Any, value: Value) -> bool:
    mine, ours = _array(given).reshape(-1), np.asarray(value.numbers, float)
    return mine.shape == ours.shape and bool(np.allclose(mine, ours, rtol=1e-5, atol=1e-7, equal_nan=True))


def _array(given: Any) -> Any:
    """A number, or nested numbers, of any library; nan if it is neither."""
    try:
        return np.asarray(getattr(given, "tolist", lambda: given)(), np.float32)
    except (TypeError, ValueError):
        return np.float32(math.nan).reshape(())
