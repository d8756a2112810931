"""The verbs that show: show, step, compare, record."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard

from ..errors import MissingLibraryError, NotDrawableError
from ..graph.text import few_names
from ..graph.trace import State
from ..pictures.render.drawing import AUTO, Drawing
from ..runtime.collector import collector_waits
from ..sources import anything
from ..sources.asking import last_pass, place_of_error, ran_before, unseen
from ..sources.shared.names import Names, callers_names, visible_names
from .options import check_gradient, check_options
from .picture import Figure, Map, first_drawing

if TYPE_CHECKING:
    from ..pictures.maps.drawing import MapDrawing
    from ..sources.anything import LiveGraph
    from ..sources.pytorch.recording.record import Recorder
    from ..stepper.recorded import Recording
    from ..stepper.stepper import Stepper
    from ..widget.compare import Compare
    from ..widget.widget import StepperWidget

RECORDED = f"{__package__.rpartition('.')[0]}.stepper.recorded"


def is_recording(value: object) -> TypeGuard[Recording]:
    """Is it what `load` returns? The stepper is loaded by then."""
    recorded = sys.modules.get(RECORDED)
    return recorded is not None and isinstance(value, recorded.Recording)


def graph_of(
    tensor: Any, variables: Mapping[str, Any], params: Any = None, is_outline: bool = False, opens: bool = True
) -> LiveGraph:
    """The graph of a tensor; NotDrawableError if it is none, TypeError if `params` is neither a module nor a dictionary."""
    if not anything.is_drawable(tensor):
        raise NotDrawableError.instead_of("expected a tensor of autograd_viz or of PyTorch", tensor)
    graph = anything.graph_of(tensor, Names(variables, anything.named(params)), is_outline, opens)
    if anything.is_batched(tensor) and not graph.document.nodes:
        warnings.warn("the tensor is inside torch.func.vmap, where it has no grad_fn; pass what vmap returns", stacklevel=3)
    return graph


def record(what: Any = None) -> Recorder:
    """Record a PyTorch forward pass. Its picture then has every value, line of code and module.

    Use ``with av.record(model): loss = ...``, ``av.record(model)(x)`` or ``av.record(function)(*args)``. Recording does not
    change results, gradients, random numbers or hooks. autograd_viz programs need no recording.

    Args:
        what: a module (its submodules are shown by their paths), a function, or None.

    Raises:
        MissingLibraryError: PyTorch is not installed.
        NotDrawableError: `what` cannot be called.

    Example:
        >>> import torch
        >>> model = torch.nn.Linear(2, 1)
        >>> with av.record(model):
        ...     loss = model(torch.ones(1, 2)).sum()
        >>> av.map(loss)
        <Map: loss = ..., 3 parameters · 5 backward nodes · depth 1 of 1>
    """
    if what is not None and not callable(what):
        several = '; for several modules use torch.nn.ModuleDict({"a": a, "b": b})' if isinstance(what, Collection) else ""
        got = f"{type(what).__name__} ({what!r:.60})"
        raise NotDrawableError(f"record(what) takes a module, a function or nothing; got {got}{several}")
    with needing("record() needs PyTorch", "torch"):
        from ..sources.pytorch.recording.record import Recorder
    return Recorder(what)


@contextmanager
def needing(what: str, *libraries: str, in_page: str = "") -> Iterator[None]:
    """Inside, something is imported that needs a library. MissingLibraryError: it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in libraries:
            raise
        raise MissingLibraryError(what, libraries[0], in_page) from None


