"""The verb map: a model at a glance."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..errors import NotDrawableError
from ..graph import Document, State, Trace
from ..pictures.maps.drawing import MapDrawing
from ..pictures.maps.numbers import Place, of_trace
from ..pictures.maps.plan import Plan
from ..runtime.collector import collector_waits
from ..sources import anything
from ..sources.anything import NamesLater
from ..sources.asking import last_pass
from ..sources.shared.names import Names, callers_names
from ..sources.shared.run.results import run_of
from ..stepper.recorded import Recording
from ..stepper.sentences import with_advice
from ..stepper.stepper import Stepper
from .formats import FINAL, Subject, at_step
from .options import check_gradient, check_options
from .picture import Map
from .save import subject_of


def map(
    tensor: Any,
    *,
    depth: int | None = None,
    open: str | Collection[str] = (),
    params: Any = None,
    theme: str = "auto",
    gradient: Any = None,
) -> Map:
    """Draw a map of the model: one card for each module call, with parameters, shapes and gradients.

    The gradients are those of ``tensor.backward()``. The pass runs, with hooks, and is undone. If a pass has freed the graph,
    the map shows only the `grad` of parameters.

    Args:
        tensor: the result of a forward pass, of autograd_viz or of PyTorch; a PyTorch module, for its last pass
            under ``watch(model)``, which runs again on copies and is recorded, or for the last backward pass that ``watch()``
            has kept; a stepper, for the gradients so far; what `load` gave; or an exported program (`torch.export`), for its
            forward pass. With `record` a PyTorch pass has known modules.
        depth: how many levels of modules are open; None: as many as fit on a page.
        open: modules and functions to open besides, by path, class or name: ``"layers.3"``, ``"*.attn"``, ``"DecoderLayer"``,
            ``"encode()"``.
        params: names for parameters, and classes for modules: a module, or a dictionary of names and tensors.
        theme: "light", "dark", "waite", or "auto": the picture is light, and in a notebook it follows the notebook.
        gradient: the first gradient, if the tensor has several elements or is complex.

    Raises:
        NotDrawableError: there is no graph.
        ValueError: `open` matches no module and no function, or `depth` is negative.
        TypeError: an option has a wrong type.
        RuntimeError: ``tensor.backward(gradient)`` would fail; the message is PyTorch's.
        UnknownChoiceError: no such theme.

    Example:
        >>> model = av.nn.Sequential(av.nn.Linear(4, 4), av.nn.ReLU())
        >>> loss = model(av.ones(1, 4)).sum()
        >>> av.map(loss)
        <Map: loss = ..., 20 parameters · 6 backward nodes · depth 1 of 1>
    """
    check_options(theme=theme, depth=depth, open=open)
    check_gradient(gradient)
    names = callers_names()
    if (run := run_of(tensor)) is not None and any(anything.is_torch(p) for p in tensor.parameters()):
        with run.opened(run.moment()) as again:
            return map(again.root, depth=depth, open=open, params=again.leaves, theme=theme, gradient=again.gradient)
    with collector_waits():
        if callable(getattr(type(tensor), "named_modules", None)):
            subject, params = _last(tensor, names), tensor
        else:
            subject = subject_of(tensor, names, params, is_outline=True, gradient=gradient)
        plan = Plan(subject.document, own={name for name in anything.named(params) if "." not in name})
        opened = plan.opened(depth, (open,) if isinstance(open, str) else tuple(open))
        is_root = anything.is_drawable(tensor)
        whole = _whole(tensor, Names(names, anything.named(params)), subject.document) if is_root else None
        drawing = MapDrawing(plan, opened, _passed(tensor, subject, plan), whole)
        return Map(drawing, State(), theme, tensor if is_root else None)


def _whole(tensor: Any, names: Names, outline: Document) -> Callable[[], Document]:
    """Gives the document with all elements, as long as the tensor is alive: ipywidgets holds the maps that cells have shown."""
    later, alive = NamesLater(names, anything.is_drawable), weakref.ref(tensor)

    def whole() -> Document:
        root = alive()
        return outline if root is None else anything.graph_of(root, later()).document

    return whole


def _last(model: Any, names: Mapping[str, Any]) -> Subject:
    """The last pass that `watch` has kept. NotDrawableError: there is none of this model."""
    if not any(anything.is_torch(p) for p in model.parameters()):
        raise NotDrawableError(
            "map(model) takes a PyTorch model that av.watch() has seen. A model of autograd_viz keeps no pass; its graph is "
            "that of its result. Compute y = model(x) and a loss of y, and call av.map(loss)."
        )
    _, graph, fresh, _ = last_pass(Names(names, anything.named(model)), "map(model)")
    own = list(model.parameters())
    if not any(t is p for t in graph.tensors.values() if t.is_leaf for p in own):
        raise NotDrawableError(
            "map(model) takes the last backward pass that was kept, and that is another model's; pass the loss"
        )

    def norms(places: Collection[Place]) -> Mapping[Place, float]:
        stepper = Stepper(graph.document, fresh())
        with at_step(stepper, FINAL):  # the pass has run: leaves have their grad
            return {place: norm for place, norm in of_trace(stepper.trace).items() if place[1] != "grad"}

    return Subject(graph.document, State(), lambda: Stepper(graph.document, fresh()), norms=norms)


def _passed(tensor: Any, subject: Subject, plan: Plan) -> Mapping[Place, float]:
    """The norms of a whole pass; for a stepper those so far; none if no pass can run."""
    if isinstance(tensor, Recording):
        return of_trace(tensor.trace)
    stepper = getattr(tensor, "stepper", tensor)
    if isinstance(stepper, Stepper):
        return of_trace(Trace(stepper.trace.steps[: max(0, stepper.step)]))
    with with_advice(tensor, call="av.map(tensor, gradient=...)"):
        return subject.norms(plan.asked)
