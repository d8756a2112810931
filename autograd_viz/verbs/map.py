"""The verb map: a model at a glance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..export.cell import cell_bundle
from ..graph.model import Document
from ..graph.trace import Trace
from ..maps.paint import painted
from ..maps.plan import Plan
from ..render import theme_named
from ..render.escape import printable
from ..runtime.collector import collector_waits
from ..sources.names import callers_names
from ..stepper.recorded import Recording
from ..stepper.stepper import Stepper
from .formats import FINAL, Subject, stepped
from .save import subject_of


class Map:
    """A map of a model; a notebook cell that ends in one shows it.

    Attributes:
        document: what is drawn.
        svg: the picture.
    """

    def __init__(self, plan: Plan, theme: str) -> None:
        self.document, self._plan = plan.document, plan
        self.svg = painted(plan, theme_named(theme))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))

    def __repr__(self) -> str:
        return printable(f"<Map: {self._plan.title}, {self._plan.summary}>")


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
        trace = _trace(tensor, subject)
        classes = _classes(subject.document, [params, *names.values()])
        patterns = (open,) if isinstance(open, str) else tuple(open)
        return Map(Plan(subject.document, trace, classes, depth, patterns), theme)


def _trace(tensor: Any, subject: Subject) -> Trace:
    """The steps of a whole pass; of a stepper those so far; none if no pass can run."""
    if isinstance(tensor, Recording):
        return tensor.trace
    stepper = getattr(tensor, "stepper", tensor)
    if isinstance(stepper, Stepper):
        return Trace(stepper.trace.steps[: max(0, stepper.step)])
    if not subject.can_step:
        return Trace()
    stepper = subject.stepper()
    with stepped(stepper, FINAL):
        return stepper.trace


def _classes(document: Document, values: Iterable[Any]) -> Mapping[str, str]:
    """The class of each module by its path: of the module, among these values, that knows most of the paths."""
    paths = {op.module for op in document.ops}
    best: dict[str, str] = {}
    for value in values:
        if callable(getattr(type(value), "named_modules", None)):
            found = {path: type(part).__name__ for path, part in value.named_modules()}
            if len(paths & found.keys()) > len(paths & best.keys()):
                best = found
    return best
