"""The verb map: a model at a glance."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..export.cell import cell_bundle
from ..graph.trace import State, Trace
from ..maps.drawing import MapDrawing
from ..maps.numbers import Place, of_trace
from ..maps.plan import Plan
from ..render import theme_named
from ..render.escape import printable
from ..runtime.collector import collector_waits
from ..sources.names import callers_names
from ..stepper.recorded import Recording
from ..stepper.stepper import Stepper
from .formats import Subject
from .save import subject_of


class Map:
    """A map of a model; a notebook cell that ends in one shows it.

    Attributes:
        document: what is drawn.
        svg: the picture.
    """

    def __init__(self, drawing: MapDrawing, theme: str) -> None:
        self.document, self.drawing = drawing.document, drawing
        self.svg = drawing.svg(State(), theme_named(theme))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))

    def __repr__(self) -> str:
        plan = self.drawing.plan
        return printable(f"<Map: {plan.result}, {plan.summary(self.drawing.opened)}>")


def map(
    tensor: Any,
    *,
    depth: int | None = None,
    open: str | Collection[str] = (),
    params: Any = None,
    theme: str = "light",
) -> Map:
    """Draw a map of the model: one card for each module call, with parameters, shapes and gradients.

    The gradients are those of ``tensor.backward()``. The pass runs, with hooks, and is undone. If a pass has freed the graph,
    the map shows only the `grad` of parameters.

    Args:
        tensor: the end of the forward pass, of autograd_viz or of PyTorch (recorded with `record`, so that its modules are
            known); a stepper, for the gradients so far; or what `load` gave.
        depth: how many levels of modules are open; None: as many as fit into 24 cards.
        open: modules to open besides, by path or class: ``"layers.3"``, ``"*.attn"``, ``"DecoderLayer"``.
        params: names for parameters, and classes for modules: a module, or a dictionary of names and tensors.
        theme: "light", "dark" or "waite".

    Raises:
        NotDrawableError: there is no graph.
        ValueError: `open` matches no module.
        UnknownChoiceError: no such theme.
    """
    theme_named(theme)
    names = callers_names()
    with collector_waits():
        subject = subject_of(tensor, names, params)
        plan = Plan(subject.document)
        opened = plan.opened(depth, (open,) if isinstance(open, str) else tuple(open))
        return Map(MapDrawing(plan, opened, _passed(tensor, subject, plan)), theme)


def _passed(tensor: Any, subject: Subject, plan: Plan) -> Mapping[Place, float]:
    """The norms of a whole pass; of a stepper those so far; none if no pass can run."""
    if isinstance(tensor, Recording):
        return of_trace(tensor.trace)
    stepper = getattr(tensor, "stepper", tensor)
    if isinstance(stepper, Stepper):
        return of_trace(Trace(stepper.trace.steps[: max(0, stepper.step)]))
    return subject.norms(plan.asked)