def show(
    tensor: Any, *, params: Any = None, theme: str = "auto", collapse: bool | None = None, detail: str = AUTO
) -> Figure | Map:  # fmt: skip
    """Draw the graph of `tensor` as it is now.

    A figure that is read at once is drawn: in brief it fits 1,200 × 900 px. Else a program with modules, scopes or functions
    is drawn as a map. Any other large graph is drawn in groups: a repeated part (× 12), or a run of ops, is one box.

    Args:
        tensor: the result of a forward pass, of autograd_viz or of PyTorch; a leaf is one box. Or a `Recording` from `load`, an
            exported program, or an error of a forward pass: what had run is drawn.
        params: names for parameters: a module, or a dictionary of names and tensors.
        theme: "light", "dark", "waite", or "auto": the picture is light, and in a notebook it follows the notebook.
        collapse: True draws every group as one box, False draws every op. None draws what can be read: the figure, a map, or
            groups beyond 60 ops or 100 backward nodes.
        detail: "full", "brief" (a value and a grad in each box) or "names". With "auto" a notebook shows the most that is whole
            in the room that it has, key d shows the others, and a still is full. Another detail than "auto" draws a figure.

    Raises:
        NotDrawableError: `tensor` is not a tensor.
        UnknownChoiceError: the theme or detail does not exist.
        TypeError: `params` is neither a module nor a dictionary, or `collapse` is not True, False or None.

    Example:
        >>> a = av.tensor(2.0, requires_grad=True)
        >>> b = av.tensor(3.0, requires_grad=True)
        >>> c = a * b
        >>> av.show(c)
        <Figure of a, b, c: 3 backward nodes>
    """
    check_options(theme=theme, collapse=collapse, detail=detail)
    variables = callers_names()
    if isinstance(tensor, BaseException) and (ran := ran_before(tensor.__traceback__)) is not None:
        variables = visible_names(place_of_error(tensor.__traceback__, sys._getframe(1)).frame)  # where it is named
        tensor = ran
    known = tensor.document if is_recording(tensor) else anything.exported_document(tensor, is_outline=False)
    if known is not None:
        return _pictured(first_drawing(known, collapse, detail, False), State(), theme)
    with collector_waits():
        graph = graph_of(tensor, variables, params)
        return _pictured(first_drawing(graph.document, collapse, detail, False), graph.past(), theme)


def _pictured(drawing: Drawing | MapDrawing, state: State, theme: str) -> Figure | Map:
    return Figure(drawing, state, theme) if isinstance(drawing, Drawing) else Map(drawing, state, theme)


def step(
    tensor: Any = ...,
    gradient: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    params: Any = None,
    theme: str = "auto",
    collapse: bool | None = None,
    detail: str = AUTO,
) -> StepperWidget:
    """Step the backward pass of `tensor` in a widget, one grad_fn call at a time. Code can step it too.

    Args:
        tensor: the root, as in ``tensor.backward()``; if it does not require grad, its forward pass is stepped. Or a
            `Recording` from `load`, which computes nothing. Default: the root of the last pass that `watch` has kept.
        gradient: the first gradient, if the tensor has several elements.
        retain_graph: keep the saved tensors.
        create_graph: record the backward pass itself.
        params: as for `show`.
        theme: "light", "dark", "waite", or "auto" to follow the notebook.
        collapse: as for `show`. Double-click a group to open it, or call `expand` and `collapse`.
        detail: as for `show`.

    Raises:
        NotDrawableError: `tensor` is not a tensor.
        RuntimeError: ``tensor.backward()`` would fail; the message is PyTorch's.

    Example:
        >>> a = av.tensor(2.0, requires_grad=True)
        >>> b = av.tensor(3.0, requires_grad=True)
        >>> s = av.step(a * b)
        >>> print(s.next().sentence)
        MulBackward0 receives 1.0. It sends 3.0 to AccumulateGrad (a) and 2.0 to AccumulateGrad (b). Freed: other, self.
        >>> s.finish()
        >>> a.grad
        tensor(3.)
    """
    from ..stepper.sentences import with_advice
    from ..stepper.stepper import Stepper

    page = "save(x, 'x.html') writes a page that steps"  # where there is no widget, as in a browser's Python
    with needing("step() shows a widget, which needs anywidget", "anywidget", "ipywidgets", "traitlets", in_page=page):
        from ..widget.widget import StepperWidget
    drawn = partial(first_drawing, collapse=collapse, detail=detail)
    check_options(theme=theme, collapse=collapse, detail=detail, retain_graph=retain_graph, create_graph=create_graph)
    check_gradient(gradient)
    if is_recording(tensor):
        return StepperWidget(tensor.stepper(), len(tensor.trace.steps), drawn(tensor.document), theme, tensor.stepper)
    names = callers_names()
    if tensor is ...:  # not given; None is an error
        return _step_last(Names(names, anything.named(params)), theme, collapse, detail)
    with collector_waits():
        graph = graph_of(tensor, names, params)
        if replayed := forward_alone(graph, tensor, gradient):
            return StepperWidget(replayed(), 0, drawn(graph.document), theme, replayed)
        fresh = partial(anything.pass_of, graph, tensor, gradient, retain_graph, create_graph)

        def dry_run() -> Stepper | None:
            return Stepper(graph.document, live) if (live := fresh()).leaves_no_trace else None

        with with_advice(tensor):
            live = fresh()
        return StepperWidget(Stepper(graph.document, live), live.total, drawn(graph.document), theme, dry_run)


def stepper_of(tensor: Any, gradient: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False,
               params: Any = None, **look: Any) -> Stepper:  # fmt: skip
    """What `step` steps, without a widget; how it would `look` is unused."""
    from ..stepper.sentences import with_advice
    from ..stepper.stepper import Stepper

    check_options(**look, retain_graph=retain_graph, create_graph=create_graph)
    check_gradient(gradient)
    if is_recording(tensor):
        return tensor.stepper()
    graph = graph_of(tensor, callers_names(), params)
    if replayed := forward_alone(graph, tensor, gradient):
        return replayed()
    with with_advice(tensor):
        return Stepper(graph.document, anything.pass_of(graph, tensor, gradient, retain_graph, create_graph))


def forward_alone(graph: LiveGraph, tensor: Any, gradient: Any) -> Callable[[], Stepper] | None:
    """A stepper of the ops that made a tensor without grad; None if a backward pass follows them, or there are none."""
    from ..stepper.recorded import forward_stepper

    with unseen(tensor):
        is_alone = gradient is None and not tensor.requires_grad and graph.document.ops
    return partial(forward_stepper, graph.document) if is_alone else None


def _step_last(names: Mapping[str, Any], theme: str, collapse: bool | None, detail: str) -> StepperWidget:
    """The widget that steps the last pass again, which `watch` has kept."""
    from ..stepper.stepper import Stepper
    from ..widget.widget import StepperWidget

    with collector_waits():
        _, graph, fresh, changed = last_pass(names)
        if changed:
            several = few_names([n for n in changed if n]) or f"{len(changed)} leaves"
            warnings.warn(f"changed after the pass: {several}. The stepper uses their current values.", stacklevel=3)
        live = fresh()
        drawing = first_drawing(graph.document, collapse, detail)
        return StepperWidget(Stepper(graph.document, live), live.total, drawing, theme, lambda: None)


def compare(*steppers: Any, titles: tuple[str, ...] | list[str] = (), detail: str | None = None) -> Compare:
    """Show steppers side by side, moved together: with and without `retain_grad`, before and after `detach`.

    Args:
        steppers: widgets from `step`; each stops at its own end.
        titles: one title for each.
        detail: as for `show`, for all of them; None leaves each as it is.

    Raises:
        NotDrawableError: an argument is not such a widget.

    Example:
        >>> a = av.tensor(2.0, requires_grad=True)
        >>> b = av.tensor(3.0, requires_grad=True)
        >>> both = av.compare(av.step(a * b), av.step(a + b), titles=("product", "sum"))  # a cell that ends in it shows it
    """
    from ..widget.compare import Compare
    from ..widget.widget import StepperWidget

    for s in steppers:
        if not isinstance(s, StepperWidget):
            raise NotDrawableError(f"compare(a, b) takes steppers from av.step(), got {type(s).__name__} ({s!r:.60})")
    check_options(titles=titles, detail=AUTO if detail is None else detail)
    for s in steppers if detail is not None else ():
        s.look_at(detail)
    return Compare(*steppers, titles=tuple(titles))
